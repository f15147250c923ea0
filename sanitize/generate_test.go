package sanitize

import (
	"encoding/base64"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/tokens"
)

// sample is a made-up secret, with the text around it.
type sample struct {
	name    string   // of a value that only its name reveals: words with blanks between them
	text    string   // the value, or a text with its own form
	secrets []string // the parts of the text that must not stay
}

// form makes samples of one kind.
type form struct {
	kind string
	make func(r *rand.Rand) sample
}

const (
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	decimals = "0123456789"
)

// alphabet returns the characters that a letter in a template stands for.
func alphabet(c byte) string {
	switch c {
	case 'n':
		return uppers + lowers + decimals
	case 'h':
		return decimals + "abcdef"
	case 'd':
		return decimals
	case 'u':
		return uppers + lowers + decimals + "-_"
	case 'b':
		return uppers + lowers + decimals + "+/"
	case 'A':
		return uppers + "234567"
	case 'X':
		return uppers + decimals
	case 'x':
		return lowers + decimals
	case 'a':
		return uppers + lowers
	case 'k':
		return "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" // bech32, in capitals
	case 'g':
		return decimals + "abcdefABCDEF"
	case 'H':
		return decimals + "ABCDEF"
	case 'w':
		return uppers + lowers + decimals + "_"
	case 'v':
		return uppers + lowers + decimals + "_-."
	case 'p':
		return uppers + lowers + decimals + "_-/"
	case 't':
		return uppers + lowers + decimals + "-._~+/="
	case 'c':
		return "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	case 's':
		return uppers + lowers + decimals + "!@#^*()_+=.?~-"
	}
	panic("no alphabet " + string(c))
}

// fill expands a template: {n36} becomes 36 letters and digits, {n20-40} between 20 and 40, {n20+}
// 20 and up to 20 more. The result looks like a real token but is random, so the templates show no
// scanner a secret.
func fill(r *rand.Rand, template string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(template, "{")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		what, after, _ := strings.Cut(rest, "}")
		low, high, ranged := strings.Cut(what[1:], "-")
		least, open := strings.CutSuffix(low, "+")
		n, _ := strconv.Atoi(least)
		if open {
			n += r.IntN(21)
		}
		if ranged {
			m, _ := strconv.Atoi(high)
			n += r.IntN(m - n + 1)
		}
		from := alphabet(what[0])
		for range n {
			out.WriteByte(from[r.IntN(len(from))])
		}
		template = after
	}
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

// bare makes a form that is known by itself, from one of the templates.
func bare(kind string, templates ...string) form {
	return form{kind, func(r *rand.Rand) sample {
		s := fill(r, pick(r, templates...))
		return sample{text: s, secrets: []string{s}}
	}}
}

// named makes a form that only its name reveals.
func named(kind string, names []string, templates ...string) form {
	return form{kind, func(r *rand.Rand) sample {
		s := fill(r, pick(r, templates...))
		return sample{name: pick(r, names...), text: s, secrets: []string{s}}
	}}
}

// within makes a form in which secrets from a template stand in a text at %s. One text is chosen at
// random.
func within(kind, secret string, texts ...string) form {
	return form{kind, func(r *rand.Rand) sample {
		s := fill(r, secret)
		return sample{text: strings.ReplaceAll(fill(r, pick(r, texts...)), "%s", s),
			secrets: []string{s}}
	}}
}

var passwordNames = []string{"password", "db password", "passwd", "admin password",
	"postgres password", "smtp pass", "user pwd", "passphrase"}

var keyNames = []string{"api key", "secret key", "access token", "client secret", "auth token",
	"app secret", "signing key", "webhook secret", "secret", "token", "private key"}

