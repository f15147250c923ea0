package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	replace := func(path string, edits ...Edit) []Change {
		return []Change{{Path: path, Kind: Replace, Edits: edits}}
	}
	for _, c := range []struct {
		tool, args, dir string
		want            []Change
	}{
		// Claude Code
		{"Edit", `{"file_path":"/p/a","old_string":"x","new_string":"y","replace_all":true}`, "/p",
			replace("/p/a", Edit{Old: "x", New: "y", All: true})},
		{"MultiEdit",
			`{"file_path":"/p/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"u","new_string":"v"}]}`, "", replace("/p/a", Edit{Old: "x", New: "y"}, Edit{Old: "u", New: "v"})},
		{"Write", `{"content":"x\n","file_path":"/p/a"}`, "/p",
			[]Change{{Path: "/p/a", Kind: Write, Text: "x\n"}}},
		{"Write", `{"content":"","file_path":"/p/a"}`, "/p", []Change{{Path: "/p/a", Kind: Write}}},
		{"NotebookEdit", `{"notebook_path":"/p/a.ipynb","new_source":"import x\nx.y(\"<\")"}`, "",
			replace("/p/a.ipynb",
				Edit{New: "    \"import x\\n\",\n    \"x.y(\\\"<\\\")\"\n", Hunk: true})},
		{"Read", `{"file_path":"/p/a"}`, "/p", nil},
		// Codex
		{"apply_patch",
			`"*** Begin Patch\n*** Add File: a\n+x\n+\n*** Delete File: b\n*** End Patch"`, "/p",
			[]Change{{Path: "/p/a", Kind: Write, Text: "x\n\n"}, {Path: "/p/b", Kind: Delete}}},
		{"apply_patch",
			`{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ func f\n x\n-y\n+z\n*** End Patch\n"}`, "", []Change{{Path: "b", From: "a", Kind: Replace,
				Edits: []Edit{{Old: "x\ny\n", New: "x\nz\n", Hunk: true, Anchor: "func f",
					Kept: []int{0, -1}}}}}},
		{"apply_patch",
			`{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch"}`, "",
			[]Change{{Path: "b", From: "a", Kind: Move}}},
		{"shell",
			`{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n"],"workdir":"/q"}`, "/p", []Change{{Path: "/q/a", Kind: Write, Text: "x\n"}}},
		{"shell",
			`{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n+it's\n*** End Patch"]}`,
			"/p", []Change{{Path: "/p/a", Kind: Write, Text: "it's\n"}}},
		{"exec_command", `{"cmd":"cd sub && cat > a.txt <<EOF\none \\$HOME\ntwo\nEOF"}`, "/p",
			[]Change{{Path: "/p/sub/a.txt", Kind: Write, Text: "one $HOME\ntwo\n"}}},
		// Gemini CLI
		{"replace",
			`{"file_path":"/p/a","instruction":"do","old_string":"x","new_string":"y","expected_replacements":2}`, "", replace("/p/a", Edit{Old: "x", New: "y", All: true})},
		{"write_file", `{"file_path":"a","content":"x"}`, "/p",
			[]Change{{Path: "/p/a", Kind: Write, Text: "x"}}},
		{"run_shell_command", `{"command":"echo 'a b' >> c; echo z > d"}`, "/p",
			[]Change{{Path: "/p/c", Kind: Append, Text: "a b\n"},
				{Path: "/p/d", Kind: Write, Text: "z\n"}}},
		// opencode
		{"edit", `{"filePath":"/p/a","oldString":"x","newString":"y"}`, "",
			replace("/p/a", Edit{Old: "x", New: "y"})},
		{"patch", `{"patchText":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`, "/p",
			[]Change{{Path: "/p/a", Kind: Write, Text: "x\n"}}},
		// Others, by their arguments
		{"str_replace_based_edit_tool",
			`{"command":"str_replace","path":"/p/a","old_str":"x","new_str":"y"}`, "",
			replace("/p/a", Edit{Old: "x", New: "y"})},
		{"mcp__files__write_file", `{"path":"/p/a","content":"x"}`, "",
			[]Change{{Path: "/p/a", Kind: Write, Text: "x"}}},
		{"save", `{"path":"/p/a","file_text":"x"}`, "",
			[]Change{{Path: "/p/a", Kind: Write, Text: "x"}}},
		{"sql", `{"query":"x"}`, "", nil},
		{"write", `{"command":"strReplace","path":"/p/a","oldStr":"x","newStr":"y"}`, "",
			replace("/p/a", Edit{Old: "x", New: "y"})},
		{"replace_in_file",
			`{"path":"a","diff":"------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n"}`, "/p",
			replace("/p/a", Edit{Old: "x\n", New: "y\n"})},
		{"apply_diff",
			`{"path":"a","diff":"<<<<<<< SEARCH\n:start_line:1\n-------\nx\n=======\ny\n>>>>>>> REPLACE"}`,
			"/p", replace("/p/a", Edit{Old: "x\n", New: "y\n"})},
		{"Edit", `{"file_path":"C:\\p\\a.go","old_string":"x","new_string":"y"}`, `C:\p`,
			replace("C:/p/a.go", Edit{Old: "x", New: "y"})},
		{"Edit", `nothing`, "", nil},
	} {
		if got := Changes(c.tool, json.RawMessage(c.args), c.dir); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s:\n%+v, want\n%+v", c.tool, c.args, got, c.want)
		}
	}
}

