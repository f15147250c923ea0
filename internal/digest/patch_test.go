package digest

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestPatch(t *testing.T) {
	const patch = `*** Begin Patch
*** Update File: src/a b.go
@@ func Parse() {
-	last := 0
+	lastToken := 1
+	more()
*** Add File: new.go
+package p
*** Delete File: old.go
*** Update File: from.go
*** Move to: to.go
@@
-x
+y
*** End Patch`
	args, _ := json.Marshal(map[string]string{"input": patch})
	facts := Of(numbered(called("a", "apply_patch", string(args)),
		answered("a", `{"output":"Success","metadata":{"exit_code":0}}`)))
	got := ""
	for _, f := range facts {
		got += fmt.Sprintf("%s | %s +%d -%d\n", show(f), f.Path, f.Added, f.Removed)
	}
	want :=
		"edit: edited src/a b.go: Parse, lastToken | src/a b.go +2 -1\nedit: wrote new.go | " +
			"new.go +1 -0\n" +
			"edit: deleted old.go | old.go +0 -0\nedit: moved from.go to to.go | to.go +1 -1\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestUnifiedDiff(t *testing.T) {
	const diff = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@ func Parse() {\n-\tx := 1\n+\tx := 2\n"
	args, _ := json.Marshal(map[string]string{"diff": diff})
	facts := Of(numbered(called("a", "apply_patch", string(args))))
	if len(facts) != 1 || facts[0].Path != "a.go" || facts[0].Added != 1 || facts[0].Removed != 1 {
		t.Errorf("got %+v", facts)
	}
}

// TestRefusedPatch has a patch that was not applied: none of its files was changed.
func TestRefusedPatch(t *testing.T) {
	check(
		t, []Message{called("a", "apply_patch",
			`{"input":"*** Begin Patch\n*** Add File: a.go\n+x\n*** Add File: b.go\n+x\n*** End Patch"}`),
			answered("a", `{"output":"error: the file exists","metadata":{"exit_code":1}}`)},
		"edit[failed]: wrote a.go: failed", "edit[failed]: wrote b.go: failed",
		"failure: error: the file exists")
}

func TestEditCounts(t *testing.T) {
	facts := Of(
		numbered(
			called("a", "Edit",
				`{"file_path":"a.go","old_string":"a\nb\n\nc","new_string":"a\nB\nc\nd"}`)))
	if f := facts[0]; f.Added != 2 || f.Removed != 1 {
		t.Errorf("+%d -%d", f.Added, f.Removed)
	}
}