// tableForms makes a kind of each class of the table, from the forms of the class.
func tableForms() []form {
	var out []form
	at := map[string]int{}
	byClass := map[string][]string{}
	for _, s := range tokens.Table() {
		if _, ok := at[s.Class]; !ok {
			at[s.Class] = len(out)
			out = append(out, form{kind: "table: " + s.Class})
		}
		byClass[s.Class] = append(byClass[s.Class], s.Pattern)
	}
	for class, templates := range byClass {
		out[at[class]].make = func(r *rand.Rand) sample {
			text := fill(r, pick(r, templates...))
			before, inside, ok := strings.Cut(text, "(")
			if !ok {
				return sample{text: strings.TrimRight(text, ".~"),
					secrets: []string{strings.TrimRight(text, ".~")}}
			}
			inside, after, _ := strings.Cut(inside, ")")
			return sample{text: before + inside + after, secrets: []string{inside}}
		}
	}
	return out
}

// forms lists every kind: those of the table, and the others.
func forms() []form { return append(otherForms(), tableForms()...) }

// otherForms lists kinds that are not in the table. The lengths are those in the issuers' public
// documents.
func otherForms() []form {
	return []form{
		bare("AWS access key id", "AKIA{A16}", "ASIA{A16}"),
		named("AWS secret key",
			[]string{"aws secret access key", "secret access key", "aws secret key"}, "{b40}"),
		named("AWS session token", []string{"aws session token"}, "FwoGZXIvYXdzE{b300}="),
		{"Google service account", serviceAccount},
		bare("Google API key", "AIza{u35}"),
		bare("Google OAuth", "GOCSPX-{u28}", "ya29.{u120-180}", "ya29.a0{u160}", "1//0{n1}{u60}"),
		bare("GitHub classic", "ghp_{n36}", "gho_{n36}", "ghu_{n36}", "ghs_{n36}", "ghr_{n76}"),
		bare("GitHub fine-grained", "github_pat_{n22}_{n59}"),
		bare("GitLab", "glpat-{u20}", "gldt-{u20}", "glrt-{u20}", "glptt-{h40}", "glcbt-{h2}_{u20}",
			"glft-{u20}", "glimt-{u25}", "glagent-{u50}", "gloas-{h64}", "GR1348941{u20}"),
		bare("Slack token", "xoxb-{d12}-{d13}-{n24}", "xoxp-{d12}-{d12}-{d13}-{h32}",
			"xapp-1-A{X10}-{d13}-{h64}", "xoxe.xoxp-1-{n160}", "xoxe-1-{n140}",
			"xoxc-{d12}-{d12}-{d13}-{h64}"),
		within("Slack webhook", "T{X8}/B{X10}/{n24}", "https://hooks.slack.com/services/%s"),
		within("Discord webhook", "{d19}/{u68}", "https://discord.com/api/webhooks/%s"),
		bare("Discord bot", "M{n23}.{u6}.{u27}", "N{n25}.{u6}.{u38}"),
		within("Teams webhook", "{h32}/{h8}-{h4}-{h4}-{h4}-{h12}",
			"https://acme.webhook.office.com/webhookb2/{h8}-{h4}-4{h3}-{h4}-{h12}@{h8}-{h4}-4{h3}-{h4}-{h12}/IncomingWebhook/%s"),
		bare("Stripe", "sk_live_{n24}", "sk_live_{n99}", "sk_test_{n24}", "rk_live_{n24}",
			"whsec_{n32}"),
		bare("OpenAI", "sk-{n20}T3BlbkFJ{n20}", "sk-proj-{u74}T3BlbkFJ{u74}",
			"sk-svcacct-{u58}T3BlbkFJ{u58}", "sk-proj-{n48}"),
		bare("Anthropic", "sk-ant-api03-{u93}AA", "sk-ant-admin01-{u93}AA", "sk-ant-oat01-{u93}AA"),
		bare("other AI", "gsk_{n52}", "r8_{n37}", "xai-{n80}", "pplx-{n48}", "sk-or-v1-{h64}",
			"sk-{h32}", "nvapi-{u64}", "lsv2_pt_{h32}_{h10}", "tvly-{n32}",
			"pcsk_{n5}_{n63}", "fw_{n24}"),
		bare("Hugging Face", "hf_{a34}"),
		bare("npm", "npm_{n36}"),
		bare("PyPI", "pypi-AgEIcHlwaS5vcmc{u150}"),
		bare("package registries", "rubygems_{h48}", "cio{n32}", "oy2{x43}", "CLOJARS_{h60}",
			"dckr_pat_{u27}", "dckr_oat_{u32}"),
		bare("SendGrid", "SG.{u22}.{u43}"),
		bare("Twilio", "SK{h32}"),
		named("Twilio auth token", []string{"twilio auth token", "auth token"}, "{h32}"),
		bare("mail services", "key-{h32}", "{h32}-us{d2}", "xkeysib-{h64}-{n16}",
			"{h32}-{h8}-{h8}"),
		within("Azure storage", "{b86}==",
			"DefaultEndpointsProtocol=https;AccountName=acme{d3};AccountKey=%s;EndpointSuffix=core.windows.net"),
		within("Azure bus", "{b43}=",
			"Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=%s"),
		within("Azure SAS", "{n20}%2B{n21}%3D",
			"https://acme.blob.core.windows.net/c/f.txt?sv=2022-11-02&st=2026-01-01T00%3A00%3A00Z&sr=b&sp=r&sig=%s"),
		bare("Azure AD", "{n3}8Q~{u34}", "{n3}7Q~{u31}"),
		bare("JWT", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx{u40-200}.{u43}",
			"eyJhbGciOiJSUzI1NiIsImtpZCI6I{u20}.eyJpc3MiOi{u200-400}.{u342}"),
		{"PEM", pemKey("RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
			"DSA PRIVATE KEY")},
		{"OpenSSH", pemKey("OPENSSH PRIVATE KEY")},
		{"PGP", pemKey("PGP PRIVATE KEY BLOCK")},
		{"PuTTY", puttyKey},
		bare("age", "AGE-SECRET-KEY-1{k58}"),
		{"basic header", basicHeader},
		within("bearer header", "{u32-60}", "Authorization: Bearer %s", "authorization: bearer %s",
			"Proxy-Authorization: Bearer %s"),
		within("API key header", "{n32}", "X-API-Key: %s", "x-api-key: %s", "PRIVATE-TOKEN: %s",
			"X-Auth-Token: %s", "api-key: %s", "X-Goog-Api-Key: %s",
			"Ocp-Apim-Subscription-Key: %s", "DD-API-KEY: %s", "Authorization: token %s",
			"Authorization: ApiKey %s", "Authorization: %s"),
		within("cookie", "{u40}", "Cookie: theme=dark; sessionid=%s; lang=en",
			"Set-Cookie: session=%s; Path=/; HttpOnly", "Set-Cookie: connect.sid=s%3A%s; Path=/",
			"cookie: JSESSIONID=%s", "Cookie: _gh_sess=%s"),
		within("URL with password", "{s12-20}", "postgres://app:%s@db.acme.test:5432/app",
			"https://ci:%s@git.acme.test/a.git", "redis://:%s@cache:6379/0",
			"mongodb+srv://u:%s@c0.acme.test/x?retryWrites=true", "amqp://guest:%s@mq//",
			"ftp://me:%s@files.acme.test/"),
		within("DSN", "{n16}", "app:%s@tcp(127.0.0.1:3306)/app?parseTime=true",
			"host=db user=app password=%s dbname=app sslmode=disable",
			"jdbc:postgresql://db/app?user=app&password=%s",
			"Server=db;Database=app;User Id=sa;Password=%s;Encrypt=true",
			"Data Source=db;Initial Catalog=a;User ID=sa;Pwd=%s",
			"jdbc:sqlserver://db:1433;user=sa;password=%s;",
			"https://{h32}:%s@o1.ingest.acme.test/2"),
		within(".netrc", "{n16}", "machine git.acme.test login me password %s",
			"machine git.acme.test\n  login me\n  password %s\n", "default login me password %s"),
		within(".pgpass", "{n16}", "db.acme.test:5432:app:me:%s", "localhost:5432:*:postgres:%s",
			"*:*:*:app:%s"),
		within("kubeconfig", "{b300}",
			"users:\n- name: admin\n  user:\n    client-certificate-data: "+
				"LS0tLS1CRUdJTiBDRVJUSUZ\n    client-key-data: LS0tLS1CRUdJTiB%s\n",
			"users:\n- name: sa\n  user:\n    token: %s\n"),
		within("AWS credentials file", "{b40}",
			"[default]\naws_access_key_id = AKIA{A16}\naws_secret_access_key = %s\n",
			"[work]\nregion=eu-west-1\naws_secret_access_key=%s\n"),
		{"Docker config", dockerConfig},
		within(".npmrc", "{h8}-{h4}-{h4}-{h4}-{h12}", "//registry.acme.test/:_authToken=%s",
			"registry=https://r.acme.test/\n//r.acme.test/:_authToken=%s\n"),
		within("Kubernetes Secret", "{n26}0=",
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: %s\n",
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: "+
				"Opaque\ndata:\n  value: %s\n"),
		named("password, drawn by lot", passwordNames, "{n12-20}"),
		named("password with symbols", passwordNames, "{s12-20}"),
		{"password, a word and digits", wordAndDigits},
		{"password, words", words},
		named("password, hexadecimal", passwordNames, "{h16-40}"),
		named("password, digits", passwordNames, "{d8}"),
		named("key, drawn by lot", keyNames, "{n24-48}"),
		named("key, base64", keyNames, "{b43}=", "{b32}"),
		named("key, hexadecimal", keyNames, "{h32}", "{h64}", "{h40}"),
		named("key, a UUID", keyNames, "{h8}-{h4}-4{h3}-a{h3}-{h12}"),
		within("command line", "{n14}", "mysql -u root -p%s app",
			"curl -u me:%s https://api.acme.test/", "curl --user me:%s https://api.acme.test/",
			"sshpass -p %s ssh me@host", "docker login -u me -p %s r.acme.test",
			"mysqldump --password %s app", "tool login --token %s", "redis-cli -a %s ping",
			"openssl rsa -passin pass:%s -in k.pem", "az login -u me --password %s",
			"psql 'postgresql://me:%s@db/app'", "vault login %s9-{n4}", "PGPASSWORD=%s psql -h db"),
		within("SQL", "{n14}", "CREATE USER app WITH PASSWORD '%s';",
			"CREATE USER 'app'@'%' IDENTIFIED BY '%s';", "ALTER ROLE app PASSWORD '%s';",
			"GRANT ALL ON app.* TO 'a'@'h' IDENTIFIED BY '%s';"),
		within("XML", "{n14}", "<password>%s</password>",
			"<add key=\"ClearTextPassword\" value=\"%s\" />",
			"<entry key=\"db.password\">%s</entry>", "<property name=\"password\" value=\"%s\"/>",
			"<apiKey>%s</apiKey>"),
		bare("Vault", "hvs.{u90}", "hvb.{u140}", "hvs.CAES{u85}"),
		bare("hosting", "fm1_{b150}", "pscale_pw_{u43}", "dop_v1_{h64}", "doo_v1_{h64}",
			"HRKU-{h8}-{h4}-{h4}-{h4}-{h12}", "sbp_{h40}", "pscale_tkn_{u43}", "nfp_{n36}",
			"tskey-auth-{n16}-{n32}", "fm2_{b150}", "{n14}.atlasv1.{u67}", "dp.pt.{n43}",
			"pul-{h40}", "dapi{h32}"),
		bare("work services", "glc_eyJ{b100}", "ATATT3xFfGF0{u170}={X8}", "lin_api_{n40}",
			"ntn_{d11}{n35}", "secret_{n43}", "pat{n14}.{h64}", "figd_{u40}", "glsa_{n32}_{h8}",
			"sntryu_{h64}", "sntrys_eyJ{u120}_{u43}", "NRAK-{X27}", "PMAK-{h24}-{h34}",
			"sqp_{h40}", "AKCp{n69}"),
		bare("trade", "shpat_{h32}", "shpss_{h32}", "sq0atp-{u22}", "sq0csp-{u43}", "EAAA{u60}",
			"access_token$production${x16}${h32}", "LTAI{n20}", "AKID{n32}"),
		bare("Telegram", "{d9}:AA{u33}", "{d10}:AA{u33}"),
		within("OTP seed", "{A32}", "otpauth://totp/acme:me?secret=%s&issuer=acme"),
	}
}

