package sanitize

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// vector is a test text of another scanner.
type vector struct {
	Rule    string   `json:"rule"`    // the tested rule
	Pos     bool     `json:"pos"`     // whether the rule must find something
	Path    string   `json:"path"`    // of the file that the text pretends to be from, or ""
	Text    string   `json:"text"`    // the searched text
	Secrets []string `json:"secrets"` // what the rule finds, in a positive
	Other   []string `json:"other"`   // other rules that find something, in a negative
}

// TestGitleaks runs the rules over the vectors that gitleaks tests its own rules with;
// testdata/README.md says where they come from. CTX_VECTORS=FILE reads other vectors of that form;
// CTX_MISSES=n shows n misses of each rule.
func TestGitleaks(t *testing.T) {
	vectors := readVectors(t)
	show := number("CTX_MISSES", 0)
	var positives, negatives score
	byRule := map[string]score{}
	for _, v := range vectors {
		out, found, err := Text([]byte(v.Text))
		if err != nil {
			t.Fatalf("%s: %v", v.Rule, err)
		}
		r := byRule[v.Rule]
		switch {
		case v.Pos:
			positives.tried++
			r.tried++
			if rest := leftOf(v, string(out)); rest == "" {
				positives.caught++
				r.caught++
			} else if r.tried-r.caught <= show {
				t.Logf("MISS %s: %q is left of %q", v.Rule, rest, v.Text)
			}
			byRule[v.Rule] = r
		case strings.Contains(v.Text, "csrf"), strings.Contains(v.Text, "authenticity_token"):
			// They are the secrets of a session, which the rules for other tokens should not take.
		case len(v.Other) == 0:
			negatives.tried++
			if slices.ContainsFunc(found,
				func(f Finding) bool { return f.Class != "control" && f.Class != "utf8" }) {
				negatives.caught++
				if show > 0 {
					t.Logf("TOUCHED %s: %q is %q", v.Rule, v.Text, out)
				}
			}
		}
	}
	whole := 0
	for rule, r := range byRule {
		if r.caught == r.tried {
			whole++
		} else if testing.Verbose() {
			t.Logf("%-32s %d of %d", rule, r.caught, r.tried)
		}
	}
	t.Logf("positives: %s %% of %d caught; all of %d of %d rules", positives, positives.tried,
		whole, len(byRule))
	t.Logf("negatives: %s %% of %d touched", negatives, negatives.tried)
	if 100*positives.caught < 97*positives.tried {
		t.Errorf("%s %% of the positives are caught, and 97 %% are expected", positives)
	}
	if 100*negatives.caught > 10*negatives.tried {
		t.Errorf("%s %% of the negatives are touched, and 10 %% are allowed", negatives)
	}
}

// leftOf returns eight letters and digits in a row that remain of a secret, or all of a shorter
// secret, and "" if nothing remains. Text that also stands beside the secret does not count.
func leftOf(v vector, out string) string {
	rest := alnum(string(unmarkedBy([]byte(out), " \x00 ")))
	beside := v.Text
	for _, s := range v.Secrets {
		beside = strings.ReplaceAll(beside, s, " \x00 ")
	}
	beside = alnum(beside)
	for _, secret := range bareOf(v) {
		secret = alnum(secret)
		n := min(8, len(secret))
		for i := 0; i+n <= len(secret); i++ {
			if piece := secret[i : i+n]; strings.Contains(rest, piece) &&
				!strings.Contains(beside, piece) {
				return piece
			}
		}
	}
	return ""
}

// bareOf returns the secret parts of the secrets: not the host of an address, the user before a
// password, or the names in a Kubernetes Secret.
func bareOf(v vector) (out []string) {
	for _, s := range v.Secrets {
		switch {
		case v.Rule == "kubernetes-secret-yaml":
			for line := range strings.Lines(s) {
				if _, value, ok := strings.Cut(line, ": "); ok {
					line = value
				}
				if line = strings.Trim(line, " \t\n'\""); len(line) >= 8 {
					out = append(out, line)
				}
			}
			continue
		case v.Rule == "curl-auth-user":
			if _, password, _ := strings.Cut(s, ":"); len(password) > 2 {
				s = password
			}
		case v.Rule == "microsoft-teams-webhook":
			_, s, _ = strings.Cut(v.Text, "/webhookb2/")
		case strings.Contains(s, "hooks.slack.com/"):
			_, s, _ = strings.Cut(s, "hooks.slack.com/")
			_, s, _ = strings.Cut(s, "/")
		}
		out = append(out, s)
	}
	return out
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	name := os.Getenv("CTX_VECTORS")
	if name == "" {
		name = "testdata/gitleaks.jsonl.gz"
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var out []vector
	dec := json.NewDecoder(bufio.NewReader(in))
	for {
		var v vector
		if err := dec.Decode(&v); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
}
