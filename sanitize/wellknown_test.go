package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWellKnown has tokens of common issuers, by their published forms, in prose, JSON, logs and
// code. The forms are written independently of the table that the rules use.
func TestWellKnown(t *testing.T) {
	uuid := "{h8}-{h4}-{h4}-{h4}-{h12}"
	r := rand.New(rand.NewPCG(13, 5))
	for class, forms := range map[string][]string{
		"google": {"AQ.Ab8RN6{u42}", "AIzaSy{u33}"},
		"aws": {"ABSK{b128}=", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b200}",
			"AKIA{A16}"},
		"azure":        {"{n52}JQQJ99{n26}", "{n76}AZDO{n4}", "{n3}8Q~{u34}"},
		"elevenlabs":   {"sk_{h48}"},
		"langfuse":     {"sk-lf-" + uuid},
		"vercel":       {"vcp_{n56}", "vca_{n56}", "vci_{n56}", "vcr_{n56}", "vck_{n56}"},
		"cloudflare":   {"cfut_{n40}", "cfat_{n40}", "cfk_{n40}", "v1.0-{h24}-{h146}"},
		"supabase":     {"sb_secret_{n22}_{n8}"},
		"bitbucket":    {"ATBB{n24}{H8}", "ATCTT3xFfGN0{u160}={H8}"},
		"sourcegraph":  {"sgp_{h40}", "sgp_{h16}_{h40}"},
		"circleci":     {"CCIPAT_{n22}_{h40}"},
		"jfrog":        {"cmVmdGtu{n56}", "AKCp{n69}"},
		"snyk":         {"snyk_uat.{h8}.{u80}"},
		"buildkite":    {"bkua_{h40}"},
		"1password":    {"ops_eyJ{n200}", "A3-{X6}-{X6}-{X5}-{X5}-{X5}-{X5}"},
		"vault":        {"s.{n24}", "hvs.{u90}"},
		"doppler":      {"dp.st.prd.{n40}", "dp.st.{n43}", "dp.pt.{n43}"},
		"infisical":    {"st." + uuid + ".{h32}.{h32}", "st.{h24}.{h32}.{h32}"},
		"shopify":      {"shpat_{h32}", "shpat_{n32}"},
		"resend":       {"re_{n8}_{n24}"},
		"posthog":      {"phx_{n43}"},
		"launchdarkly": {"sdk-" + uuid, "api-" + uuid},
		"newrelic":     {"NRAL-{n42}", "NRAK-{X27}", "{h36}NRAL"},
		"hubspot":      {"pat-na1-" + uuid, "pat-eu1-" + uuid},
		"asana":        {"1/{d16}:{h32}", "2/{d16}/{d16}:{h32}"},
		"dropbox":      {"sl.{u140}", "sl.u.{u140}"},
		"okta":         {"SSWS 00{u40}"},
		"mapbox":       {"sk.eyJ{n60}.{n22}"},
		"facebook":     {"EAA{n180}"},
		"neon":         {"napi_{x64}"},
		"render":       {"rnd_{n28}"},
		"fly":          {"fo1_{u43}", "fm2_{b150}"},
		"openshift":    {"sha256~{u43}"},
		"dynatrace":    {"dt0c01.{X24}.{X64}"},
		"easypost":     {"EZAK{n54}", "EZTK{n54}"},
		"contentful":   {"CFPAT-{u43}"},
		"typeform":     {"tfp_{n44}_{n14}"},
		"huggingface":  {"api_org_{a34}", "hf_{a34}"},
		"ethereum":     {"0x{h64}"},
		"bitcoin":      {"5J{c49}", "Kx{c50}", "L2{c50}"},
	} {
		var c score
		for _, form := range forms {
			for _, frame := range []string{"use % for it", "{\"x\":\"%\"}",
				"2026-03-04T05:06:07Z INFO sent % ms=3", "x := \"%\"\n", "$ run '%'", "- `%`"} {
				for range 25 {
					secret := fill(r, form)
					out, _ := mustText(t, strings.Replace(frame, "%", secret, 1))
					c.tried++
					if leaked(sample{secrets: []string{strings.TrimPrefix(secret, "SSWS ")}},
						out) == "" && strings.Contains(out, "[REDACTED:") {
						c.caught++
					}
				}
			}
		}
		if 100*c.caught < 97*c.tried {
			t.Errorf("%s: %s %% of %d are caught", class, c, c.tried)
		}
	}
}

