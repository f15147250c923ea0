package sanitize

import (
	"strings"
	"testing"
)

// announced are the shapes in which prompts, sentences, protocols and tests have a password (%v)
// with words between it and the word that says so.
var announced = []string{
	"Password for 'https://bob@github.test': %v", "Password for bob: %v",
	"[sudo] password for bob: %v", "Enter passphrase for key '/home/bob/.ssh/id_ed25519': %v",
	"Your password is: %v", "The password has been set to %v", "password changed to %v.",
	"Admin credentials: admin / %v", "creds bob/%v", "user=bob pass=%v", "pw: %v", "// pw is %v",
	"Grafana admin password → %v", "The temporary password for user bob is `%v`",
	"A temporary password is generated for root@localhost: %v", "password (for the admin): %v",
	"Password [none]: %v", "Password (again): %v", "Password> %v", "password set: %v",
	"pass phrase: %v", "password：%v", "    Key Content            : %v",
	"password: !!str %v", "password: &pw %v", "password = \"\"\"%v\"\"\"", "password = '''%v'''",
	"  ~ password = \"old2Lamp\" -> \"%v\"", "masterauth %v", "bindpw %v", "rootpw %v",
	"ACL SETUSER bob on >%v ~* +@all", "CREATE USER bob IDENTIFIED BY \"%v\";",
	"CREATE USER bob IDENTIFIED BY %v;", "db.auth(\"bob\", \"%v\")", "login('bob', '%v')",
	"PASS %v", "C: PASS %v", "a1 LOGIN bob %v", "a1 LOGIN \"bob\" \"%v\"",
	"/msg NickServ IDENTIFY %v", "bob : PSK \"%v\"", "SQL> connect scott/%v",
	"CONNECT scott/%v@XE", "net use Z: \\\\h\\s %v /user:bob", "::add-mask::%v",
	"username admin password 0 %v", "snmp-server community %v RO", " password | %v",
	"-[ RECORD 1 ]-+------\nuser          | bob\npassword      | %v\n",
	".a.test\tTRUE\t/\tTRUE\t1790000000\tsessionid\t%v%v",
	"page.fill('#password', '%v')", "await page.type(\"input[type=password]\", \"%v\")",
	"cy.get('[name=password]').type('%v')", "fill_in \"Password\", with: \"%v\"",
	"driver.find_element(By.ID, \"password\").send_keys(\"%v\")",
	"I fill in \"Password\" with \"%v\"", "try %v as the password", "%v is the password",
	"set the root password to %v and restart", "old password was %v, new one too",
	"creds: root %v", "login with bob / %v", "log in as admin with %v", "ssh root at host, pw %v",
	"$ argocd admin initial-password -n argocd\n%v\n", "Use this password to go on:\n\n%v\n\n",
	"$ gcloud secrets versions access latest --secret=db-pass\n%v", "$ openssl rand -hex 16\n%v\n",
	"ALTER USER 'root' IDENTIFIED WITH mysql_native_password BY '%v';",
	"curl -ku admin:%v https://localhost:9200", "static const char password[] = \"%v\";",
	"DriverManager.getConnection(url, \"sa\", \"%v\");", "new PDO($dsn, 'root', '%v')",
	"mysqli_connect('localhost', 'root', '%v', 'app');", "WiFi.begin(\"home\", \"%v\");",
}

// drawn are shapes of which the value is a password only if it was drawn by lot.
var drawn = []string{"createHmac('sha256', '%v')", "hmac.new(b'%v', msg)",
	"jwt.sign({ id: 'bob' }, '%v')"}

func TestAnnounced(t *testing.T) {
	for _, shape := range announced {
		for _, v := range []string{"Xk29fLmqQz81", "hunter2Blue!", "7fQ2mZp9Lk3VxR8tWb4N"} {
			text := "ran\n" + strings.ReplaceAll(shape, "%v", v) + "\nend\n"
			if out, _ := mustText(t, text); strings.Contains(out, v) {
				t.Errorf("%q stays in %q", v, shape)
			}
		}
	}
	for _, shape := range drawn {
		const v = "7fQ2mZp9Lk3VxR8tWb4N"
		if out, _ := mustText(t, strings.ReplaceAll(shape, "%v", v)); strings.Contains(out, v) {
			t.Errorf("%q stays in %q", v, shape)
		}
	}
	const digits = "8c41f7e09b6d2a35c71e04fd8a96b3e2"
	for _, shape := range []string{"> AUTH %v", "a1 LOGIN bob %v", "the password of bob is %v"} {
		text := "ran\n" + strings.ReplaceAll(shape, "%v", digits) + "\nend"
		if out, _ := mustText(t, text); strings.Contains(out, digits) {
			t.Errorf("%q stays in %q", digits, shape)
		}
	}
	for _, text := range []string{
		"the password file has the md5 sum: " + digits, "$ git rev-parse HEAD\n" + digits,
		"the password check calls DeriveKeyV2With3DES first", "$ ls\nXk29fLmqQz81\n",
		"PASS src/a1.test.js", "PASS TestLogin2 (0.01s)", "--- PASS: TestPassword2 (0.00s)",
		"pass: 12, fail: 3", "tests pass=3f9a1c52", "password hashing took: 123.45ms",
		"Checking the password against: https://a.test/v1", "password reset at: 2026-01-02T10:00:00Z",
		"the password file is: /etc/shadow2", "password for the admin: see notes2024.md",
		"password_test.go:12: password for bob: want true", "password hash is argon2id",
		"password of release: v1.2.3-rc1", "password commit: 1a2b3c4d5e6f", "CONNECT a.test:443",
		"the password for it is required", "fill in \"Password\" with \"password\"",
		"page.fill('#password', user.password)", "createHmac('sha256', 'key')",
		"a.test\tTRUE\t/\tFALSE\t0\tlang\ten", "credentials: see docs/setup2",
		"password = \"a\" -> \"b\"", "LOGIN required", "Password strength: 3/4",
	} {
		if out, found := mustText(t, text); out != text {
			t.Errorf("%q is %q: %v", text, out, found)
		}
	}
}