func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		"cat > a <<'EOF'\n$x\nEOF\ncat b":              `a write "$x\n"`,
		"cat <<EOF >> a\nx\nEOF":                       `a append "x\n"`,
		"cat <<-EOF > a\n\tx\n\tEOF":                   `a write "x\n"`,
		"cat <<EOF | tee a b\nx\nEOF":                  `a write "x\n", b write "x\n"`,
		"tee -a a <<< word":                            `a append "word\n"`,
		"cat > a <<A && cat > b <<B\n1\nA\n2\nB\nrm c": `a write "1\n", b write "2\n", c delete`,
		"printf 'a\\nb%%\\n' > f":                      `f write "a\nb%\n"`,
		"printf '%s\\n' one two > f":                   `f write "one\ntwo\n"`,
		"printf '%d' 3 > f":                            `f touch`,
		"echo -n x > f":                                `f write "x"`,
		"echo \"$HOME\" > f":                           `f touch`,
		"go build ./... > out.txt 2>&1":                `out.txt touch`,
		"make 2> err &> all":                           ``,
		"> empty":                                      `empty write ""`,
		"{ echo a; echo b; } > f":                      `f touch`,
		"(cd x; ls) > f":                               `f touch`,
		"if true; then echo x > f; fi":                 `f write "x\n"`,
		"git mv a b && mv c d/":                        `b from a, d/c from c`,
		"sed -i 's/a/b/' f":                            `f touch`,
		"sed -i '' -e 's/a/b/' -e 's|c|d.go|' f g":     `f touch, g touch`,
		"perl -pi -e 's/a/b/' f":                       `f touch`,
		"gofmt -w a.go && prettier --write b.ts":       `a.go touch, b.ts touch`,
		"gofmt -l a.go && black --version":             ``,
		"python3 <<'EOF'\np = Path('a.py')\np.write_text(x)\nopen(\"b.md\", 'a').write(y)\nEOF": `a.py touch, b.md touch`,
		"python3 -c \"print(open('a.py').read())\"":                                             ``,
		"node -e \"fs.writeFileSync('a.js', x)\"":                                               `a.js touch`,
		"rm -rf dir":                                      ``,
		"echo x > /dev/null":                              ``,
		"echo x > $OUT":                                   ``,
		"for i in 1 2; do echo $i; done > f":              `f touch`,
		"A=1 B=2 echo x > f # > g":                        `f write "x\n"`,
		"git commit -m \"$(cat <<'EOF'\nfix\nEOF\n)\"":    ``,
		"diff <(echo a) b > f":                            `f touch`,
		"grep -c x < in > f":                              `f touch`,
		"cat > f <<'EOF'\nno end":                         `f write "no end\n"`,
		"cd /abs; echo x > f":                             `/abs/f write "x\n"`,
		"python3 - <<'EOF'\nopen('f','w').write('')\nEOF": ``,
	} {
		if got := shown(Script(script, "")); got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}

// shown describes changes in one line.
func shown(list []Change) string {
	var said []string
	for _, c := range list {
		switch c.Kind {
		case Write:
			said = append(said, fmt.Sprintf("%s write %q", c.Path, c.Text))
		case Append:
			said = append(said, fmt.Sprintf("%s append %q", c.Path, c.Text))
		case Delete:
			said = append(said, c.Path+" delete")
		case Touch:
			said = append(said, c.Path+" touch")
		case Move:
			said = append(said, c.Path+" from "+c.From)
		default:
			said = append(said, c.Path)
		}
	}
	return strings.Join(said, ", ")
}

func TestUnifiedDiff(t *testing.T) {
	diff :=
		"diff --git a/f b/g\n--- a/f\n+++ b/g\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n@@ -9 +9 " +
			"@@\n-u\n+v\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n--- a/old\n+++ " +
			"/dev/null\n@@ -1 +0,0 @@\n-o\n"
	want := []Change{
		{Path: "g", From: "f", Kind: Replace,
			Edits: []Edit{{Old: "x\ny\n", New: "x\nz\n", Hunk: true, Kept: []int{0, -1}},
				{Old: "u\n", New: "v\n", Hunk: true, Kept: []int{-1}}}},
		{Path: "new", Kind: Write, Text: "n\n"}, {Path: "old", Kind: Delete},
	}
	if got := patchChanges(diff, ""); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
}