// TestBareKey checks that the word key is enough, with or without a vendor's name, if the value is
// random.
func TestBareKey(t *testing.T) {
	hex := "9f86d081884c7d659a2feaa0c55ad015"
	for in, want := range map[string]string{
		"[DEBUG] Using Key=" + hex: "[DEBUG] Using Key=[REDACTED:secret]",
		"Using Adobe KEY=" + hex:   "Using Adobe KEY=[REDACTED:secret]",
		"key: " + hex:              "key: [REDACTED:secret]",
		// Drawn by lot, with hyphens and few digits
		`tidal_key = qWeXzKpLvBd-NmRTgH3jY`:             `tidal_key = [REDACTED:secret]`,
		`tidalKey=7k2m9q4x-g1h7-4r8z-k3v9-2p6t8w1y5n3b`: `tidalKey=[REDACTED:secret]`,
		`a_pat = "k7xq2mvz9bw4ntj6hrp3cgd8yfl5"`:        `a_pat = "[REDACTED:secret]"`,
		`adobe_key = "a8Kq0Zs7Lw2Xr4Vt9Bn6"`:            `adobe_key = "[REDACTED:secret]"`,
		"cache_key: " + hex:                             "cache_key: " + hex,
		"public key: " + hex:                            "public key: " + hex,
		"key: some-name-2":                              "key: some-name-2",
		"key=NewEncapsulationKey768":                    "key=NewEncapsulationKey768",
	} {
		if out, _ := mustText(t, in); out != want {
			t.Errorf("%q is %q, want %q", in, out, want)
		}
	}
}

// TestAssignments has the ways to write an assignment.
func TestAssignments(t *testing.T) {
	v := "a8Kq0Zs7Lw2Xr4Vt9Bn6Cm1Dj3Fh5Gk8"
	for _, in := range []string{
		`api_secret ::= "%"`, `api_secret :::= "%"`, `$api_secret .= "%";`, `api_secret ?= "%"`,
		`api_secret := "%"`, "<apiSecret>\n    %\n</apiSecret>",
		"<apiSecret>%</apiSecret>", `System.setProperty("API_SECRET", "%")`, `"apiSecret" => "%"`,
		`api_secret ||= '%'`,
		"apiVersion: v1\nkind: Secret\ndata:\n  plain: %==\n",
		"apiVersion: v1\ndata:\n  plain: |\n    %==\nkind: \"Secret\"\n",
	} {
		if out, _ := mustText(t, strings.Replace(in, "%", v, 1)); strings.Contains(out, v[:8]) {
			t.Errorf("left: %q", out)
		}
	}
}

// TestPasswords has passwords that look like words, in settings and on command lines.
func TestPasswords(t *testing.T) {
	for in, want := range map[string]string{
		"DB_PASSWORD=hunter2" + "secret":      "DB_PASSWORD=[REDACTED:password]",
		"DB_PASSWORD=correcthorse":            "DB_PASSWORD=[REDACTED:password]",
		"DB_PASSWORD=hedgehog":                "DB_PASSWORD=[REDACTED:password]",
		"password: hedgehog":                  "password: hedgehog",
		"user2 login with password must fail": "user2 login with password must fail",
		"machine a.test login me password hedgehog": "machine a.test login me password " +
			"[REDACTED:password]",
		"DB_PASSWORD=OTHER_PASSWORD":          "DB_PASSWORD=OTHER_PASSWORD",
		"mysql -u root -pS3cret" + "Pw9 shop": "mysql -u root -p[REDACTED:password] shop",
		"mysql -u root -ppassword shop":       "mysql -u root -ppassword shop",
		"curl -u me:S3cret" +
			"Pw9 https://a.test": "curl -u me:[REDACTED:password] https://a.test",
		"curl -u user:pass https://a.test": "curl -u user:pass https://a.test",
		"gh auth login -p https":           "gh auth login -p https",
	} {
		if out, _ := mustText(t, in); out != want {
			t.Errorf("%q is %q, want %q", in, out, want)
		}
	}
}

