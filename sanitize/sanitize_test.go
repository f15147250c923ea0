package sanitize

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// rep repeats s to exactly n bytes. Samples are put together at run time, so that secret scanners
// find none in this file.
func rep(s string, n int) string { return strings.Repeat(s, n/len(s)+1)[:n] }

func mustText(t *testing.T, in string) (string, []Finding) {
	t.Helper()
	out, found, err := Text([]byte(in))
	if err != nil {
		t.Fatalf("Text(%q): %v", in, err)
	}
	again, more, err := Text(out)
	if err != nil || len(more) != 0 || !bytes.Equal(again, out) {
		t.Fatalf("Text is not idempotent on %q:\n once  %q\n twice %q %v %v", in, out,
			again, more, err)
	}
	return string(out), found
}

// bareSamples has at least one secret of each class that needs no context.
func bareSamples() map[string][]string {
	return map[string][]string{
		"github": {
			"ghp" + "_" + rep("aB3", 36), "gho" + "_" + rep("aB3", 36),
			"ghu" + "_" + rep("aB3", 36),
			"ghs" + "_" + rep("aB3", 36), "ghr" + "_" + rep("aB3", 76),
			"github" + "_pat_" + rep("11AB_c", 82),
		},
		"gitlab": {"glpat" + "-" + rep("aB3", 20),
			"glpat" + "-" + rep("aB3", 27) + ".01." + rep("z9", 9)},
		"aws": {"AKIA" + rep("Q7Z", 16), "ASIA" + rep("Q7Z", 16)},
		"google": {"AIza" + rep("Sy-_9", 35), "GOCSPX" + "-" + rep("a_B4", 28),
			"ya29" + "." + rep("a0-_", 60)},
		"stripe": {"sk" + "_live_" + rep("aB3", 24), "rk" + "_test_" + rep("aB3", 24)},
		"slack": {"xoxb" + "-" + rep("123456", 12) + "-" + rep("aB", 24),
			"xoxp" + "-" + rep("9-a", 40), "xapp" + "-1-" + rep("A9", 30)},
		"npm":          {"npm" + "_" + rep("aB3", 36)},
		"pypi":         {"pypi" + "-" + rep("AgEIcHlwaS5", 90)},
		"huggingface":  {"hf" + "_" + rep("aBcD", 34)},
		"openai":       {"sk" + "-" + rep("aB3", 48), "sk" + "-proj-" + rep("aB3_-", 80)},
		"anthropic":    {"sk" + "-ant-" + "api03-" + rep("aB3_-", 90)},
		"sendgrid":     {"SG" + "." + rep("aB3_", 22) + "." + rep("aB3-", 43)},
		"digitalocean": {"dop" + "_v1_" + rep("a1f", 64)},
		"twilio":       {"SK" + rep("a1f", 32)},
		"telegram":     {"123456789" + ":AA" + rep("aB3_", 33)},
		"age": {"AGE-SECRET" + "-KEY-1" + rep("QPZRY9", 58),
			"AGE-SECRET" + "-KEY-PQ-1" + rep("QPZRY9", 58)},
		"jwt": {"eyJ" + rep("hbGci", 17) + ".eyJ" + rep("zdWI", 20) + "." +
			rep("aB3_-", 43), "eyJ" + rep("hbGci", 33) + ".eyJ" + rep("zdWI", 20) + "."},
	}
}

// frames are the places in which a secret appears.
var frames = []string{
	"%",
	"use % now",
	"const k = \"%\"\n",
	`{"a":"%"}`,
	`{\"a\":\"%\"}`,
	`line one\n%\nline two`,
	"https://api.test/v1?k=%&x=1",
	"https%3A%2F%2Fa.test%3Fk%3D%%26x",
	"2024-01-02T10:00:00Z INFO sent [%], ok.",
	"\x1b[32m%\x1b[0m",
	"(%)", "`%`", "<%>", "日本%、",
}