func wordAndDigits(r *rand.Rand) sample {
	s := pick(r, "hunter", "Sommer", "dragon", "letmein", "Winter", "qwerty", "monkey", "Passw0rd",
		"tr0ub4dor", "swordfish") +
		fill(r, pick(r, "{d1}", "{d2}", "{d4}", "{d4}!", "!{d2}", "#{d3}"))
	return sample{pick(r, passwordNames...), s, []string{s}}
}

func words(r *rand.Rand) sample {
	list := []string{"correct", "horse", "battery", "staple", "purple", "window", "anvil", "seven",
		"marble", "otter", "quiet", "ladder"}
	n := 1 + r.IntN(4)
	all := make([]string, n)
	for i := range all {
		all[i] = pick(r, list...)
	}
	s := strings.Join(all, pick(r, "-", "-", "_", ""))
	return sample{pick(r, passwordNames...), s, []string{s}}
}

func basicHeader(r *rand.Rand) sample {
	s := base64.StdEncoding.EncodeToString([]byte(fill(r, "user{d2}:{n12}")))
	return sample{"",
		pick(r, "Authorization: Basic ", "authorization: basic ", "Proxy-Authorization: Basic ") +
			s, []string{s}}
}

func dockerConfig(r *rand.Rand) sample {
	s := base64.StdEncoding.EncodeToString([]byte(fill(r, "user{d2}:{n20}")))
	return sample{"",
		"{\n\t\"auths\": {\n\t\t\"r.acme.test\": {\n\t\t\t\"auth\": \"" + s + "\"\n\t\t}\n\t}\n}",
		[]string{s}}
}