// TestHarmless has text that was once taken for secrets: pipes of a shell, emphasis, names in
// programs with the beginning of a token, packages with their versions, types in a namespace, and
// stand-ins for tokens.
func TestHarmless(t *testing.T) {
	for _, in := range []string{
		"grep -v PASS | tail -20", "go test ./... | grep TOKEN | head -3",
		"cat api_key | wc -l2 | sort",
		"**Basic Operations:** Tool registration", "Basic Settings", "Basic Overview:",
		"hf_requiredCharacteristicTypesForDisplayMetadata",
		"&hf_servingcellpriorityparametersdescription_struct, tvb",
		"npm_package_config_registry_and_more_words_here",
		"io.jsonwebtoken:jjwt-jackson-0.11.2", "token: jackson-core-2.11.2",
		"secret: claude-3-5-sonnet-20241022", "token: name@1.2.3",
		`token:"clm14066:AgencyIdentificationCodeContentType"`, "xoxe.xoxp-1-initial",
		"xoxe.xoxp-1-SlackAppConfigurationAccessTokenHere",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "AKIAIOSFODNN7EXAMPLE", "AKIAXXXXXXXXXXXXXXXX",
		"AIzaSyabcdefghijklmnopqrstuvwxyz1234567",
		"s.AcceptanceTimeoutSeconds", "s.makeKubeConfigController = args",
		"SELECT key, value FROM t WHERE key = 'page'",
		"tide.log:1169:2026-06-18T05:49:50.0672828Z gauge east answers",
		"src/tide:5432:east:answers:a1b2c3d4 in time", "db:5432:2026-06-18T05:me:a1b2c3d4",
		"main_test.go:1169:37:undefined:a1b2c3d4", "out.txt:2048:warn:module:x9f2kq",
		"if(r.password=null,t.at(-1)!=r.passwordVerification)throw", "ownPass: !!ownPass2",
		"this.password = options.password1 || 0", "#t.password = this.#c1();",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "x.Token = ListProfileImportsV2200Meta",
		"var sawRenderDuringThisPass = 0, laneCounterOfDepot$1 = null;", "key: @depot.password@",
		"#define lane_keeper_pwd_at(l, i) ((lane_keeper_pwd *)LANE_value(lane_type(l), (i)))",
		"mongodb://<user>:<password>@depot.q1x2z.example/lane", "#define ID_keeperPassword 2L,5L,35L",
		"{\"password\":\"***\",\"trace_id\":\"4be19a07c35f82d6e01b7c94aa53f608\"}",
		"the seed phrase has twelve words", "route_pat = [a-z]+-[0-9]{4}",
		"tidal_key = release-notes-of-2026-11-26-final",
		"tidal_key = 3f2b8c1e-5a6d-4e7f-9b0c-1d2e3f4a5b6c", "$6$ is the mark of SHA-512 in crypt",
		"gpg --recv-key F6E65AC044F831AC80A06380C8B3A55A6F3EFCDE",
		"gpg --default-key 0xF6E65AC044F831AC80A06380C8B3A55A6F3EFCDE",
	} {
		if out, found := mustText(t, in); out != in {
			t.Errorf("%q is %q: %v", in, out, found)
		}
	}
}

// TestCrypt has hashes of passwords, made of drawn letters, in the forms of crypt(5).
func TestCrypt(t *testing.T) {
	draw := func(n int) string { return rep("k7/Xq.2mVz9Bw4Nt", n)[:n] }
	for _, in := range []string{
		"$1$OKgLCmVl$" + draw(22), "$apr1$OKgLCmVl$" + draw(22),
		"$2a$12$" + draw(53), "$2b$05$" + draw(53), "$2y$10$" + draw(53),
		"$5$GX7BopJZJxPc$" + draw(43), "$5$rounds=5000$GX7BopJZ$" + draw(43),
		"$6$52450745$" + draw(86), "$6$rounds=656000$5245$" + draw(86),
		"$y$j9T$F5Jx5fExrKuPp53xL$" + draw(43),
	} {
		hash := in[strings.LastIndexByte(in, '$')+1:]
		for _, text := range []string{in, "root:" + in + ":19000:0:99999:7:::",
			`hash: "` + in + `"`} {
			if out, _ := mustText(t, text); strings.Contains(out, hash) {
				t.Errorf("%q is %q", text, out)
			}
		}
	}
}

