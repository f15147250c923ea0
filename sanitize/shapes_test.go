package sanitize

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// shapes are the ways in which files have, and tools print and take, a name (%n) and its value
// (%v). %c is the name in camel case, %b the value in base64.
var shapes = []struct{ kind, text string }{
	{"env file", "A=1\n%n=%v\nB=2\n"}, {"env file", "%n='%v'\n"}, {"env file", "%n: \"%v\"\n"},
	{"sh", "export %n=%v"}, {"sh", "export %n=\"%v\" && make"}, {"sh", "%n=%v ./run.sh"},
	{"sh", "declare -x %n=\"%v\""}, {"sh", "env %n=%v make deploy"}, {"sh", "read -r %n <<< '%v'"},
	{"csh", "setenv %n %v"}, {"csh", "setenv %n \"%v\";"},
	{"fish", "set -gx %n %v"}, {"fish", "set -x %n '%v'"}, {"fish", "set -Ux %n %v\n"},
	{"fish", "set --global --export %n \"%v\""},
	{"PowerShell", "$env:%n = '%v'"}, {"PowerShell", "$Env:%n=\"%v\""},
	{"PowerShell", "[Environment]::SetEnvironmentVariable('%n', '%v', 'User')"},
	{"PowerShell", "Set-Item -Path Env:%n -Value %v"},
	{"PowerShell", "ConvertTo-SecureString '%v' -AsPlainText -Force"},
	{"cmd", "setx %n %v"}, {"cmd", "setx %n \"%v\" /M"}, {"cmd", "set %n=%v"},
	{"wrapped", "%n: Some(\"%v\"),"}, {"wrapped", "%n = Some(\"%v\".to_string())"},
	{"wrapped", "%n = Just \"%v\""}, {"wrapped", "%n=SecretStr('%v')"}, {"wrapped", "%n=Optional[%v]"},
	{"wrapped", "%n:(*string)(\"%v\")"}, {"wrapped", "auto %n = std::string(\"%v\");"},
	{"wrapped", "std::string %n{\"%v\"};"}, {"wrapped", "[\"%n\"]=>\n  string(20) \"%v\""},
	{"typed", "public string %c { get; set; } = \"%v\";"}, {"typed", "Dim %c As String = \"%v\""},
	{"aws", `{"Name":"/prod/db","Type":"SecureString","Value":"%v"}`},
	{"aws", `{"Name":"db","SecretString":"%v"}`}, {"nomad", "Secret ID    = %v"},
	{"kubectl", `{"apiVersion":"v1","data":{"admin":"%b"},"kind":"Secret"}`},
	{"kubectl", `{"kind": "Secret", "stringData": {"a": "x-%b", "b": "y-%b"}}`},
	{"csrf", `<meta name="csrf-token" content="%v%v">`}, {"csrf", "X-CSRF-Token: %v%v"},
	{"vault", "Key        Value\n---        -----\n%n        %v\n"},
	{"nushell", "$env.%n = '%v'"}, {"nushell", "load-env { %n: '%v' }"},
	{"Dockerfile", "FROM a\nENV %n %v\nRUN b"}, {"Dockerfile", "ENV %n=%v"},
	{"Dockerfile", "ARG %n=%v"}, {"Dockerfile", "ENV A=b \\\n    %n=%v"},
	{"docker", "docker run -e %n=%v img"}, {"docker", "docker run --env '%n=%v' img"},
	{"docker", "docker build --build-arg %n=%v ."},
	{"docker", "echo '%v' | docker login -u bob --password-stdin registry.test"},
	{"docker", "printf %s %v | docker login -u bob --password-stdin"},
	{"docker", "printf '%s\\n' '%v' | docker login -u bob --password-stdin"},
	{"docker", "printf \"%b\" \"%v\" | podman login -u bob --password-stdin"},
	{"passwd", "printf '%s\\n%s\\n' '%v' '%v' | sudo passwd bob"},
	{"docker", "docker login -u bob -p %v registry.test"},
	{"docker", "docker login --username bob --password '%v'"},
	{"docker", "printf \"%v\" | docker secret create db_password -"},
	{"compose", "services:\n  db:\n    environment:\n      - %n=%v\n"},
	{"compose", "    environment:\n      %n: '%v'\n"},
	{"gh", "gh secret set %n --body \"%v\""}, {"gh", "gh secret set %n -b%v -R a/b"},
	{"gh", "gh secret set %n -b '%v'"}, {"gh", "echo \"%v\" | gh secret set %n"},
	{"gh", "gh secret set %n <<< '%v'"}, {"gh", "gh auth login --with-token <<< %v"},
	{"gh", "echo %v | gh auth login --with-token"},
	{"aws", "aws configure set aws_secret_access_key %v"},
	{"aws", "aws ssm put-parameter --name /app/%n --value '%v' --type SecureString"},
	{"aws", "aws secretsmanager create-secret --name %n --secret-string \"%v\""},
	{"aws", "AWS Secret Access Key [None]: %v"},
	{"gcloud", "echo -n \"%v\" | gcloud secrets create %n --data-file=-"},
	{"az", "az keyvault secret set --vault-name v --name %n --value \"%v\""},
	{"heroku", "heroku config:set %n=%v -a app"}, {"fly", "fly secrets set %n=%v"},
	{"vercel", "echo %v | vercel env add %n production"},
	{"wrangler", "echo \"%v\" | wrangler secret put %n"},
	{"kubectl", "kubectl create secret generic s --from-literal=%n=%v"},
	{"kubectl", "kubectl create secret generic s --from-literal='%n=%v'"},
	{"kubectl", "kubectl create secret docker-registry r --docker-username=u --docker-password=%v"},
	{"kubectl", "  containers:\n  - env:\n    - name: %n\n      value: \"%v\"\n"},
	{"kubectl", "kind: Secret\nmetadata:\n  name: a\ndata:\n  %n: %b\n"},
	{"kubectl", "Environment:\n      %n:   %v\n      A:  b\n"},
	{"helm", "helm install a b --set auth.%c=%v"},
	{"vault", "Key          Value\n---          -----\n%n  %v\n"},
	{"vault", "vault kv put secret/app %n=%v"}, {"vault", "vault kv put secret/app %n=\"%v\""},
	{"doppler", "│ NAME │ VALUE │\n├──────┼───────┤\n│ %n │ %v │\n"},
	{"doppler", "┃ id ┃ %n ┃\n┡━━━━╇━━━━┩\n│ 1 │ %v │\n"},
	{"terraform", "{\"%n\":{\"sensitive\":true,\"type\":\"string\",\"value\":\"%v\"}}"},
	{"terraform", "  \"%n\": {\n    \"sensitive\": true,\n    \"value\": \"%v\"\n  }\n"},
	{"aws", "{\"Name\":\"/app/%n\",\"Type\":\"SecureString\",\"Value\":\"%v\"}"},
	{"html", "<input type=\"password\" name=\"pw\" value=\"%v\">"},
	{"multipart", "Content-Disposition: form-data; name=\"%n\"\r\n\r\n%v\r\n--x"},
	{"curl", "curl -b 'sessionid=%v; a=b' https://a.test"}, {"curl", "curl --cookie sid=%v a.test"},
	{"comparison", "if user == \"bob\" and %c == \"%v\":"},
	{"comparison", "if (%c !== '%v') return"}, {"comparison", "assert settings['%n'] != \"%v\""},
	{"rust", "let %c = Some(\"%v\");"}, {"rust", "%c: SecretString::from(\"%v\"),"},
	{"python", "%c = SecretStr(\"%v\")"}, {"numbered", "%n 2: %v\n"},
	{"redis", "127.0.0.1:6379> AUTH %v\nOK\n"}, {"redis", "AUTH bob %v\n"},
	{"prose", "Das Passwort lautet %v"}, {"prose", "**Kennwort:** %v"}, {"prose", "mot de passe : %v"},
	{"prose", "la contraseña es %v"}, {"prose", "密码是 %v"}, {"prose", "パスワード: %v"},
	{"prose", "пароль: \"%v\""}, {"prose", "비밀번호는 %v"},
	{"yaml", "%n: %v\n"}, {"yaml", "  %c: '%v'\n"}, {"yaml", "- %n: \"%v\"\n"},
	{"yaml", "%n: >-\n  %v\n"}, {"toml", "%n = \"%v\"\n"}, {"ini", "[a]\n%n = %v\n"},
	{"ini", "[a]\n%n=%v\n"}, {"properties", "app.%c=%v\n"}, {"properties", "app.%c = %v\n"},
	{"json", `{"%n":"%v"}`}, {"json", "{\n  \"%c\": \"%v\",\n  \"a\": 1\n}"},
	{"json", `[{"name":"%n","value":"%v"}]`}, {"json", `{"Name": "%n", "Value": "%v"}`},
	{"json", `{\"%n\":\"%v\"}`}, {"json", `{"value":"%v","name":"%n"}`},
	{"json", `{"key": "%n", "type": "plain", "value": "%v"}`},
	{"json", `{"ParameterKey":"%n","ParameterValue":"%v"}`},
	{"json", `{"environment":[{"name":"A","value":"b"},{"name":"%n","value":"%v"}]}`},
	{"tfstate", `{"type":"random_password","instances":[{"attributes":{"result":"%v","length":20}}]}`},
	{"tfstate", "\"type\": \"random_password\",\n\"instances\": [{\n\"attributes\": {\n\"length\": 20,\n\"result\": \"%v\"\n"},
	{"terraform", "variable \"%n\" {\n  type = string\n  default = \"%v\"\n}\n"},
	{"terraform", "TF_VAR_%n=%v terraform apply"}, {"terraform", "terraform apply -var='%n=%v'"},
	{"terraform", "terraform apply -var \"%n=%v\""}, {"terraform", "%n = \"%v\"\n"},
	{"xml", "<%c>%v</%c>"}, {"xml", "<property name=\"%c\" value=\"%v\"/>"},
	{"xml", "<add key=\"%c\" value=\"%v\" />"}, {"xml", "<entry key=\"%c\">%v</entry>"},
	{"xml", "<user name=\"a\" password=\"%v\"/>"},
	{"xml", "<string name=\"%n\">%v</string>"}, {"plist", "<key>%n</key>\n<string>%v</string>"},
	{"csv", "id,name,%n\n1,bob,%v\n2,eve,%v\n"}, {"csv", "\"id\",\"%n\",\"x\"\n\"1\",\"%v\",\"y\"\n"},
	{"csv", "id;%n;x\n1;%v;y\n"}, {"tsv", "id\t%n\tx\n1\t%v\ty\n"},
	{"psql", " id | %n | x\n----+-----+---\n  1 | %v | y\n"},
	{"mysql", "+----+-----+\n| id | %n |\n+----+-----+\n|  1 | %v |\n"},
	{"columns", "USER    %n                   ROLE\nbob     %v      admin\n"},
	{"sqlite", "  %n = %v\n"}, {"markdown", "| %n | %v |\n"},
	{"header", "X-Api-Key: %v"}, {"header", "Authorization: Bearer %v"},
	{"header", "Authorization: Token %v"}, {"header", "> PRIVATE-TOKEN: %v\r\n"},
	{"curl", "curl -u bob:%v https://a.test"}, {"curl", "curl -H 'X-Api-Key: %v' https://a.test"},
	{"curl", "curl --user 'bob:%v' https://a.test"}, {"curl", "curl https://a.test -d '%n=%v'"},
	{"curl", "curl -d '{\"%c\":\"%v\"}' https://a.test"}, {"wget", "wget --password=%v https://a.test"},
	{"wget", "wget --http-password '%v' https://a.test"}, {"http", "http -a bob:%v https://a.test"},
	{"url", "https://bob:%v@a.test/x"}, {"url", "https://a.test/x?%n=%v&y=1"},
	{"url", "https://%v@github.com/a/b.git"}, {"url", "redis://:%v@a.test:6379/0"},
	{"jdbc", "jdbc:postgresql://a.test/db?user=bob&password=%v"},
	{"jdbc", "jdbc:sqlserver://a.test;databaseName=d;user=sa;password=%v;"},
	{"jdbc", "jdbc:oracle:thin:bob/%v@//a.test:1521/x"},
	{"odbc", "Driver={SQL Server};Server=a;Database=b;Uid=sa;Pwd=%v;"},
	{"odbc", "Server=a;User Id=sa;Password=%v;Trusted_Connection=no"},
	{"dsn", "host=a port=5432 user=bob password=%v dbname=x"}, {"dsn", "bob:%v@tcp(a.test:3306)/x"},
	{"amqp", "amqp://bob:%v@a.test:5672/v"}, {"mongo", "mongodb+srv://bob:%v@a.test/x?w=1"},
	{"netrc", "machine a.test\n  login bob\n  password %v\n"},
	{"netrc", "machine a.test login bob password %v"}, {"pgpass", "a.test:5432:app:bob:%v\n"},
	{"npmrc", "//registry.npmjs.org/:_authToken=%v"}, {"npmrc", "_password = \"%v\""},
	{"npm", "npm config set //registry.npmjs.org/:_authToken %v"},
	{"npm", "npm config set //a.test/:_authToken=%v"},
	{"pip", "[global]\nindex-url = https://bob:%v@a.test/simple\n"},
	{"pypirc", "[pypi]\nusername = bob\npassword = %v\n"}, {"git", "git config --global user.%c %v"},
	{"mysql", "mysql -u root -p%v shop"}, {"mysql", "mysqldump --password=%v shop"},
	{"psql", "PGPASSWORD=%v psql -h a"}, {"sshpass", "sshpass -p '%v' ssh a@b.test"},
	{"sql", "ALTER USER bob WITH PASSWORD '%v';"}, {"sql", "CREATE USER b IDENTIFIED BY '%v';"},
	{"redis", "redis-cli -a %v ping"}, {"redis", "requirepass %v"}, {"sudo", "echo '%v' | sudo -S ls"},
	{"openssl", "openssl enc -aes-256-cbc -pass pass:%v -in a"},
	{"gpg", "gpg --batch --passphrase '%v' -d a.gpg"}, {"chpasswd", "echo 'bob:%v' | chpasswd"},
	{"keytool", "keytool -list -keystore a.jks -storepass %v"}, {"net use", "net use Z: \\\\a\\b /user:bob %v"},
	{"php", "define('%n', '%v');"}, {"php", "define( \"%n\", \"%v\" );"},
	{"php", "'%n' => '%v',"}, {"php", "$config['%n'] = '%v';"}, {"php", "putenv('%n=%v');"},
	{"java", "String %c = \"%v\";"}, {"java", "System.setProperty(\"%c\", \"%v\");"},
	{"c#", "var %c = \"%v\";"}, {"c#", "public const string %c = @\"%v\";"},
	{"c", "#define %n \"%v\""}, {"go", "%c := \"%v\""}, {"go", "const %c string = `%v`"},
	{"go", "os.Setenv(\"%n\", \"%v\")"}, {"go", "Config{%c: \"%v\"}"},
	{"python", "%n = \"%v\""}, {"python", "os.environ['%n'] = '%v'"},
	{"python", "os.environ.get(\"%n\", \"%v\")"}, {"python", "connect(user='a', password='%v')"},
	{"js", "process.env.%n = '%v';"}, {"js", "process.env.%n || '%v'"}, {"js", "const %c = '%v';"},
	{"ruby", "ENV['%n'] ||= '%v'"}, {"ruby", "ENV.fetch('%n', '%v')"},
	{"rust", "let %c: &str = \"%v\";"}, {"gradle", "credentials {\n  username 'bob'\n  password '%v'\n}"},
	{"gradle", "buildConfigField 'String', '%n', '\"%v\"'"}, {"swift", "let %c: String = \"%v\""},
	{"log", "2026-01-02 INFO login password: %v"}, {"log", "level=info %c=%v user=a"},
	{"log", "using %n %v"}, {"log", "DEBUG %n is %v"}, {"prompt", "Enter %n: %v"},
	{"flag", "deploy --api-key %v --to a"}, {"flag", "deploy --password=%v"},
	{"flag", "deploy --token '%v'"}, {"cookie", "Cookie: a=b; sessionid=%v"},
	{"nginx", "proxy_set_header X-Api-Key \"%v\";"}, {"nginx", "fastcgi_param %n %v;"},
	{"apache", "SetEnv %n %v"}, {"systemd", "Environment=\"%n=%v\""},
	{"crontab", "%n=%v\n0 * * * * run"}, {"ansible", "%n: \"%v\"  # vault"},
	{"ansible", "ansible-playbook a.yml -e %n=%v"}, {"jenkins", "string(name: '%n', value: '%v')"},
	{"travis", "env:\n  global:\n    - %n=%v\n"}, {"make", "%n := %v\n"}, {"make", "%n ?= %v\n"},
	{"diff", "-%n=old\n+%n=%v\n"}, {"grep", "config/.env:3:%n=%v\n"}, {"cat -n", "     3\t%n=%v\n"},
	{"toml inline", "db = { user = \"a\", %n = \"%v\" }"},
}

