package sanitize

import "testing"

// TestNextLine has values on the line after their key, and other text that follows a key there.
func TestNextLine(t *testing.T) {
	const v = "Zx9kQ2mVb7LrT4wP1nYc"
	const long = "ATATT3xFfGF0T5nGq8vY2pQ7rLmKd9WzXcVbNjHs4TgYe1Ua6Ri0Po=8C4D2E1F"
	for _, c := range []struct{ name, in, want string }{
		{"formatted source", "const password =\n  \"" + v + "\";",
			"const password =\n  \"[REDACTED:password]\";"},
		{"parenthesis", "api_key = (\n    '" + v + "'\n)",
			"api_key = (\n    '[REDACTED:secret]'\n)"},
		{"JSON", "{\"token\":\r\n\t\"" + v + "\"}", "{\"token\":\r\n\t\"[REDACTED:secret]\"}"},
		{"shell", "DB_PASSWORD=\\\n\"" + v + "\"", "DB_PASSWORD=\\\n\"[REDACTED:password]\""},
		{"block", "password: |\n  " + v + "\nuser: x\n",
			"password: |\n  [REDACTED:password]\nuser: x\n"},
		{"folded block", "password: >-\n  " + v, "password: >-\n  [REDACTED:password]"},
		{"text in a block", "password: |\n  at least 12 characters\n",
			"password: |\n  at least 12 characters\n"},
		{"block of the next key", "password: |\nuser1: x9\n", "password: |\nuser1: x9\n"},
		{"sentence", "password:\n  \"must be 12 characters\"",
			"password:\n  \"must be 12 characters\""},
		{"next key", "{password:\n  user1, token:\n  \"name\"}",
			"{password:\n  user1, token:\n  \"name\"}"},
		{"empty line", "password:\n\n\"" + v + "\"", "password:\n\n\"" + v + "\""},
		{"end", "password: |", "password: |"},
		{"end of line", "password: >-\n", "password: >-\n"},
		{"list of variables", "JIRA_API_TOKEN=" + long + "\nJIRA_USER=ann\nLS_COLORS=di=01;34\n",
			"JIRA_API_TOKEN=[REDACTED:atlassian]\nJIRA_USER=ann\nLS_COLORS=di=01;34\n"},
		{"list of properties", "jira.token=" + long + "\njira.user=ann",
			"jira.token=[REDACTED:atlassian]\njira.user=ann"},
		{"wrapped", "JIRA_API_TOKEN=" + long[:50] + "\n" + long[50:],
			"JIRA_API_TOKEN=[REDACTED:atlassian]\n[REDACTED:atlassian]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := mustText(t, c.in); out != c.want {
				t.Errorf("got  %q\nwant %q", out, c.want)
			}
		})
	}
}
