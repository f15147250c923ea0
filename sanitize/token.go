package sanitize

import (
	"bytes"
	"sync"
)

// shape describes a secret recognised by itself: a fixed prefix and a body of
// at least min and, unless max is 0, at most max bytes of one alphabet. The
// lengths are those the issuers use, rounded down where they have changed.
type shape struct {
	class    string
	prefix   string
	keep     bool // the prefix is not secret (an address) and stays
	lone     bool // what is before it is no base64, in which so short a prefix comes about by chance
	min, max int
	in       func(byte) bool
	ok       func(body []byte) bool // a further condition, or nil
}

// shapes lists the formats. It is constant; longer prefixes that share a
// beginning come first so that they name the class.
var shapes = [...]shape{
	{class: "github", prefix: "ghp_", min: 36, in: isWord},
	{class: "github", prefix: "gho_", min: 36, in: isWord},
	{class: "github", prefix: "ghu_", min: 36, in: isWord},
	{class: "github", prefix: "ghs_", min: 36, in: isDotted},
	{class: "github", prefix: "ghr_", min: 36, in: isWord},
	{class: "github", prefix: "github_pat_", min: 22, in: isWord},
	{class: "gitlab", prefix: "glpat-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "gldt-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glrt-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glptt-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glcbt-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glft-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glimt-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glagent-", min: 20, in: isDotted, ok: hasDigit},
	{class: "gitlab", prefix: "gloas-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glsoat-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "glffct-", min: 20, in: isDotted},
	{class: "gitlab", prefix: "GR1348941", min: 20, in: isURLSafe},
	{class: "aws", prefix: "AKIA", min: 16, max: 16, in: isAlnum, ok: base32Key},
	{class: "aws", prefix: "ASIA", min: 16, max: 16, in: isAlnum, ok: base32Key},
	{class: "google", prefix: "AIza", min: 35, max: 35, in: isURLSafe},
	{class: "google", prefix: "GOCSPX-", min: 20, in: isURLSafe},
	{class: "google", prefix: "ya29.", min: 20, in: isDotted},
	{class: "google", prefix: "1//0", min: 40, in: isURLSafe, ok: hasDigit},
	{class: "stripe", prefix: "sk_live_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "sk_test_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "rk_live_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "rk_test_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "whsec_", min: 24, in: isBase64, ok: hasDigit},
	{class: "slack", prefix: "xoxa-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxb-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxc-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxd-", min: 10, in: isCredential, ok: hasDigit},
	{class: "slack", prefix: "xoxp-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxr-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxs-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxe-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxe.", min: 10, in: isDotted, ok: hasDigit},
	{class: "slack", prefix: "xapp-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "hooks.slack.com/services/", keep: true, min: 20, in: isHookPath},
	{class: "slack", prefix: "hooks.slack.com/workflows/", keep: true, min: 20, in: isHookPath},
	{class: "slack", prefix: "hooks.slack.com/triggers/", keep: true, min: 20, in: isHookPath},
	{class: "discord", prefix: "discord.com/api/webhooks/", keep: true, min: 60, in: isHookPath},
	{class: "discord", prefix: "discordapp.com/api/webhooks/", keep: true, min: 60, in: isHookPath},
	{class: "teams", prefix: "/IncomingWebhook/", keep: true, min: 32, in: isHookPath},
	{class: "npm", prefix: "npm_", min: 36, in: isAlnum},
	{class: "pypi", prefix: "pypi-", min: 50, in: isURLSafe},
	{class: "rubygems", prefix: "rubygems_", min: 48, max: 48, in: isHex},
	{class: "cargo", prefix: "cio", min: 32, max: 32, in: isAlnum, ok: drawn},
	{class: "nuget", prefix: "oy2", min: 43, max: 43, in: isAlnum, ok: drawn},
	{class: "clojars", prefix: "CLOJARS_", min: 60, max: 60, in: isHex},
	{class: "docker", prefix: "dckr_pat_", min: 20, in: isURLSafe},
	{class: "docker", prefix: "dckr_oat_", min: 20, in: isURLSafe},
	{class: "huggingface", prefix: "hf_", min: 30, in: isAlnum},
	{class: "anthropic", prefix: "sk-ant-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-proj-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-svcacct-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-admin-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-or-v1-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-", min: 20, in: isAlnum, ok: hasDigit},
	{class: "groq", prefix: "gsk_", min: 40, in: isAlnum, ok: hasDigit},
	{class: "replicate", prefix: "r8_", min: 36, in: isAlnum, ok: hasDigit},
	{class: "xai", prefix: "xai-", min: 60, in: isAlnum, ok: hasDigit},
	{class: "perplexity", prefix: "pplx-", min: 40, in: isAlnum, ok: hasDigit},
	{class: "nvidia", prefix: "nvapi-", min: 40, in: isURLSafe, ok: hasDigit},
	{class: "langsmith", prefix: "lsv2_pt_", min: 32, in: isWord, ok: hasDigit},
	{class: "langsmith", prefix: "lsv2_sk_", min: 32, in: isWord, ok: hasDigit},
	{class: "tavily", prefix: "tvly-", min: 24, in: isURLSafe, ok: hasDigit},
	{class: "pinecone", prefix: "pcsk_", min: 40, in: isWord, ok: hasDigit},
	{class: "fireworks", prefix: "fw_", min: 20, max: 24, in: isAlnum, ok: drawn},
	{class: "sendgrid", prefix: "SG.", min: 40, in: isDotted, ok: twoParts},
	{class: "mailgun", prefix: "key-", min: 32, max: 32, in: isAlnum, ok: lowerHex},
	{class: "brevo", prefix: "xkeysib-", min: 64, in: isURLSafe, ok: hasDigit},
	{class: "vault", prefix: "hvs.", min: 24, in: isURLSafe, ok: hasDigit},
	{class: "vault", prefix: "hvb.", min: 24, in: isURLSafe, ok: hasDigit},
	{class: "digitalocean", prefix: "dop_v1_", min: 40, in: isHex},
	{class: "digitalocean", prefix: "doo_v1_", min: 40, in: isHex},
	{class: "digitalocean", prefix: "dor_v1_", min: 40, in: isHex},
	{class: "heroku", prefix: "HRKU-", min: 30, in: isURLSafe, ok: hasDigit},
	{class: "supabase", prefix: "sbp_", min: 40, in: isHex},
	{class: "planetscale", prefix: "pscale_tkn_", min: 30, in: isDotted, ok: hasDigit},
	{class: "planetscale", prefix: "pscale_pw_", min: 30, in: isDotted, ok: hasDigit},
	{class: "netlify", prefix: "nfp_", min: 36, in: isAlnum, ok: hasDigit},
	{class: "tailscale", prefix: "tskey-", min: 24, in: isURLSafe, ok: hasDigit},
	{class: "fly", prefix: "fm1_", min: 60, in: isBase64, ok: hasDigit},
	{class: "fly", prefix: "fm2_", min: 60, in: isBase64, ok: hasDigit},
	{class: "doppler", prefix: "dp.pt.", min: 40, in: isAlnum, ok: hasDigit},
	{class: "pulumi", prefix: "pul-", min: 40, max: 40, in: isHex},
	{class: "databricks", prefix: "dapi", min: 32, in: isHex},
	{class: "atlassian", prefix: "ATATT3xFfGF0", min: 40, in: isCredential},
	{class: "linear", prefix: "lin_api_", min: 32, in: isAlnum, ok: hasDigit},
	{class: "notion", prefix: "ntn_", min: 40, in: isAlnum, ok: hasDigit},
	{class: "notion", prefix: "secret_", min: 43, max: 43, in: isAlnum, ok: drawn},
	{class: "airtable", prefix: "pat", min: 79, max: 79, in: isDotted, ok: airtableKey},
	{class: "figma", prefix: "figd_", min: 32, in: isURLSafe, ok: hasDigit},
	{class: "grafana", prefix: "glsa_", min: 32, in: isWord, ok: hasDigit},
	{class: "grafana", prefix: "glc_", min: 60, in: isBase64, ok: hasDigit},
	{class: "sentry", prefix: "sntryu_", min: 64, in: isHex},
	{class: "sentry", prefix: "sntrys_", min: 60, in: isCredential, ok: hasDigit},
	{class: "newrelic", prefix: "NRAK-", min: 27, max: 27, in: isAlnum, ok: hasDigit},
	{class: "postman", prefix: "PMAK-", min: 50, in: isURLSafe, ok: hasDigit},
	{class: "sonarqube", prefix: "sqp_", min: 40, max: 40, in: isHex},
	{class: "sonarqube", prefix: "squ_", min: 40, max: 40, in: isHex},
	{class: "sonarqube", prefix: "sqa_", min: 40, max: 40, in: isHex},
	{class: "jfrog", prefix: "AKCp", min: 60, in: isAlnum, ok: hasDigit},
	{class: "shopify", prefix: "shpat_", min: 32, in: isHex},
	{class: "shopify", prefix: "shpss_", min: 32, in: isHex},
	{class: "shopify", prefix: "shpca_", min: 32, in: isHex},
	{class: "shopify", prefix: "shppa_", min: 32, in: isHex},
	{class: "square", prefix: "sq0atp-", min: 22, in: isURLSafe},
	{class: "square", prefix: "sq0csp-", min: 40, in: isURLSafe},
	{class: "square", prefix: "EAAA", lone: true, min: 56, max: 64, in: isAnyBase64, ok: drawn},
	{class: "braintree", prefix: "access_token$", min: 40, in: func(c byte) bool { return isAlnum(c) || c == '$' }, ok: hasDigit},
	{class: "alibaba", prefix: "LTAI", min: 12, max: 20, in: isAlnum, ok: drawn},
	{class: "tencent", prefix: "AKID", min: 32, max: 32, in: isAlnum, ok: drawn},
	{class: "age", prefix: "AGE-SECRET-KEY-", min: 50, in: isAgeKey},
	{class: "age", prefix: "age-secret-key-", min: 50, in: isAgeKey},
}

// shortest is how many bytes each prefix has at least.
const shortest = 3

// chains finds the shapes that may begin with three bytes: a hash of these leads to the last of a chain of them.
type chains struct {
	last [1 << 12]uint8     // by hash: 1 + the number of a shape, or 0
	next [len(shapes)]uint8 // by shape: the same of the one before
}

// shapeChains is the table, made when the first text is cleaned.
var shapeChains = sync.OnceValue(makeChains)

func makeChains() *chains {
	t := new(chains)
	for i := range shapes {
		h := hash3(shapes[i].prefix[0], shapes[i].prefix[1], shapes[i].prefix[2])
		t.next[i], t.last[h] = t.last[h], uint8(i+1)
	}
	return t
}

func hash3(a, b, c byte) int { return (int(a) ^ int(b)<<3 ^ int(c)<<5) & (1<<12 - 1) }

// tokenSpans finds the secrets that shapes describes, in one pass whose time does not depend on how many they are.
func tokenSpans(found []span, b []byte) []span {
	t := shapeChains()
	var read [len(shapes)]int // by shape: how far it has looked, so that a prefix inside a body costs nothing
	for i := 0; i+shortest <= len(b); i++ {
		n := t.last[hash3(b[i], b[i+1], b[i+2])]
		for ; n != 0; n = t.next[n-1] {
			if s := &shapes[n-1]; i >= read[n-1] && b[i] == s.prefix[0] && bytes.HasPrefix(b[i:], []byte(s.prefix)) && (!isAlnum(b[i]) || startsToken(b, i)) && !(s.lone && i > 0 && isBase64(b[i-1]) && b[i-1] != '=') {
				found, read[n-1] = s.at(found, b, i)
			}
		}
	}
	return found
}

// at judges the text after a prefix at start, and tells how far it has read.
func (s *shape) at(found []span, b []byte, start int) ([]span, int) {
	body := start + len(s.prefix)
	read := runEnd(b, body, s.in)
	end := body + len(bytes.TrimRight(b[body:read], "."))
	if !s.matches(b[body:end]) {
		return found, read
	}
	if s.keep {
		start = body
	}
	return append(found, span{start, end, s.class}), read
}

func (s *shape) matches(body []byte) bool {
	if len(body) < s.min || s.max > 0 && len(body) > s.max {
		return false
	}
	return s.ok == nil || s.ok(body)
}

// isHookPath is the alphabet of the secret path of a webhook.
func isHookPath(c byte) bool { return isURLSafe(c) || c == '/' }

// isAnyBase64 is either alphabet: what is longer in one of them is no token.
func isAnyBase64(c byte) bool { return isBase64(c) || isURLSafe(c) }

// isAgeKey is bech32 with the dash that the post-quantum prefix has.
func isAgeKey(c byte) bool { return isAlnum(c) || c == '-' }

func hasDigit(body []byte) bool { return bytes.ContainsAny(body, "0123456789") }

func base32Key(body []byte) bool { return runEnd(body, 0, isUpperNum) == len(body) }

func lowerHex(body []byte) bool {
	return runEnd(body, 0, func(c byte) bool { return isHex(c) && !isUpper(c) }) == len(body)
}

// drawn reports whether body has letters of both cases or digits among them, as what is drawn by lot has.
func drawn(body []byte) bool {
	m := measure(body)
	return (m.mixed() || m.turns >= 4) && m.turns+m.switches >= len(body)/5
}

// airtableKey reports whether body is 14 letters and digits, a dot, and 64 hexadecimal digits.
func airtableKey(body []byte) bool {
	return runEnd(body, 0, isAlnum) == 14 && body[14] == '.' && lowerHex(body[15:])
}

// twoParts reports whether body is two long parts joined by a dot.
func twoParts(body []byte) bool {
	a, z, ok := bytes.Cut(body, []byte("."))
	return ok && len(a) >= 16 && len(z) >= 16
}

// telegramSpans finds bot tokens: 8 to 10 digits, a colon, AA and 33 more.
func telegramSpans(found []span, b []byte) []span {
	for at := 0; ; {
		colon := indexFrom(b, at, ":AA")
		if colon < 0 {
			return found
		}
		end := runEnd(b, colon+1, isURLSafe)
		at = end
		start := colon
		for start > 0 && colon-start < 11 && isDigit(b[start-1]) {
			start--
		}
		digits := colon - start
		if digits < 8 || digits > 10 || end-colon-1 != 35 {
			continue
		}
		found = append(found, span{start, end, "telegram"})
	}
}

// jwtSpans finds JSON web tokens: a base64url header that starts with {" and
// two to four more parts after dots. A part may be empty, as in an unsigned
// token or a directly encrypted one.
func jwtSpans(found []span, b []byte) []span {
	for at := 0; ; {
		start := indexFrom(b, at, "eyJ")
		if start < 0 {
			return found
		}
		if !startsToken(b, start) {
			at = start + 1
			continue
		}
		end, parts := jwtEnd(b, start)
		at = end
		if parts >= 3 && end-start >= 30 {
			found = append(found, span{start, end, "jwt"})
		}
	}
}

// jwtEnd reads dotted base64url parts from start; a header shorter than the
// shortest possible one counts as no token.
func jwtEnd(b []byte, start int) (end, parts int) {
	end = runEnd(b, start, isURLSafe)
	if end-start < 12 {
		return end, 1
	}
	for parts = 1; parts < 5 && end < len(b) && b[end] == '.'; parts++ {
		end = runEnd(b, end+1, isURLSafe)
	}
	return end, parts
}