// shapeNames are names that say what their values are.
var shapeNames = []string{"DB_PASSWORD", "API_KEY", "STRIPE_SECRET_KEY", "ACCESS_TOKEN",
	"client_secret", "db_password", "DATADOG_API_KEY", "auth_token"}

// shapeValues are templates of fill: what people and services choose.
var shapeValues = []string{"{n20}", "{n32}", "{h32}", "{x24}", "{n40}", "{h40}", "{u43}", "{n16}"}

// shapeOf returns a shape with a name and a value, and the value as the text has it.
func shapeOf(r *rand.Rand, text string) sample {
	name := pick(r, shapeNames...)
	v := fill(r, pick(r, shapeValues...))
	secrets := []string{v}
	if strings.Contains(text, "%b") {
		secrets = []string{base64.StdEncoding.EncodeToString([]byte(v))}
	}
	words := strings.ToLower(strings.ReplaceAll(name, "_", " "))
	return sample{text: strings.NewReplacer("%n", name, "%c", lowerCamel(words), "%v", v, "%b",
		base64.StdEncoding.EncodeToString([]byte(v))).Replace(text), secrets: secrets}
}

// TestShapes puts a name and a value into every shape. A shape that catches less than half is a
// fault by itself; all together catch 98 %. CTX_MISSES=1 shows a miss of each.
func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(recallSeed, 7))
	var all score
	for _, shape := range slices.Concat(shapes, commandShapes) {
		var c score
		missed := ""
		for range 16 {
			s := shapeOf(r, shape.text)
			out := cleaned(t, s.text, false)
			c.tried++
			if leaked(s, out) == "" {
				c.caught++
			} else {
				missed = out
			}
		}
		all.add(c)
		if missed != "" && number("CTX_MISSES", 0) > 0 {
			t.Logf("%s%% %s: %q", c, shape.kind, missed)
		}
		if 2*c.caught < c.tried {
			t.Errorf("%s: %s%% of %d are caught in %q", shape.kind, c, c.tried, shape.text)
		}
	}
	t.Logf("%s%% of %d", all, all.tried)
	if 100*all.caught < 98*all.tried {
		t.Errorf("%s%% of %d are caught", all, all.tried)
	}
}