func TestBareFormats(t *testing.T) {
	for class, samples := range bareSamples() {
		for _, secret := range samples {
			for _, f := range frames {
				in := strings.ReplaceAll(strings.Replace(f, "%", "\x00", 1), "\x00", secret)
				if strings.Contains(f, "%3A") {
					in = "https%3A%2F%2Fa.test%3Fk%3D" + secret + "%26x"
				}
				out, found := mustText(t, in)
				if strings.Contains(out, secret) || !strings.Contains(out, "[REDACTED:"+class+"]") {
					t.Errorf("%s in %q: got %q", class, f, out)
				}
				want := strings.NewReplacer(secret, "[REDACTED:"+class+"]", "\x1b[32m", "",
					"\x1b[0m", "").Replace(in)
				if out != want {
					t.Errorf("%s: got %q, want %q", class, out, want)
				}
				if !slices.ContainsFunc(found,
					func(x Finding) bool { return x == Finding{class, 1} }) {
					t.Errorf("%s in %q: found %v", class, f, found)
				}
			}
		}
	}
}

// TestContext has the exact output of rules that depend on context.
func TestContext(t *testing.T) {
	hook := "T0" + rep("A1", 8) + "/B0" + rep("B2", 8) + "/" + rep("cD3", 24)
	for _, c := range []struct{ name, in, want string }{
		{"url", "postgres://app:hunter2@db:5432/x",
			"postgres://app:[REDACTED:url-password]@db:5432/x"},
		{"url no user", "redis://:s3cret@cache", "redis://:[REDACTED:url-password]@cache"},
		{"url raw at", "mysql://u:p@ss@h/x", "mysql://u:[REDACTED:url-password]@h/x"},
		{"url odd scheme", "git+ssh://me:pw@h", "git+ssh://me:[REDACTED:url-password]@h"},
		{"url in json", `{"u":"amqp://a:b1@h"}`, `{"u":"amqp://a:[REDACTED:url-password]@h"}`},
		{"url none", "https://me@host/x http://h:80/@y http://[::1]:80/",
			"https://me@host/x http://h:80/@y http://[::1]:80/"},
		{"url variable",
			"http://u:${PW}@h http://u:%s@h http://u:<password>@h http://u:****@h http://u:$PW@h",
			"http://u:${PW}@h http://u:%s@h http://u:<password>@h http://u:****@h http://u:$PW@h"},
		{"webhook", "https://hooks.slack.com/services/" + hook + " ok",
			"https://hooks.slack.com/services/[REDACTED:slack] ok"},
		{"bearer", "Authorization: Bearer abc123def456",
			"Authorization: Bearer [REDACTED:authorization]"},
		{"bearer curl", `curl -H "authorization: bearer abc123def456" x`,
			`curl -H "authorization: bearer [REDACTED:authorization]" x`},
		{"bearer go", `h.Set("Authorization", "Bearer abc123def456")`,
			`h.Set("Authorization", "Bearer [REDACTED:authorization]")`},
		{"basic", "Authorization: Basic dXNlcjpodW50ZXIy",
			"Authorization: Basic [REDACTED:authorization]"},
		{"token scheme", "Authorization: token a1b2c3d4e5f6",
			"Authorization: token [REDACTED:authorization]"},
		{"raw header", "Authorization: a1b2c3d4e5f6a7b8",
			"Authorization: [REDACTED:authorization]"},
		{"docker auth", `"auth": "dXNlcjpodW50ZXIy"`, `"auth": "[REDACTED:authorization]"`},
		{"password", "password: hunter2", "password: [REDACTED:password]"},
		{"password eq", "password=hunter2", "password=[REDACTED:password]"},
		{"password dot", "The password: hunter2.", "The password: [REDACTED:password]."},
		{"env", "export DB_PASSWORD=hunter2\nA=b", "export DB_PASSWORD=[REDACTED:password]\nA=b"},
		{"camel", `dbPassword := "hunter2"`, `dbPassword := "[REDACTED:password]"`},
		{"flag", "--api-key=a1b2c3d4e5f6", "--api-key=[REDACTED:secret]"},
		{"yaml", "  client_secret:   q8Zr-1kPw_77aa # x",
			"  client_secret:   [REDACTED:secret] # x"},
		{"json text", `{"password":"hunter2","user":"a"}`,
			`{"password":"[REDACTED:password]","user":"a"}`},
		{"json in json", `{\"password\":\"hunter2\",\"user\":\"a\"}`,
			`{\"password\":\"[REDACTED:password]\",\"user\":\"a\"}`},
		{"json in json in json", `\\\"password\\\":\\\"hunter2\\\",`,
			`\\\"password\\\":\\\"[REDACTED:password]\\\",`},
		{"ruby", `:password => 'hunter2'`, `:password => '[REDACTED:password]'`},
		{"index", `os.environ["API_TOKEN"] = "a1b2c3d4e5"`,
			`os.environ["API_TOKEN"] = "[REDACTED:secret]"`},
		{"typed", `const apiKey: string = "a1b2c3d4e5"`,
			`const apiKey: string = "[REDACTED:secret]"`},
		{"typed go", `var password string = "hunter2"`,
			`var password string = "[REDACTED:password]"`},
		{"go bytes", `secret := []byte("a1b2c3d4e5")`, `secret := []byte("[REDACTED:secret]")`},
		{"query", "https://x.test/?token=a1b2c3d4e5&u=me",
			"https://x.test/?token=[REDACTED:secret]&u=me"},
		{"encoded", "u%3Dme%26password%3Dhunter2%26x",
			"u%3Dme%26password%3D[REDACTED:password]%26x"},
		{"connection string", "Server=x;Password=hunter2;User=y",
			"Server=x;Password=[REDACTED:password];User=y"},
		{"azure", "AccountKey=" + rep("aB3+/", 86) + "==;Suffix=x",
			"AccountKey=[REDACTED:secret];Suffix=x"},
		{"presigned", "https://b.s3.test/k?X-Amz-Expires=60&X-Amz-Signature=" + rep("a1b2", 64) + "&x=1",
			"https://b.s3.test/k?X-Amz-Expires=60&X-Amz-Signature=[REDACTED:aws]&x=1"},
		{"presigned, escaped", `u\u0026X-Goog-Signature=` + rep("a1b2", 512),
			`u\u0026X-Goog-Signature=[REDACTED:google]`},
		{"signed for CloudFront",
			"https://d.test/a?Expires=1790000000&Signature=" + rep("aB1~", 80) + "&Key-Pair-Id=K1",
			"https://d.test/a?Expires=1790000000&Signature=[REDACTED:aws]&Key-Pair-Id=K1"},
		{"no signature", "the query has X-Amz-Signature=abc", "the query has X-Amz-Signature=abc"},
		{"markdown", "**Password**: `hunter2`", "**Password**: `[REDACTED:password]`"},
		{"prose", "API key: a1b2c3d4e5f6", "API key: [REDACTED:secret]"},
		{"python bytes", `TOKEN = b'a1b2c3d4e5'`, `TOKEN = b'[REDACTED:secret]'`},
		{"aws secret", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY",
			"aws_secret_access_key = [REDACTED:secret]"},
		{"npmrc", "//r.test/:_authToken=a1b2c3d4-0000-4000-8000-123456789abc",
			"//r.test/:_authToken=[REDACTED:secret]"},
		{"two in one", "password=hunter2 token=a1b2c3d4e5",
			"password=[REDACTED:password] token=[REDACTED:secret]"},
		{"punctuation", `password: "tr0ub4dor&3"`, `password: "[REDACTED:password]"`},
		{"colour", "password=\x1b[31mhunter2\x1b[0m", "password=[REDACTED:password]"},
		{"key and format", `token: "` + "ghp" + "_" + rep("aB3", 36) + `"`,
			`token: "[REDACTED:github]"`},
		{"next line is no part",
			"a line that is as long as a terminal has columns at least, " +
				"password=hunter2xyz\nword2 word2",
			"a line that is as long as a terminal has columns at least, " +
				"password=[REDACTED:password]\nword2 word2"},
		{"next line is a part",
			"a line that is as long as a terminal has columns at least, " +
				"password=hunter2xyz\n9Kq81zz ok",
			"a line that is as long as a terminal has columns at least, " +
				"password=[REDACTED:password]\n[REDACTED:password] ok"},
		{"cut literal", `password: "hunter2`, `password: "[REDACTED:password]`},
		{"partly marked", `password: "[REDACTED:x]hunter2"`, `password: "[REDACTED:password]"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := mustText(t, c.in); out != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
		})
	}
}

func TestPEM(t *testing.T) {
	begin, end := "-----BEGIN RSA PRIVATE "+"KEY-----", "-----END RSA PRIVATE "+"KEY-----"
	body := strings.Repeat(rep("aB3+/", 64)+"\n", 12)
	whole := begin + "\n" + body + end
	mark := "[REDACTED:pem]"
	source := `"` + begin + `\n" +` + "\n\t" + `"` + rep("aB3", 64) + `\n" +` + "\n\t" + `"` +
		rep("aB3", 64) + `\n`
	for _, c := range []struct{ name, in, want string }{
		{"whole", "a\n" + whole + "\nb", "a\n" + mark + "\nb"},
		{"escaped", `{"private_key":"` + strings.ReplaceAll(whole, "\n", `\n`) + `\n"}`,
			`{"private_key":"` + mark + `\n"}`},
		{"encrypted", begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + body + end,
			mark},
		{"diff", "+" + strings.ReplaceAll(whole, "\n", "\n+"), "+" + mark},
		{"cut off", begin + "\n" + body + "done, ok", mark + "\ndone, ok"},
		{"cut off in source", source, `"` + mark + `\n`},
		{"two", whole + "\n" + whole, mark + "\n" + mark},
		{"public", strings.ReplaceAll(whole, "PRIVATE", "PUBLIC"),
			strings.ReplaceAll(whole, "PRIVATE", "PUBLIC")},
		{"mention", begin + " and " + end + " enclose it", begin + " and " + end + " enclose it"},
		{"mention alone", "starts with " + begin, "starts with " + begin},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := mustText(t, c.in); out != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
		})
	}
}