// armour returns base64 in lines of 64, each of which is a secret.
func armour(r *rand.Rand, n int) (string, []string) {
	var lines []string
	for range n {
		lines = append(lines, fill(r, "{b64}"))
	}
	lines = append(lines, fill(r, "{b30}=="))
	return strings.Join(lines, "\n"), lines
}

func pemKey(labels ...string) func(*rand.Rand) sample {
	return func(r *rand.Rand) sample {
		label := pick(r, labels...)
		body, lines := armour(r, 1+r.IntN(24))
		head := ""
		if strings.HasPrefix(label, "RSA") && r.IntN(3) == 0 {
			head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n"
		}
		if strings.HasPrefix(label, "PGP") {
			head = pick(r, "\n", "Version: GnuPG v2\n\n")
		}
		return sample{"",
			"-----BEGIN " + label + "-----\n" + head + body + "\n-----END " + label + "-----\n",
			lines}
	}
}

func puttyKey(r *rand.Rand) sample {
	public, _ := armour(r, 3)
	private, lines := armour(r, 4)
	return sample{"",
		"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: me\nPublic-Lines: 4\n" +
			public + "\nPrivate-Lines: 5\n" + private + "\nPrivate-MAC: " + fill(r, "{h64}") + "\n",
		lines}
}

func serviceAccount(r *rand.Rand) sample {
	key := pemKey("PRIVATE KEY")(r)
	return sample{"",
		"{\n  \"type\": \"service_account\",\n  \"project_id\": \"acme\",\n  " +
			"\"private_key_id\": \"" + fill(r, "{h40}") + "\",\n  \"private_key\": \"" +
			strings.ReplaceAll(key.text, "\n", `\n`) +
			"\",\n  \"client_email\": \"ci@acme.test\"\n}",
		key.secrets}
}