// TestVendors puts values beside the name of a service, with and without a word that says what they
// are. Ten of the names have rules of their own nowhere.
func TestVendors(t *testing.T) {
	names := []string{"datadog", "mailjet", "algolia", "mixpanel", "pagerduty", "browserstack",
		"nicereply", "clockify", "lokalise", "storyblok", "shodan", "pandadoc"}
	r := rand.New(rand.NewPCG(recallSeed, 8))
	var all score
	for _, text := range []string{"%s SECRET %v", "%sKEY %v", "%s-token-%v", "%s_key = %v",
		"%s ACCESS TOKEN %v", "%s: %v", "%s=%v", "%s = '%v'", "%s private key %v", "%s api key: %v",
		"%sACCESS=%v", "%s_private=%v", "%s_search_key = %v", "%s %v"} {
		var c score
		for _, name := range names {
			for _, form := range []string{"{h32}", "{x32}", "{n24}", "{h40}"} {
				v := fill(r, form)
				out := cleaned(t, strings.NewReplacer("%s", name, "%v", v).Replace(text), false)
				c.tried++
				if leaked(sample{secrets: []string{v}}, out) == "" {
					c.caught++
				}
			}
		}
		all.add(c)
		t.Logf("%s%% of %d: %s", c, c.tried, text)
	}
	if 100*all.caught < 85*all.tried {
		t.Errorf("%s%% of %d are caught", all, all.tried)
	}
}