// TestDeveloperText has text that must stay unchanged.
func TestDeveloperText(t *testing.T) {
	for _, in := range strings.Split(strings.TrimSpace(developerText), "\n") {
		if out, found := mustText(t, in); out != in {
			t.Errorf("changed %v\n from %s\n to   %s", found, in, out)
		}
	}
}

const developerText = `
tokens: 431
token: 431
max_tokens=4096 num_tokens: 12345678 token_count=1e6
author: x12345678
authority: https://login.test/common/v2.0
authorization: required
password: string
Password string ` + "`json:\"password\"`" + `
password: string;
password?: string | null
password = os.Getenv("DB_PASSWORD1")
password = os.environ["DB_PASSWORD1"]
const password = process.env.DB_PASSWORD1
token = lexer.next()
token := p.tok2
token = next_token2(a, b)
tok, token := scanner.Scan(), scanner.Token
let token: Token2 = parse(x);
secret: ${VAR1}
secret: $VAR1
secret: {{ .Values.secret1 }}
secret: !vault my1secret
token: ${{ secrets.GITHUB_TOKEN }}
<password>
password=<password1>
password: ********
password: xxxxxxxx1
password: your-password-1
password: changeme123
token: null
token: true
token: undefined
token: 0x1F600
token: 12:30:45
key: value
key: a1b2c3d4e5f6a7b8
public_key: a1b2c3d4e5f6a7b8
primaryKey: "a1b2c3d4e5"
pwd=/home/x1
PWD=/home/x1/y2
OLDPWD=/srv/app2
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
9fceb02 fix: token: rename
123e4567-e89b-12d3-a456-426614174000
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
aGVsbG8gd29ybGQsIHRoaXMgaXMgb3JkaW5hcnkgYmFzZTY0Cg==
integrity: sha512-aGVsbG8gd29ybGQsIHRoaXMgaXMgb3JkaW5hcnkgYmFzZTY0Cg==
if token == "identifier1" {
if (password !== confirmPassword1) return
password = newPassword1
this.password = password2;
user.setPassword(password1)
login(username=user1, password=password1)
type Secret struct {
Secret: corev1.SecretVolumeSource{SecretName: "db-creds1"},
SecretKeyRef: &v1.SecretKeySelector{Key: "password"}
secretName: db-credentials-1
token: IDENTIFIER
token.IDENT: "identifier",
"token": "identifier",
"password": "string",
"password": "Enter your password:",
"password": "Password?",
autocomplete="new-password" type="password"
label: 'Password', name: 'password'
token_url: https://auth.test/oauth2/token
"token": "https://auth.test/oauth2/v1/token",
credentials: "service-account-123.json"
private_key: ./keys/id_rsa2.pem
private_key = rsa.GenerateKey(rand.Reader, 2048)
privateKey, err := x509.ParsePKCS8PrivateKey(b1)
nextPageToken: "CAUQAA1b2c3d4"
password_hash = sha256(password1)
password: sha256
token: utf8
std::string password = getpass1();
secret = hashlib.sha256(b).hexdigest()
secret: projects/p1/secrets/s2/versions/3
Bearer authentication is required for all endpoints
a bearer token, e.g. Authorization: Bearer <token>
Authorization: Bearer ${TOKEN1}
Authorization: Bearer $TOKEN1
Authorization: Basic realm="x1"
Basic usage2 of tokens
fmt.Sprintf("password=%s host=%s", p, h)
f"token={token1}"
the token: see section 4.2.1 for details
task-runner-sk-loading-spinner-container
npm_config_cache npm_lifecycle_event
hf_hub_download
SKIP SKU SK_OK
AKIA is the prefix of an access key
eyJ is how a token starts
map[string]string{"token": tok, "secret": sec}
func (t *Token) String() string { return t.value }
token: ":=",
case '=': token = ASSIGN2
password, err := term.ReadPassword(int(os.Stdin.Fd()))
--password-stdin --token-file=/run/t1
git log --format='%h: %s' token:x
secrets: inherit
x := a[token:]
{token: t.Token, pos: 12}
credentials: 'include'
credentials: "same-origin"
credential = DefaultAzureCredential()
AuthToken: cfg.AuthToken,
apiKey: config.apiKey1,
var rsaPrivateKey = test2048Key
PrivateKey: testEd25519PrivateKey,
private_key: ed25519.Ed25519PrivateKey,
ATTR_DIALOG_TOKEN = C.NL80211_ATTR_TDLS_DIALOG_TOKEN
Culture=neutral, PublicKeyToken=31bf3856ad364e35
"encryptionKey": "encryptionKey1024",
"secret": "\u3299\ufe0f",
--proxy scheme://[user:passwd@]proxy.server:port
api_key=args.api_key,
API_KEY=
password=
`

