package sealed

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// settings gives the test a folder for settings of its own.
func settings(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("CTX_USER_CONFIG", filepath.Join(dir, "config.toml"))
	return dir
}

// What a user sees without a remote: how the program is used, a recipient, and no secret key.
func TestRun(t *testing.T) {
	dir := settings(t)
	for _, c := range []struct {
		args, in  string
		code      int
		out, errs string
	}{
		{"version", "", 0, "ctx-remote-age version", ""},
		{"help", "", 0, "ctx-remote-age identity [FILE]", ""},
		{"dance", "", 2, "", "ctx-remote-age identity [FILE]"},
		{"identity", "", 0, "age1pq1", ""},
		{"identity " + filepath.Join(dir, "none"), "", 1, "", "none"},
		{"", `{"id":1,"do":"open","url":"age+"}` + "\n", 0, "the URL is not age+", ""},
		{"", `{"id":1,"do":"open","url":"age+dir:relative"}` + "\n", 0, "no absolute path", ""},
		{"", `{"id":1,"do":"open","url":"age+thing"}` + "\n", 0, "no kind of remote", ""},
		{"", `{"id":1,"do":"open","url":"age+nobody://ann:hunter2@x"}` + "\n", 0,
			"ctx-remote-nobody", ""},
		{"", "nonsense\n", 1, `"features":["check","members"]`, "not of the protocol"},
	} {
		var out, errs bytes.Buffer
		code := Program().Run(t.Context(), strings.Fields(c.args),
			strings.NewReader(c.in), &out, &errs)
		said := out.String() + errs.String()
		if code != c.code || !strings.Contains(out.String(), c.out) ||
			!strings.Contains(errs.String(), c.errs) || strings.Contains(said, "hunter2") ||
			strings.Contains(said, "SECRET-KEY") {
			t.Errorf("%q: %d, %q, %q", c.args, code, out.String(), errs.String())
		}
	}
}

// The lock of a folder tells whoever waits who has it. The folder is the host's, so it does not
// tell the name of the machine, which is also what others call a store.
func TestLockTellsNothing(t *testing.T) {
	settings(t)
	root := filepath.Join(t.TempDir(), "shared")
	r, err := open(t.Context(), "age+dir:"+root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.(remote.Grouper).Members(t.Context(),
		remote.MemberChange{Do: remote.BeginGroup, Self: "ann"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "lock.owner"))
	if err != nil || !strings.Contains(string(b), `{"pid":0,"command":"ctx-remote-age",`) {
		t.Errorf("the host has %s, error %v", b, err)
	}
}