// TestEncodedKeys has private keys and credentials in base64, in one line and in several.
func TestEncodedKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(recallSeed, 9))
	lines := func(s string) string {
		var out strings.Builder
		for len(s) > 76 {
			out.WriteString(s[:76] + "\n")
			s = s[76:]
		}
		return out.String() + s + "\n"
	}
	encode := base64.StdEncoding.EncodeToString
	for _, plain := range []string{
		"-----BEGIN RSA PRIVATE " + "KEY-----\n" + lines(fill(r, "{b800}")) +
			"-----END RSA PRIVATE " + "KEY-----\n",
		"-----BEGIN PRIVATE " + "KEY-----\n" + fill(r, "{b64}") + "\n-----END PRIVATE " + "KEY-----\n",
		"-----BEGIN OPENSSH PRIVATE " + "KEY-----\n" + lines(fill(r, "{b400}")) + "-----END",
		`{"type": "service_account", "client_secret": "` + fill(r, "{n40}") + `", "n": 1}`,
		`{"auths":{"a.test":{"username":"me","password":"` + fill(r, "{n24}") + `"}}}`,
	} {
		once := encode([]byte(plain))
		for _, text := range []string{once, "KEY_B64=" + once, lines(once), encode([]byte(once)),
			`{"key":"` + once + `"}`, "  tls.key: " + once + "\n"} {
			out := cleaned(t, text, false)
			for at := 0; at+40 < len(text); at += 20 {
				if part := text[at : at+20]; strings.Contains(out, part) && strings.Contains(
					"A"+once+encode([]byte(once)), part) {
					t.Errorf("%q is left of %.60q", part, text)
					break
				}
			}
		}
	}
	for _, harmless := range []string{encode([]byte("-----BEGIN CERTIFICATE-----\n" +
		fill(r, "{b800}"))), encode([]byte(`{"cursor": 120, "order": "by date and then by name"}`))} {
		if out := cleaned(t, harmless, false); out != harmless {
			t.Errorf("%.60q is taken for a secret", harmless)
		}
	}
}

