package sanitize

import "bytes"

// shape describes a secret recognised by itself: a fixed prefix and a body of
// at least min and, unless max is 0, at most max bytes of one alphabet. The
// lengths are those the issuers use, rounded down where they have changed.
type shape struct {
	class    string
	prefix   string
	keep     bool // the prefix is not secret (an address) and stays
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
	{class: "aws", prefix: "AKIA", min: 16, max: 16, in: isAlnum, ok: base32Key},
	{class: "aws", prefix: "ASIA", min: 16, max: 16, in: isAlnum, ok: base32Key},
	{class: "google", prefix: "AIza", min: 35, max: 35, in: isURLSafe},
	{class: "google", prefix: "GOCSPX-", min: 20, in: isURLSafe},
	{class: "google", prefix: "ya29.", min: 20, in: isDotted},
	{class: "stripe", prefix: "sk_live_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "sk_test_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "rk_live_", min: 10, in: isAlnum},
	{class: "stripe", prefix: "rk_test_", min: 10, in: isAlnum},
	{class: "slack", prefix: "xoxa-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxb-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxp-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxr-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxs-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xoxe-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "xapp-", min: 10, in: isURLSafe, ok: hasDigit},
	{class: "slack", prefix: "hooks.slack.com/services/", keep: true, min: 20, in: isHookPath},
	{class: "slack", prefix: "hooks.slack.com/workflows/", keep: true, min: 20, in: isHookPath},
	{class: "slack", prefix: "hooks.slack.com/triggers/", keep: true, min: 20, in: isHookPath},
	{class: "discord", prefix: "discord.com/api/webhooks/", keep: true, min: 60, in: isHookPath},
	{class: "discord", prefix: "discordapp.com/api/webhooks/", keep: true, min: 60, in: isHookPath},
	{class: "npm", prefix: "npm_", min: 36, in: isAlnum},
	{class: "pypi", prefix: "pypi-", min: 50, in: isURLSafe},
	{class: "huggingface", prefix: "hf_", min: 30, in: isAlnum},
	{class: "anthropic", prefix: "sk-ant-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-proj-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-svcacct-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-admin-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-or-v1-", min: 20, in: isURLSafe, ok: hasDigit},
	{class: "openai", prefix: "sk-", min: 20, in: isAlnum, ok: hasDigit},
	{class: "sendgrid", prefix: "SG.", min: 40, in: isDotted, ok: twoParts},
	{class: "digitalocean", prefix: "dop_v1_", min: 40, in: isHex},
	{class: "digitalocean", prefix: "doo_v1_", min: 40, in: isHex},
	{class: "digitalocean", prefix: "dor_v1_", min: 40, in: isHex},
	{class: "twilio", prefix: "SK", min: 32, max: 32, in: isAlnum, ok: lowerHex},
	{class: "age", prefix: "AGE-SECRET-KEY-", min: 50, in: isAgeKey},
	{class: "age", prefix: "age-secret-key-", min: 50, in: isAgeKey},
}

// tokenSpans finds the secrets that shapes describes. Each prefix is one fast
// search, so text without any costs a few passes at memory speed.
func tokenSpans(found []span, b []byte) []span {
	for i := range shapes {
		found = shapes[i].spans(found, b)
	}
	return found
}

// spans searches on from the end of each body it looked at, so the time is
// linear even where prefixes repeat inside a body.
func (s *shape) spans(found []span, b []byte) []span {
	for at := 0; ; {
		start := indexFrom(b, at, s.prefix)
		if start < 0 {
			return found
		}
		body := start + len(s.prefix)
		if !startsToken(b, start) {
			at = start + 1
			continue
		}
		end := runEnd(b, body, s.in)
		at = end
		end = body + len(bytes.TrimRight(b[body:end], "."))
		if !s.matches(b[body:end]) {
			continue
		}
		if s.keep {
			start = body
		}
		found = append(found, span{start, end, s.class})
	}
}

func (s *shape) matches(body []byte) bool {
	if len(body) < s.min || s.max > 0 && len(body) > s.max {
		return false
	}
	return s.ok == nil || s.ok(body)
}

// isHookPath is the alphabet of the secret path of a webhook.
func isHookPath(c byte) bool { return isURLSafe(c) || c == '/' }

// isAgeKey is bech32 with the dash that the post-quantum prefix has.
func isAgeKey(c byte) bool { return isAlnum(c) || c == '-' }

func hasDigit(body []byte) bool { return bytes.ContainsAny(body, "0123456789") }

func base32Key(body []byte) bool { return runEnd(body, 0, isUpperNum) == len(body) }

func lowerHex(body []byte) bool {
	return runEnd(body, 0, func(c byte) bool { return isHex(c) && !isUpper(c) }) == len(body)
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
