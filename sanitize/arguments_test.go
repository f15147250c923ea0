package sanitize

import "testing"

// TestArguments has passwords in commands that are arrays of their arguments, as agents call tools.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"flag", `["mysql", "--password", "Zx9kQ2mVb7Lr", "db"]`,
			`["mysql", "--password", "[REDACTED:password]", "db"]`},
		{"short flag", `{"command":["docker","login","-u","me","-p","Zx9kQ2mVb7Lr"]}`,
			`{"command":["docker","login","-u","me","-p","[REDACTED:password]"]}`},
		{"joined flag", `["mysql","-u","root","-pZx9kQ2mVb7Lr"]`,
			`["mysql","-u","root","-p[REDACTED:password]"]`},
		{"user", `["curl","-u","joe:Zx9kQ2mVb7Lr","https://x.org"]`,
			`["curl","-u","joe:[REDACTED:password]","https://x.org"]`},
		{"in a string", `{"a":"[\"vault\", \"--token\", \"Zx9kQ2mVb7Lr\"]"}`,
			`{"a":"[\"vault\", \"--token\", \"[REDACTED:secret]\"]"}`},
		{"another flag next", `["x","--password","--token","abc"]`,
			`["x","--password","--token","abc"]`},
		{"stand-in", `["x","--password","$DB_PASSWORD","--token","<token>"]`,
			`["x","--password","$DB_PASSWORD","--token","<token>"]`},
		{"other flags", `["docker","run","-p","8080:80","--name","web-2024a1"]`,
			`["docker","run","-p","8080:80","--name","web-2024a1"]`},
		{"no strings only", `["--password",7,"Zx9kQ2mVb7Lr"]`, `["--password",7,"Zx9kQ2mVb7Lr"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := mustJSON(t, c.in); out != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
			spots, err := FindJSON([]byte(c.in))
			if err != nil || (len(spots) > 0) != (c.in != c.want) {
				t.Errorf("FindJSON: %v %v", spots, err)
			}
		})
	}
}

// TestListInText has the same commands in text that holds JSON or source code.
func TestListInText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"line", `run(["x", "--token", "Zx9kQ2mVb7Lr"])`,
			`run(["x", "--token", "[REDACTED:secret]"])`},
		{"lines", "[\n  '--password',\n  'Zx9kQ2mVb7Lr'\n]",
			"[\n  '--password',\n  '[REDACTED:password]'\n]"},
		{"escaped", `"args": "[\"--password\",\"Zx9kQ2mVb7Lr\"]"`,
			`"args": "[\"--password\",\"[REDACTED:password]\"]"`},
		{"no list", `"--password" "x", "hunter2secret"`, `"--password" "x", "hunter2secret"`},
		{"help", `flag("--password", "the password to use", "--token", "a token")`,
			`flag("--password", "the password to use", "--token", "a token")`},
		{"end", `["--password",`, `["--password",`},
		{"cut", `["--password"`, `["--password"`},
		{"no string", `["--password", value1]`, `["--password", value1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := mustText(t, c.in); out != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
		})
	}
}
