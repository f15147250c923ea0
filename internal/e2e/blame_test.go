package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A job is a turn: an agent that changes one file, or a person who does (by is ""). The change is
// lines with a mark: " " stays, "-" goes, "+" is new, and ">" stood elsewhere in the file, or with
// other white space, and keeps its writer. Several hunks are several edits; "..." stands between.
type job struct {
	by    string // the agent
	file  string
	lines string
	// create writes the whole file, shell adds to its end by a here-document, again goes on with
	// the last session, and fail makes an edit that the agent refuses first.
	create, shell, again, fail bool
	then                       string // git commands afterwards, one a line
}

// The history of a repository: a program that grows, is changed, moved and renamed, by four agents
// and a person.
func blameJobs() []job {
	return []job{
		{by: "claude-code", file: "pump.go", create: true, lines: `
+package pump
+
+import "fmt"
+
+// Pump lifts water.
+type Pump struct {
+	Rate int
+	On   bool
+}
+
+func (p *Pump) Start() {
+	p.On = true
+}
+
+func (p *Pump) Stop() {
+	p.On = false
+}
`},
		{by: "codex", file: "pump.go", lines: `
 func (p *Pump) Stop() {
 	p.On = false
 }
+
+// Level returns the height of the water, in millimetres.
+func (p *Pump) Level() int {
+	if !p.On {
+		return 0
+	}
+	return p.Rate * 12
+}
`, then: "add -A\ncommit -m first"},
		{by: "gemini-cli", file: "pump.go", fail: true, lines: `
 type Pump struct {
-	Rate int
+	Rate int // litres in a minute
 	On   bool
+	name string
 }
`},
		{by: "opencode", file: "pump.go", lines: `
 	if !p.On {
-		return 0
+		return -1
 	}
-	return p.Rate * 12
+	return p.Rate*12 + offset(p.name)
 }
+
+func offset(name string) int {
+	if name == "" {
+		return 0
+	}
+	return len(name)
+}
`},
		{file: "pump.go", lines: `
 // Pump lifts water.
+// It was measured by hand in the cellar.
 type Pump struct {
`, then: "add -A\ncommit -m second"},
		{by: "gemini-cli", file: "notes.md", create: true, lines: `
+# Notes
+
+- The pump is in the cellar.
+- The valve is beside it.
+
+## Open
+
+- Who pays for the valve?
`},
		{by: "claude-code", file: "notes.md", shell: true, lines: `
+- When does the plumber come?
+
+## Closed
+
`},
		{by: "codex", file: "notes.md", shell: true, lines: `
+- The seal was changed in May.
+- The key is at the neighbour's.
`},
		{by: "opencode", file: "valve.go", create: true, lines: `
+package pump
+
+// Valve closes a pipe.
+type Valve struct {
+	Open bool
+}
+
+func (v *Valve) Turn() {
+	v.Open = !v.Open
+}
`, then: "add -A\ncommit -m third"},
		{by: "claude-code", file: "pump.go", again: true, lines: `
 func (p *Pump) Start() {
-	p.On = true
+	if p.name != "" {
+		fmt.Println("start", p.name)
+	}
+	p.On = true // and stays on until Stop is called
 }
...
 func (p *Pump) Stop() {
+	if p.name != "" {
+		fmt.Println("stop", p.name)
+	}
 	p.On = false
 }
`},
		{file: "pump.go", lines: `
 	return len(name)
 }
+
+// by hand: the end
`, then: "mv pump.go lift.go\nadd -A\ncommit -m renamed"},
		{by: "codex", file: "lift.go", lines: `
-func offset(name string) int {
-	if name == "" {
-		return 0
-	}
-	return len(name)
-}
-
 // by hand: the end
+
+// offset depends on the length of the name.
>func offset(name string) int {
>	if name == "" {
>		return 0
>	}
>	return len(name)
>}
`},
		{by: "opencode", file: "lift.go", lines: `
 	if !p.On {
-		return -1
+		return -2
 	}
`, then: "add -A\ncommit -m fourth"},
		{by: "gemini-cli", file: "valve.go", lines: `
 func (v *Valve) Turn() {
-	v.Open = !v.Open
+	if v != nil {
>		v.Open = !v.Open
+	}
 }
`},
		{by: "claude-code", file: "valve.go", lines: `
 type Valve struct {
 	Open bool
+	Pipe string
 }
+
+// Close closes a valve for good.
+func (v *Valve) Close() {
+	v.Open = false
+}
`},
		{by: "opencode", file: "notes.md", lines: `
-- The valve is beside it.
+- The valve is above it, behind the board.
 
`, then: "add -A\ncommit -m fifth"},
		{by: "gemini-cli", file: "lift.go", lines: `
 // Level returns the height of the water, in millimetres.
+// It is -2 if the pump does not run.
 func (p *Pump) Level() int {
`},
	}
}

// mark is a line of a job without its mark.
type mark struct {
	kind byte
	text string
}