func TestCheckout(t *testing.T) {
	p := &Project{Root: "/home/me/proj",
		HasDir: func(name string) bool { return name == "internal/foo" }}
	for _, c := range []struct {
		file, dir, name, root string
		ok                    bool
	}{
		{"/home/me/proj/a/b.go", "/home/me/proj", "a/b.go", "/home/me/proj", true},
		{"/home/me/proj/a/b.go", "/elsewhere", "a/b.go", "/home/me/proj", true},
		{"/old/proj/a/b.go", "/old/proj", "a/b.go", "/old/proj", true},
		{"/old/proj/b.go", "/old/proj", "b.go", "/old/proj", true},
		{"/old/proj/x/b.go", "/old/proj", "b.go", "/old/proj/x", false},
		{"/old/proj/x/a/b.go", "/old/proj", "a/b.go", "/old/proj/x", false},
		{"/old/proj/b.go", "/old/proj/internal/foo", "b.go", "/old/proj", true},
		{"/old/b.go", "/old/proj", "b.go", "/old", false},
		{"/old/proj/.worktrees/1/b.go", "/old/proj", "b.go", "/old/proj/.worktrees/1", true},
		{"/other/proj/a/b.go", "/home/me", "a/b.go", "/other/proj", true},
		{"/other/b.go", "/home/me", "b.go", "/other", false},
		{"/any/where/b.go", "", "b.go", "/any/where", true},
		{"b.go", "", "b.go", "", true},
		{"./a/../b.go", "", "b.go", "", true},
		{"x/b.go", "", "b.go", "", false},
		{"/old/proj/bb.go", "/old/proj", "b.go", "", false},
		{"proj/a/b.go", "", "a/b.go", "", true}, // of Zed
		{"/old/proj/proj/a/b.go", "/old/proj", "a/b.go", "/old/proj", true},
		{"/old/foo/foo/a/b.go", "/old/foo", "a/b.go", "/old/foo", true},
		{"foo/a/b.go", "", "a/b.go", "", false},
		{`C:\old\proj\a\b.go`, `C:\old\proj`, "a/b.go", "C:/old/proj", true},
	} {
		if root, ok := p.Checkout(c.file, c.dir, c.name); root != c.root || ok != c.ok {
			t.Errorf("%s in %s: %q, %v; want %q, %v", c.file, c.dir, root, ok, c.root, c.ok)
		}
	}
}

// FuzzChanges: no arguments of a call break the reading, and what is read can be replayed.
func FuzzChanges(f *testing.F) {
	for _, args := range []string{
		`{"file_path":"a","old_string":"x","new_string":"y"}`,
		`{"command":"cat > a <<EOF\nx\nEOF"}`,
		`"*** Begin Patch\n*** Update File: a\n@@ f\n x\n-y\n+z\n*** End Patch"`,
		`{"patch":"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-u\n+v\n"}`,
		`{"path":"a","content":"x","edits":[{}]}`, `{"notebook_path":"a","new_source":"x\ny"}`,
	} {
		f.Add("edit", args, "x\ny\n")
		f.Add("bash", args, "u\n")
		f.Add("apply_patch", args, "")
		f.Add("other", args, "x")
	}
	f.Fuzz(func(t *testing.T, tool, args, text string) {
		var steps []Step
		for i, c := range Changes(tool, json.RawMessage(args), "/p") {
			if c.Path == "" && c.Kind != Replace && c.Kind != Write {
				t.Errorf("a change of no file: %+v", c)
			}
			steps = append(steps, Step{Change: c, By: i})
		}
		checkLines(t, steps, text)
	})
}

// FuzzScript: the changes of a script are found without an end of it.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"cat > a <<EOF\nx\nEOF", "a | b && c > 'd'", "{ a; } &> b"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, script string) { Script(script, "/p") })
}

// FuzzPatch: what a patch says can be applied and taken back, and every line that it keeps is
// there.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@\n x\n-y\n+z\n*** End Patch", "x\ny\n")
	f.Add("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-u\n+v\n", "u\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		var steps []Step
		for i, c := range patchChanges(patch, "") {
			for _, e := range c.Edits {
				if len(e.Kept) != len(hunkLines(e.New)) {
					t.Errorf("%d marks of %d lines", len(e.Kept), len(hunkLines(e.New)))
				}
			}
			steps = append(steps, Step{Change: c, By: i})
		}
		checkLines(t, steps, text)
	})
}

func checkLines(t *testing.T, steps []Step, text string) {
	t.Helper()
	want := strings.Count(unixLines(text), "\n") + 1
	if strings.HasSuffix(unixLines(text), "\n") || text == "" {
		want--
	}
	got := Lines(steps, text)
	if len(got) != want {
		t.Errorf("%d lines of %q, want %d", len(got), text, want)
	}
	for _, by := range got {
		if by < Nobody || by >= len(steps) {
			t.Errorf("a line by %d of %d steps", by, len(steps))
		}
	}
}

// FuzzPairs: partners are equal, and in the same order in both lists.
func FuzzPairs(f *testing.F) {
	f.Add("a\nb\nc\n", "b\na\nc\nc")
	f.Add("}\n\n}\n}", "x\n}\n\ny\n}")
	f.Fuzz(func(t *testing.T, a, b string) {
		old, now := split(a), split(b)
		if len(old)*len(now) > maxAligned {
			return
		}
		for _, partner := range [][]int{Pairs(old, now), align(old, now)} {
			last := -1
			for i, at := range partner {
				if at < 0 {
					continue
				}
				if at <= last || old[at] != now[i] {
					t.Fatalf("%q and %q: %v", old, now, partner)
				}
				last = at
			}
		}
	})
}