// TestLinesStay checks that a redaction removes no line feed, except in blocks such as a private
// key.
func TestLinesStay(t *testing.T) {
	gh := func(s string) string { return "ghp_" + rep(s, 36) }
	hex := "9f86d081884c7d659a2feaa0c55ad015"
	for in, want := range map[string]string{
		"key a " + gh("aB3") + " and token: " + hex + "\n" + gh("zY9") +
			"\nend": "key a [REDACTED:github] and token: [REDACTED:secret]\n[REDACTED:github]\nend",
		"a line of some words before it that is long enough, " + gh("aB3")[:20] + "\n" +
			gh("aB3")[20:] +
			" ok": "a line of some words before it that is long enough, " +
			"[REDACTED:github]\n[REDACTED:github] ok",
	} {
		if out, _ := mustText(t, in); out != want {
			t.Errorf("%q\nis   %q\nwant %q", in, out, want)
		}
	}
}

// TestUsePatterns checks the user's own patterns, and that a bad pattern changes nothing.
func TestUsePatterns(t *testing.T) {
	defer func() {
		if err := UsePatterns(nil); err != nil {
			t.Error(err)
		}
	}()
	if err := UsePatterns([]string{"acme-{X12}", "{d6}-corp-({h16})", "{n10}!!!"}); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"a acme-QK7R2MZP0VX4 b":        "a [REDACTED:extra] b",
		"acme-QK7R2MZP0VX acme-qk7r":   "acme-QK7R2MZP0VX acme-qk7r",
		"123456-corp-0123456789abcdef": "123456-corp-[REDACTED:extra]",
		"abcdefghij!!!":                "[REDACTED:extra]",
		"xabcdefghij!!!":               "xabcdefghij!!!",
	} {
		if out, _ := mustText(t, in); out != want {
			t.Errorf("%q is %q, want %q", in, out, want)
		}
	}
	for _, bad := range []string{"", "abc", "{n20}", "ab{n20}", "abc{n7}", "abc{q20}", "abc{n20",
		"abc{n5-3}{n9}", "abc}{n20}", "abc)({n20}", "((abc{n20}", "abc {n20}", "{n9+}abc"} {
		if err := UsePatterns([]string{bad}); err == nil {
			t.Errorf("%q is taken for a pattern", bad)
		}
	}
	if out, _ := mustText(t, "acme-QK7R2MZP0VX4"); out != "[REDACTED:extra]" {
		t.Error("a bad pattern has replaced good ones")
	}
}

// TestPatternsSettle checks that a text settles even if a pattern matches a marker.
func TestPatternsSettle(t *testing.T) {
	defer func() { _ = UsePatterns(nil) }()
	if err := UsePatterns([]string{"RED{X5}:{x5}", "DAC{t8+}"}); err != nil {
		t.Fatal(err)
	}
	mustText(t, "password=hunter2 DACxxxxxxxxxxx REDABCDE:fghij")
}

// TestPgpass has lines of .pgpass beside those of grep -n, which look alike.
func TestPgpass(t *testing.T) {
	for _, in := range []string{
		"db.example.org:5432:tides:keeper:%", "*:*:*:me:%", "/var/run/postgresql:5432:app:me:%",
		"+localhost:5432:*:postgres:%",
	} {
		if out, _ := mustText(t, strings.Replace(in, "%", "Zr8-quay-41x", 1)); out !=
			strings.Replace(in, "%", "[REDACTED:password]", 1) {
			t.Errorf("%q is %q", in, out)
		}
	}
}