// hunks returns the lines of a job, hunk by hunk.
func (j *job) hunks() (out [][]mark) {
	for hunk := range strings.SplitSeq(strings.Trim(j.lines, "\n"), "\n...\n") {
		var list []mark
		for line := range strings.SplitSeq(hunk, "\n") {
			if line == "" {
				line = " "
			}
			list = append(list, mark{line[0], line[1:]})
		}
		out = append(out, list)
	}
	return out
}

// sides returns the text before and after a hunk.
func sides(hunk []mark) (old, now string) {
	var a, b []string
	for _, m := range hunk {
		if m.kind == ' ' || m.kind == '-' {
			a = append(a, m.text)
		}
		if m.kind != '-' {
			b = append(b, m.text)
		}
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n")
}

// truth is a file with the writer of each line: the number of a job, or -1.
type truth struct {
	text []string
	by   []int
}

// apply changes the truth as a job says. Hunks are found by their old lines.
func (f *truth) apply(t *testing.T, n int, j *job) {
	t.Helper()
	by := n
	if j.by == "" {
		by = -1
	}
	gone := map[string]int{}
	for _, hunk := range j.hunks() {
		var old, now []string
		var writers []int
		for _, m := range hunk {
			if m.kind == ' ' || m.kind == '-' {
				old = append(old, m.text)
			}
		}
		at := len(f.text)
		if !j.create && !j.shell {
			at = -1
			for i := 0; i+len(old) <= len(f.text); i++ {
				if slices.Equal(f.text[i:i+len(old)], old) {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("job %d: %q has no\n%s", n, j.file, strings.Join(old, "\n"))
			}
		}
		from := at
		for _, m := range hunk {
			switch m.kind {
			case ' ':
				now, writers = append(now, m.text), append(writers, f.by[from])
				from++
			case '-':
				gone[strings.TrimSpace(m.text)] = f.by[from]
				from++
			case '+':
				now, writers = append(now, m.text), append(writers, by)
			case '>':
				was, ok := gone[strings.TrimSpace(m.text)]
				if !ok {
					t.Fatalf("job %d: %q did not stand elsewhere", n, m.text)
				}
				now, writers = append(now, m.text), append(writers, was)
			}
		}
		f.text = slices.Concat(f.text[:at], now, f.text[from:])
		f.by = slices.Concat(f.by[:at], writers, f.by[from:])
	}
}

func (f *truth) String() string { return strings.Join(f.text, "\n") + "\n" }

// calls are what the model asks for in a job.
func (j *job) calls(dir string) (list []toolUse) {
	path := filepath.Join(dir, j.file)
	if j.shell {
		_, text := sides(j.hunks()[0])
		script := "cat >> " + j.file + " <<'EOF'\n" + text + "\nEOF"
		switch j.by {
		case "codex":
			return []toolUse{{name: "exec_command", args: map[string]any{"cmd": script}}}
		case "claude-code":
			return []toolUse{{name: "Bash",
				args: map[string]any{"command": script, "description": "Add to the notes"}}}
		}
		panic("no shell of " + j.by)
	}
	if j.by == "codex" {
		var b strings.Builder
		b.WriteString("*** Begin Patch\n*** Update File: " + j.file + "\n")
		for _, hunk := range j.hunks() {
			b.WriteString("@@\n")
			for _, m := range hunk {
				kind := m.kind
				if kind == '>' {
					kind = '+'
				}
				b.WriteString(string(kind) + m.text + "\n")
			}
		}
		return []toolUse{{name: "apply_patch", text: b.String() + "*** End Patch"}}
	}
	if !j.create && j.by == "claude-code" {
		list = append(list, toolUse{name: "Read", args: map[string]any{"file_path": path}})
	}
	if !j.create && j.by == "opencode" {
		list = append(list, toolUse{name: "read", args: map[string]any{"filePath": path}})
	}
	for _, hunk := range j.hunks() {
		old, now := sides(hunk)
		if j.create {
			now += "\n"
			list = append(list, map[string]toolUse{
				"claude-code": {name: "Write",
					args: map[string]any{"file_path": path, "content": now}},
				"gemini-cli": {name: "write_file",
					args: map[string]any{"file_path": path, "content": now}},
				"opencode": {name: "write",
					args: map[string]any{"filePath": path, "content": now}},
			}[j.by])
			continue
		}
		edit := func(old, now string) toolUse {
			return map[string]toolUse{
				"claude-code": {name: "Edit",
					args: map[string]any{"file_path": path, "old_string": old, "new_string": now}},
				"gemini-cli": {name: "replace",
					args: map[string]any{"file_path": path, "old_string": old, "new_string": now,
						"instruction": "Change it."}},
				"opencode": {name: "edit",
					args: map[string]any{"filePath": path, "oldString": old, "newString": now}},
			}[j.by]
		}
		if j.fail {
			list = append(list, edit("\tthis stands nowhere in the file\n"+old, now))
		}
		list = append(list, edit(old, now))
	}
	return list
}

// asks is the number of lines that are asked about.
const asks = 50

// TestBlame makes a repository with the real clients and asks who wrote its lines.
func TestBlame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, clients()...)
	server := &editServer{jobs: map[string][]toolUse{}, tools: map[string]bool{}}
	w.server.Config.Handler = server
	if err := os.Remove(filepath.Join(w.dir, noteFile)); err != nil {
		t.Fatal(err)
	}
	w.git("init -q")
	jobs := blameJobs()
	repository := map[string]*truth{}
	last := map[string]bool{}
	for n := range jobs {
		j := &jobs[n]
		f := repository[j.file]
		if f == nil {
			f = &truth{}
			repository[j.file] = f
		}
		f.apply(t, n, j)
		path := filepath.Join(w.dir, j.file)
		if j.by == "" {
			if err := os.WriteFile(path, []byte(f.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			tag := fmt.Sprintf("job-%d", n)
			server.mu.Lock()
			server.jobs[tag] = j.calls(w.dir)
			server.mu.Unlock()
			w.run(w.work(j, last[j.by], tag+": change "+j.file)...)
			last[j.by] = true
			if b, err := os.ReadFile(path); err != nil || string(b) != f.String() {
				t.Fatalf("%s, %s: %v\n%s\nwant\n%s\nnot offered: %q; offered: %v", j.by, tag, err,
					b, f, server.failed, server.tools)
			}
		}
		for command := range strings.SplitSeq(j.then, "\n") {
			if command == "mv pump.go lift.go" {
				repository["lift.go"] = repository["pump.go"]
				delete(repository, "pump.go")
			}
			w.git(command)
		}
	}
	w.run("ctx", "init")
	for _, c := range clients() {
		w.bring(c)
	}
	w.judge(repository)
}

// git runs a command of git in the project.
func (w *world) git(command string) {
	w.Helper()
	if command == "" {
		return
	}
	args := append([]string{"-c", "user.name=P", "-c", "user.email=p@example.com"},
		strings.Fields(command)...)
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("git %s: %v\n%s", command, err, out)
	}
}

// work is the command that has an agent do a job.
func (w *world) work(j *job, before bool, prompt string) []string {
	for _, c := range clients() {
		if c.name != j.by {
			continue
		}
		words := c.prompt(prompt)
		switch c.name {
		case "claude-code":
			words = []string{"claude", "-p", prompt, "--model", "claude-sonnet-4-5",
				"--allowedTools", "Bash,Read,Edit,Write"}
			if j.again && before {
				words = slices.Insert(words, 1, "--continue")
			}
		case "codex":
			// Which has apply_patch
			words = slices.Insert(words, 2, "--dangerously-bypass-approvals-and-sandbox",
				"--model", "gpt-5.5")
		}
		return words
	}
	panic("no agent " + j.by)
}

// judge asks for lines of all files, and compares with the truth.
func (w *world) judge(repository map[string]*truth) {
	w.Helper()
	type line struct {
		Line   int     `json:"line"`
		Text   string  `json:"text"`
		By     string  `json:"by"`
		Prompt *string `json:"prompt"`
	}
	type question struct {
		file string
		n    int
	}
	var all []question
	var names []string
	for name := range repository {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for n := range repository[name].text {
			all = append(all, question{name, n})
		}
	}
	if len(all) < asks {
		w.Fatalf("only %d lines", len(all))
	}
	prompts := map[string]int{}
	job := func(id string) int {
		if n, known := prompts[id]; known {
			return n
		}
		n := -1
		tag := jobTag.FindString(w.run("ctx", "expand", id))
		_, _ = fmt.Sscanf(tag, "job-%d", &n)
		prompts[id] = n
		return n
	}
	right, asked, every := 0, 0, 0
	for i, q := range all {
		f := repository[q.file]
		// As many as asks, with even distances.
		sample := i*asks/len(all) != (i+1)*asks/len(all)
		var got line
		out := w.blame(fmt.Sprintf("%s:%d", q.file, q.n+1))
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			w.Fatalf("%q: %v", out, err)
		}
		who := -1
		if got.Prompt != nil {
			who = job(*got.Prompt)
		}
		ok := who == f.by[q.n] && got.Text == f.text[q.n]
		if ok {
			every++
		} else {
			w.Logf("%s:%d %q was written by job %d, not %d (%s)", q.file, q.n+1, f.text[q.n],
				f.by[q.n], who, got.By)
		}
		if sample {
			asked++
			if ok {
				right++
			}
		}
	}
	w.Logf("%d of %d lines found; of all lines %d of %d", right, asked, every, len(all))
	if right != asked {
		w.Errorf("%d of %d lines found", right, asked)
	}
}

// blame asks for one line. Exit code 1 says that no session wrote it.
func (w *world) blame(line string) string {
	w.Helper()
	cmd := exec.Command(filepath.Join(w.bin, "ctx"), "blame", line, "--json")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		w.Fatalf("blame %s: %v\n%s", line, err, out)
	}
	return string(out)
}