// TestNoShapes has texts that look like a name and a value, and columns, and are neither.
func TestNoShapes(t *testing.T) {
	hash := "4f3c2a1b9d8e7f60514233241506a7b8c9d0e1f2"
	for _, text := range []string{
		"search_key = " + hash, "sortKey=" + hash, "access=readonly", "access: read-write-2024",
		"net user growth in 2024q1 was small", "docker run -p 8080:80 -e A=b web-2024a1",
		"zip -r -9 build-a1b2c3.zip dir", "cargo login with the token of your account",
		"{\"user\":\"a\",\"out\":\"--- PASS: TestIs/7_hex_chars_num3\"}", "unzip -P <password> a.zip",
		"vault.getSecret(\"prod/db1x2/name3\")", "req.SetBasicAuth(\"user\", \"password\")",
		"run wandb login first and then look at the curves of run-2024-a1b2c3",
		"sqlplus /nolog @scripts/setup2024.sql", "smbclient -U bob //a/share-2024a1",
		"curl -u user:pass https://a.test", "rar a -r build-2024a1.rar dir", "b.pass(\"a1b2c3d4\")",
		"host: a.test\ntests:\n  run: a  pass: 12b4c6d8\n",
		"the token must not be longer than 64 bytes", "password reset2fa flow", "a secret handshake",
		"#define TEST_PASS\t\t0x00800000", "struct passwd pwd;\n\tstruct passwd *result;\n",
		"func auth(token string, key []byte) error", "cache key " + hash, "commit " + hash,
		"github.com/DataDog/zstd v1.5.0 h1:+K/VEwIAaPcHiMtQvpLD4lqW7f0Gk3xdYZmI1hD+CXo=",
		"stripe: 123e4567-e89b-12d3-a456-426614174000", "sentry = require('./sentry/main.js')",
		"{[key: string]: StringWithLengthBetween1And2048}", "Column: ColumnValueStringsList",
		"[\"GatewayARN\",\"ClientToken\",\"NumTapesToCreate\"]", "id,name,password\n1,bob,\n",
		"arn:aws:secretsmanager:us-east-1:012345678901:secret:prod/db-a1b2c3",
		"gh secret set NAME --body \"$VALUE\"", "echo \"$TOKEN\" | docker login --password-stdin",
		"setx PATH C:\\a1b2c3d4", "ENV DB_PASSWORD_FILE /run/secrets/db1", "password ********",
		"Key          Value\n---          -----\ntoken_policies  [default]\n",
		"NAME    TOKEN   AGE\nhost-1  <none>  12d\n",
		"Das Passwort ist falsch", "mot de passe : requis", "пароль: строка", "密码: string",
		"git checkout -b feature=one", "curl -b cookies.txt https://a.test", "> AUTH required",
		"│ password │ string │", "│ src/token.go │ 120 │ 3f9a1c52 │", "│   └── password_test.go\n",
		"{\"token\":{\"kind\":\"ident\",\"value\":\"getUserName\"}}",
		"{\"type\":\"token\",\"value\":\"const\"}", "<input type=\"password\" value=\"\">",
	} {
		if out, found := mustText(t, text); out != text {
			t.Errorf("%q is %q: %v", text, out, found)
		}
	}
}
