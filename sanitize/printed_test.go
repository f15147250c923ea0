package sanitize

import (
	"slices"
	"strings"
	"testing"
)

func TestPrinted(t *testing.T) {
	const v = "Qx7mT2vK9pLr4WzB8nHs"
	for _, command := range []string{"gh auth token", "pass show mail/bob", "pass mail/bob",
		"/usr/bin/gcloud auth print-access-token", "op read op://vault/db/password",
		"vault read -field=value secret/db", "vault kv get -mount=kv -field=db x",
		"aws sts get-session-token --output text", "kubectl -n a get secret db -o jsonpath={.data.x}",
		"kubectl get secret/db -ojsonpath={.data.x}", "echo $DB_PASSWORD", "echo ${API_KEY}",
		"printenv STRIPE_SECRET", "cat /run/secrets/db_password", "cat token.txt",
		"docker exec db printenv POSTGRES_PASSWORD", "sudo cat /etc/app/secret",
		"terraform output -raw db_password", "jq -r .db.password config.json",
		"sed -n s/^API_KEY=//p .env", "node -p process.env.API_KEY",
		"git config --get github.token", "kubectl exec web -- printenv API_KEY"} {
		for _, output := range []string{v, v + "\n", "user: bob\n" + v + "\n", "ID\t" + v + "\tx"} {
			got := PrintedBy(strings.Fields(command)).Values(output)
			if !slices.Equal(got, []string{v}) {
				t.Errorf("%s: %q: %q", command, output, got)
			}
		}
	}
	for _, c := range [][2]string{{"terraform output -raw url", "https://x.example.com/a"},
		{"aws configure get region", "us-east-1"}, {"cat package.json", v}, {"ls secrets", v},
		{"jq -r .usage.total_tokens x.json", "123456789"}, {"echo $HOME", "/home/bob"},
		{"kubectl get secrets -o name", "secret/my-app-tls\nsecret/other-thing"},
		{"pass ls", "Password Store\n├── mail"}, {"gh auth token", "no oauth token found"},
		{"gh auth token", ""}, {"grep -rn token src", "a.go:12:token"}, {"echo $API_KEY", "test"},
		{"vault kv put secret/x password=a", v}, {"git rev-parse HEAD", v}, {"", v}} {
		if got := PrintedBy(strings.Fields(c[0])).Values(c[1]); len(got) > 0 {
			t.Errorf("%s: %q: %q", c[0], c[1], got)
		}
	}
}

func TestKnown(t *testing.T) {
	got, found := Known([]byte(`["a\"b1","a\"b1c"]`), []string{`a"b1`, `a"b1c`})
	if string(got) != `["[REDACTED:password]","[REDACTED:password]"]` ||
		!slices.Equal(found, []Finding{{"password", 2}}) {
		t.Errorf("%s %v", got, found)
	}
}
