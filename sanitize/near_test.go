package sanitize

import (
	"strings"
	"testing"
)

// TestNear puts values that a person or a generator makes in reach of words that tell of a secret,
// in forms that no rule knows.
func TestNear(t *testing.T) {
	values := []string{"Vq3xTz8LmK1wRb7Yc2", "orchard7Bell!", "4be19a07c35f82d6e01b7c94aa53f608"}
	for _, form := range []string{
		"feeder enrol --pass %v lab",
		"vault of the depot: secret for bob, then %v",
		"unlock the depot with %v as the passphrase",
		"the depot wants a password:\n\n%v\n\nKeep it.",
		"1) \"depotpassword\"\n2) \"%v\"",
		"$ depotctl show db_password\n%v\n",
		"$ sqlite3 depot.db \"select password from users\"\n%v\n",
		"<depot-password>\n%v\n</depot-password>",
		"set_depot_password('bob', '%v')",
	} {
		for _, v := range values {
			out, _, err := Text([]byte(strings.ReplaceAll(form, "%v", v)))
			if err != nil || strings.Contains(string(out), v) {
				t.Errorf("%q stays in %q: %q %v", v, form, out, err)
			}
		}
	}
	for i, v := range []string{values[0], values[1], values[0], values[1]} {
		in := []string{"depot:\n  api_key: ", "datadog: "}[i/2] + v
		if out, _, err := Text([]byte(in)); err != nil || strings.Contains(string(out), v) {
			t.Errorf("%q stays: %q %v", in, out, err)
		}
	}
	for _, form := range []string{
		"set the depot password to %v and restart it", "a senha do depot é %v", "das Passwort ist %v",
		"depot.fill('input[name=\"password\"]', '%v')", "the token of the depot password is %v",
		"setPassword(\"%v\")", "depot.set(\"depot_password\", \"%v\")", "depot set \"Password\" \"%v\"",
	} {
		const v = "heron27lake"
		out, _, err := Text([]byte(strings.ReplaceAll(form, "%v", v)))
		if err != nil || strings.Contains(string(out), v) {
			t.Errorf("%q stays in %q: %q %v", v, form, out, err)
		}
	}
	for _, form := range []string{
		"%v  # depot password", "%v <- token of the depot", "- %v (depot secret)", "keeper / %v",
		"username=keeper\n%v", "root:%v", "La clé du dépôt est %v", "ключ: %v", "passwd keeper <<< %v",
		"passwd keeper <<EOF\n%v\n%v\nEOF", "https://depot.example/a?sv=2022-11-02&sig=%v",
		"keeper,password\nbob,%v", "# keeper depot secret hours\nbob * %v *",
		"https://hooks.depot.example/lane/9/%v", "https://depot.example/bot%v/lane",
		"postgres://bob:Vq3x/%v@depot/lane", "depot --user bob:%v lane", "bob@depot.example:%v",
		"hashSync('%v', 12)", "document.cookie = \"sid=%v; path=/\"",
		`{"name": "Cookie", "value": "sid=%v"}`, "dd if=/dev/zero\n$ head -c 9 /dev/urandom | xxd\n%v",
		"$ npm token create\nmade a token\n\ttoken  %v", "irb(main):002:0> DEPOT_SECRET\n=> \"%v\"",
		"(gdb) p passwd\n$1 = 0x55d5 \"%v\"", ">>> secrets.token_hex(9)\n'%v'",
		"UPDATE lanes SET value='%v' WHERE name='depot_password'",
		"variable \"depot_token\" {\n  type = string\n  default = \"%v\"\n}",
		"[\"CMD\", \"mysqladmin\", \"ping\", \"-p%v\"]", "['mysql',\n '-u', 'bob',\n '-p%v']",
		"INSERT INTO keepers (name, password, at)\nVALUES ('bob', '%v', now());",
		"insert into `lanes`(`api_key`,`n`) values ('%v',1),('%v',2);",
		"Keeper Name,Access Password\nbob,%v", "name|secret_token\nbob|%v", "DEPOT_AUTH=%v depot lane",
		"depot.expect('Password:')\ndepot.sendline('%v')", "depot:auth(\"%v\")",
		"const depot = open('%v'); // live secret key", "use %v as the API key of the lane",
		"<KeeperPassword>\n  <Value>%v</Value>", "{\"label\": \"password\",\n \"value\": \"%v\"}",
		"Password of the keeper (see `man depot`):\n  %v", "Clave de acceso: %v",
		"Token made. Copy it now:\n\n    %v", "tacacs-server host 10.9.8.7 key %v",
		"Fernet(b\"%v\")", "depot_license_key: \"%v\"", "║ Password ║ %v ║",
		"depot %v\nIt was: password=%v\nand `%v`.",
		"&lt;password&gt;%v&lt;/password&gt; name=&quot;depot_token&quot; value=&quot;%v&quot;",
		"wrote /lane/password=%v.txt",
	} {
		const v = "Vq3xTz8LmK1wRb7Yc2"
		out, _, err := Text([]byte(strings.ReplaceAll(form, "%v", v)))
		if err != nil || strings.Contains(string(out), v) {
			t.Errorf("%q stays in %q: %q %v", v, form, out, err)
		}
	}
	for _, form := range []string{ // a value of eight characters drawn by lot is no name
		"depot enrol --pass %v lane", "Depot=lane;Password=%v;Hours=9", "depot password %v\n",
		"DEPOT_SECRET=%v", `"depot_token": "%v"`,
	} {
		for _, v := range []string{"bQ7xLm2z", "Zk3Wq9aT", "q7XbLkR2dW"} {
			out, _, err := Text([]byte(strings.ReplaceAll(form, "%v", v)))
			if err != nil || strings.Contains(string(out), v) {
				t.Errorf("%q stays in %q: %q %v", v, form, out, err)
			}
		}
	}
	for _, harmless := range []string{
		"Password *uint16\nLane     uint32", "User   string\nToken  string\nLane9x int",
		"https://github.com/bob/depot/blob/4be19a07c35f82d6e01b7c94aa53f6084be19a07/webhook.go",
		"Depot &quot;password&quot; &lt;b&gt; of the lane &amp; more", "password=lane.heron27.txt",
		"docker run --user 1000:1000 depot", "depot --token getToken64()", "Password = Sha256Sum",
		">>> len(token)\n43", "$ depot lane\nVq3xTz8LmK1wRb7Yc2",
		"the password hash is 4be19a07c35f82d6e01b7c94aa53f608",
		"pass it on\n\nreq_011CbTx8Vq3xTz8LmK1wRb7Y",
		"if token == Vq3xTz8LmK1wRb7Yc2 {",
		"the token has id 3f8a1c52-6f0e-4b7a-9a44-0d2b9c1f7e55",
		"tokens := make([]token, 0, maxBlockTokens+1)",
		"example.org/getpass v1.0.0 h1:Vq3xTz8LmK1wRb7Yc2uHs5NdPq9JfEa4Gk6Wt0Xo3Zi=",
		"WRONG_PASSWORD Status = 0xC000006A",
		"PasswordRules at https://example.org/rules/Section42",
		"[REDACTED:password] Vq3xTz8LmK1wRb7Yc2",
		"backup codes are printed in settings since 2026-01-02 at a1b2-c3d4",
		"The recovery code path handles error codes 1234-5678",
		"an OTP that this code must read with each test", "the 2FA page is at port 8080",
		"otp 26.2.1, elixir 1.17", "OTP key rotation is done", "OTP 4 test data sets",
		"session id: 019f0000-0000-7000-8000-000000000001", "backup code in src/backup2026.go",
	} {
		if out, _, err := Text([]byte(harmless)); err != nil || string(out) != harmless {
			t.Errorf("%q is %q: %v", harmless, out, err)
		}
	}
}

