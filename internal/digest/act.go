package digest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// The limits of the text of a fact, in bytes.
const (
	maxCommand = 200
	maxTitle   = 240
	// An unanswered question is told word for word, as far as a form could hold it
	maxQuestion = 1000
	maxPattern  = 80
)

// call adds the facts of a call and keeps them open until its result comes.
func (d *Digester) call(c *Call) {
	first := len(d.Made)
	a := readArgs(c.Args)
	kind, ok := deedOf(c.Name)
	if !ok {
		if _, tool := serverTool(c.Name); tool != c.Name {
			kind, ok = deedOf(tool)
		}
	}
	if !ok || kind != waitFor && len(a) > 0 && !fits(kind, a) {
		kind = deedByShape(a)
	}
	d.deed(kind, c, a)
	if plan, ok := a["task_progress"]; ok && kind != setTodos { // Cline sets it beside any call
		defer d.todos(args{"plan": plan})
	}
	if c.ID == "" {
		return
	}
	var open []int
	for i := first; i < len(d.Made); i++ {
		open = append(open, i)
	}
	if kind == waitFor {
		open = d.awaited(a)
	}
	for _, i := range open {
		k := d.Made[i].Kind
		if c.Failed && (k == Command || k == Commit || k == Edit && kind != runCommand) {
			d.Made[i].State = Failed // its result does not say so
		}
	}
	if len(open) > 0 {
		if before := d.Open[c.ID]; len(before) > 0 && d.Made[before[0]].Entry == d.at.Entry {
			open = append(before, open...) // of one script
		}
		d.Open[c.ID] = open
		if script := a.command(); kind == runCommand && (mayRestore(script) || hidesEnd(script)) {
			d.Scripts[c.ID] = prose.Valid(script)
		}
	}
}

// fits reports whether a call has the arguments that its deed needs. A tool of another agent may
// have the same name and another meaning.
func fits(k deed, a args) bool {
	switch k {
	case readFile, editFile:
		return a.text(pathNames) != ""
	case writeFile:
		return a.text(pathNames) != "" && !(a.has(replay.OldNames) && a.has(replay.NewNames))
	case runCommand:
		return a.command() != ""
	}
	return true
}

func (d *Digester) deed(kind deed, c *Call, a args) {
	switch kind {
	case readFile:
		d.reads(a)
	case listFiles, searchText:
		d.searches(a)
	case editFile:
		d.edits(a)
	case writeFile:
		path := a.text(pathNames)
		content := a.text(contentNames)
		n := lines(content)
		d.add(Fact{Kind: Edit, Path: path, Added: n,
			Text: "wrote " + path + named(path, "", content)})
		d.written(path, "", content)
	case runCommand:
		d.command(a.command(), a.text([]string{"description"}), a.text(replay.DirNames))
	case applyPatch:
		d.patch(a.text(patchNames))
	case setTodos:
		d.todos(a)
	case addTask:
		d.addTask(a)
	case updateTask:
		d.updateTask(a)
	case askUser:
		for _, q := range append(a.list("questions"), a) {
			d.add(
				Fact{Kind: Question,
					Text: prose.Short(q.text([]string{"question", "header"}), maxQuestion)})
		}
	case showPlan:
		d.sentences(Report, a.text([]string{"plan"}))
	case waitFor:
	default:
		d.other(kind, c, a)
	}
}

// delegated begins the text of the fact of a call that asks a subagent.
const delegated = "asked a subagent: "

// other adds the fact of a call that touches nothing in the project.
func (d *Digester) other(kind deed, c *Call, a args) {
	server, tool := serverTool(c.Name)
	if key := opensBy(tool); key != "" {
		d.open(key, a.text(titleNames))
		return
	}
	what := prose.Squeeze(a.first(slices.Concat(titleNames, pathNames)))
	text := ""
	switch kind {
	case delegate:
		text = delegated + cmp.Or(a.text([]string{"description"}), what)
	case fetchPage:
		text = "fetched " + cmp.Or(a.text(urlNames), a.text([]string{"prompt"}))
	case searchWeb:
		text = "searched the web: " + a.text(patternNames)
	case remember:
		text = "remembered: " + a.text([]string{"fact"})
	default:
		if text = strings.TrimSpace(server + " " + tool); text != "" && what != "" {
			text += ": " + what
		}
	}
	d.add(Fact{Kind: Act, Text: prose.Short(text, maxTitle)})
	if kind == delegate {
		d.sentences(Task, a.text([]string{"prompt", "message", "description"}))
	}
}