func TestControls(t *testing.T) {
	in := "a\x00b\tc\r\nd\x1b[1me\x7f\u0085\u009b1mé\u00a0\u200b\u202e"
	out, found := mustText(t, in)
	if want := "ab\tc\r\ndeé\u00a0\u200b\u202e"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if !slices.Equal(found, []Finding{{"control", 5}}) {
		t.Errorf("found %v", found)
	}
	out, found = mustText(t, "  x\xffy\xe2\x82 \n")
	if want := "  x\ufffdy\ufffd\ufffd \n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if !slices.Equal(found, []Finding{{"utf8", 3}}) {
		t.Errorf("found %v", found)
	}
	if out, _ := mustText(t, "\xc3\x00\xa9"); out != "\ufffd\ufffd" {
		t.Errorf("a removed control joined half runes: %q", out)
	}
}

func TestSplitByControl(t *testing.T) {
	for class, samples := range bareSamples() {
		for _, s := range samples {
			for _, c := range []string{"\x00", "\x7f", "\x1b[m", "\b\b", "\u009b7m",
				"\x1b]0;a\a"} {
				for _, at := range []int{1, 4, len(s) / 2, len(s) - 1} {
					out, _ := mustText(t, "x "+s[:at]+c+s[at:]+" y")
					if want := "x [REDACTED:" + class + "] y"; out != want {
						t.Errorf("%s split at %d by %q: %q", class, at, c, out)
					}
				}
			}
		}
	}
	if out, _ := mustText(t, "pass\x00word: hun\x01ter2"); out != "password: [REDACTED:password]" {
		t.Errorf("split pair: %q", out)
	}
}

func TestUnchangedIsSame(t *testing.T) {
	in := []byte("nothing to see\n")
	out, found, err := Text(in)
	if err != nil || found != nil || &out[0] != &in[0] {
		t.Errorf("clean text was copied: %v %v", found, err)
	}
	if out, found, err := Text(nil); err != nil || len(out) != 0 || found != nil {
		t.Errorf("empty text: %q %v %v", out, found, err)
	}
}

func TestFindingsAreSortedAndBare(t *testing.T) {
	key := "ghp" + "_" + rep("aB3", 36)
	_, found := mustText(t, "\x00 password=hunter2 "+key+" "+key)
	if want := []Finding{{"control", 1}, {"github", 2},
		{"password", 1}}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\nb\tc\u2028d\x1be\u009bf\u202eg\u2066h\U000e0041i é日"),
		"a b c d\ufffde\ufffdf\ufffdg\ufffdh\ufffdi é日"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEscape(t *testing.T) {
	if got, want := Escape("a<b> & ```go\n`x` </context_clusters>"),
		"a&lt;b&gt; &amp; '''go\n`x` &lt;/context_clusters&gt;"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
