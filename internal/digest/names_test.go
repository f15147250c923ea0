package digest

import "testing"

// TestNamed checks what the fact of a written file tells of it.
func TestNamed(t *testing.T) {
	const plan = "# Plan\n\nText.\n\n## Task 1: Read it, once\n\n```\n# no heading\n```\n\n" +
		"## Task 2: Print it\n\n### Step a\n\n#### One\n"
	for _, c := range []struct{ file, old, now, want string }{
		{"plan.md", "", plan, ": Plan; Task 1: Read it, once; Task 2: Print it; Step a; One"},
		{"plan.md", "", plan + "### b\n### c\n### d\n### e\n### f\n",
			": Plan; Task 1: Read it, once; Task 2: Print it"},
		{"plan.md", "", "#hash\n\nNo heading; but readOnce and writeTwice.\n",
			": readOnce, writeTwice"},
		{"plan.md", "x", plan, ""}, // an edit of a document
		{"a.go", "", "# readOnce\nfunc Parse() {}\n", ": Parse, readOnce"},
	} {
		if got := named(c.file, c.old, c.now); got != c.want {
			t.Errorf("%s: got %q, want %q", c.file, got, c.want)
		}
		f := Fact{Kind: Edit, Path: c.file, Text: "wrote " + c.file + named(c.file, c.old, c.now)}
		if got := f.TellsHeadings(); got != (c.file == "plan.md" && len(c.want) > 24) {
			t.Errorf("%s: tells headings: %v", f.Text, got)
		}
	}
}