func (d *Digester) reads(a args) {
	for _, path := range a.texts(pathNames) {
		d.readFile(path)
	}
}

func (d *Digester) readFile(path string) {
	d.add(Fact{Kind: Read, Path: path, Text: "read " + path})
}

func (d *Digester) searches(a args) {
	pattern, path := prose.Short(a.text(patternNames), maxPattern), a.text(pathNames)
	switch {
	case pattern == "" && path == "":
	case pattern == "":
		d.add(Fact{Kind: Search, Text: "listed " + path})
	case path == "":
		d.add(Fact{Kind: Search, Text: "searched " + pattern})
	default:
		d.add(Fact{Kind: Search, Text: "searched " + pattern + " in " + path})
	}
}

func (d *Digester) edits(a args) {
	path := a.text(pathNames)
	f := Fact{Kind: Edit, Path: path}
	var before, after strings.Builder
	changes := append(a.list("edits"), a)
	for _, c := range changes {
		before.WriteString(c.text(replay.OldNames) + "\n")
		after.WriteString(c.text(replay.NewNames) + "\n")
	}
	for _, b := range replay.Blocks(a.text(patchNames)) {
		before.WriteString(b[0])
		after.WriteString(b[1])
	}
	old, now := before.String(), after.String()
	f.Added, f.Removed = changedLines(old, now)
	f.Was, f.Now = hashOf(old), hashOf(now)
	f.Text = "edited " + path + named(path, old, now)
	d.add(f)
	d.written(path, old, now)
}

// todos adds the items of a list that a tool sets as a whole. Items of the list before that the new
// one does not have are dropped.
func (d *Digester) todos(a args) {
	before := d.Plan
	if a.has(planNames) {
		d.Plan = nil
	}
	add := func(what, status string) {
		d.todo(what, status)
		d.Plan = append(d.Plan, prose.Valid(prose.Short(what, maxTitle)))
	}
	for _, item := range a.list(planNames...) {
		add(item.text([]string{"content", "step", "description", "text", "title", "subject"}),
			item.text([]string{"status", "state"}))
	}
	for line := range strings.Lines(a.text(planNames)) { // - [x] done, 1. [in_progress] begun
		line = strings.TrimLeft(line, " \t-*+0123456789.)")
		if status, what, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(status, "[") {
			add(what, status[1:])
		}
	}
	for _, key := range before {
		if !slices.Contains(d.Plan, key) {
			d.add(Fact{Kind: Todo, Key: key, State: Dropped, Text: key})
		}
	}
	if why := a.text([]string{"explanation"}); why != "" {
		d.sentences(Said, why)
	}
}

func (d *Digester) todo(what, status string) {
	what = prose.Short(what, maxTitle)
	if what == "" {
		return
	}
	d.add(Fact{Kind: Todo, Key: what, State: todoState(status), Text: what})
}

// addTask adds an item to a task list. The item gets the next number, until the result of the call
// names another one.
func (d *Digester) addTask(a args) {
	title := prose.Short(a.text(titleNames), maxTitle)
	d.Tasks[number(len(d.Tasks)+1)] = title
	d.todo(title, "pending")
}

func (d *Digester) updateTask(a args) {
	what, ok := d.Tasks[a.first([]string{"taskId", "task_id", "id"})]
	if ok && a.has([]string{"status", "state"}) {
		d.todo(what, a.text([]string{"status", "state"}))
	}
}

func todoState(status string) State {
	if strings.ContainsAny(status, "xX✓✔") && utf8.RuneCountInString(status) == 1 {
		return Done
	}
	if len(status) == 1 && strings.Contains("-~/>*", status) {
		return Active
	}
	switch plainName(status) {
	case "completed", "done", "cancelled", "canceled", "deleted":
		return Done
	case "inprogress", "active", "doing":
		return Active
	}
	return Open
}

// serverTool splits the name of a server's tool: mcp__linear__create_issue, linear.create_issue.
func serverTool(name string) (server, tool string) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, tool, ok = strings.Cut(rest, "__"); ok {
			return server, tool
		}
		return "", rest
	}
	if server, tool, ok := strings.Cut(name, "."); ok && tool != "" {
		return server, tool
	}
	return "", name
}

func number(n int) string { return strconv.Itoa(n) }