// TestRecovery has what gives a disk or a wallet back, which has no letters or only words.
func TestRecovery(t *testing.T) {
	for text, secret := range map[string]string{
		"    Password:\n      626417-690998-597146-519992-499059-492778-225863-528462":            "499059",
		"MNEMONIC=\"heron lake bell lane depot keeper orchard night gauge tide lamp pier\"":       "orchard",
		"Backup codes: 1234-5678 8765-4321 1122-3344":                                             "1122",
		"backup codes:\n1. 4f9d-22ab\n2. 8c1e-7d03\n3. 0b6a-91fe\n":                               "0b6a",
		"a recovery code is 9f3k-22mz-71qp":                                                       "9f3k",
		"My recovery codes:\n  38291-10293\n  19283-55621":                                        "55621",
		`{"backup_codes":["38291023","a93kd81x"]}`:                                                "a93kd81x",
		"TOTP key: KNSW G4TF OQQG S4ZA NVXX EZJA":                                                 "EZJA",
		"authenticator key: gezd gnbv gy3t qojq gezd gnbv gy3t qojq":                              "gy3t",
		"otp key JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP":                                                "JBSWY3",
		"mfa_seed: KNSWG4TFOQQGS4ZANVXXEZJA":                                                      "KNSWG4",
		"PHPSESSID=q8zr1mxv93lkpp2ttuuw7ya123":                                                    "q8zr1mxv",
		"Your seed phrase:\nheron lake bell lane depot keeper orchard night gauge tide lamp pier": "heron",
	} {
		if out, _, err := Text([]byte(text)); err != nil || strings.Contains(string(out), secret) {
			t.Errorf("%q stays: %q %v", secret, out, err)
		}
	}
}
