package browse

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/lock"
)

var update = flag.Bool("update", false, "write the golden screens")

// counted is a source of bytes that is the same in every run.
type counted struct{}

func (counted) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i)
	}
	return len(p), nil
}

// newStore makes a store with a clock that gives a minute more each time.
func newStore(t testing.TB) *session.Store {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	env := repo.Env{
		WorkDir: dir, Random: counted{}, Owner: lock.Owner{PID: 1, Host: "test", Command: "test"},
		Now:       func() time.Time { now = now.Add(time.Minute); return now },
		Overrides: []string{"window.graduate_at=2", "window.evict_at=4"},
	}
	if _, _, err := repo.Init(env, dir); err != nil {
		t.Fatal(err)
	}
	r, err := repo.Open(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s := session.New(r)
	s.History.Warn = func(string) {}
	return s
}

// say appends texts of one role.
func say(t testing.TB, s *session.Store, name, role string, texts ...string) {
	t.Helper()
	var batch []conversation.Message
	for _, text := range texts {
		batch = append(batch, conversation.Message{Role: role, Text: text})
	}
	add(t, s, name, batch...)
}

func add(t testing.TB, s *session.Store, name string, batch ...conversation.Message) {
	t.Helper()
	if _, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch, batch,
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
}

// parts makes the parts of a message.
func parts(t testing.TB, list ...any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type object = map[string]any

func call(id, tool string, args any) any {
	return object{"functionCall": object{"id": id, "name": tool, "args": args}}
}

func result(id, tool string, response any) any {
	return object{"functionResponse": object{"id": id, "name": tool, "response": response}}
}

func open(t testing.TB, s *session.Store, width, height int) *model {
	t.Helper()
	m, err := newModel(context.Background(), s, "", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	m.plain = true
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

// press sends keys as a terminal does, and runs what they begin to its end. Names of keys are in
// the list.
func press(m *model, keys ...string) {
	for _, key := range keys {
		_, cmd := m.Update(keyOf(key))
		settle(m, cmd)
	}
}

func keyOf(key string) tea.KeyPressMsg {
	named := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
		"space": {Code: tea.KeySpace, Text: " "}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
		"ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
		"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "backspace": {Code: tea.KeyBackspace},
	}
	if msg, ok := named[key]; ok {
		return msg
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

// settle runs what a key has begun to its end.
func settle(m *model, cmd tea.Cmd) {
	for cmd != nil {
		done, ok := cmd().(doneMsg)
		if !ok {
			return
		}
		_, cmd = m.Update(done)
	}
}

// typed presses the keys of a text.
func typed(m *model, text string) {
	for _, r := range text {
		press(m, string(r))
	}
}

const hostile = "\x1b]52;c;aGk=\a\x1b[2J\x9b31m red \u202e back \u200f\x00\x1b[31m end"

// talk is a store with the work of an agent, a session of wide characters, and a hostile one. What
// is appended is cleaned of most controls; TestHostile puts them in behind that.
func talk(t testing.TB) *session.Store {
	s := newStore(t)
	say(t, s, "hostile", "user", hostile, "tabs\tand\r\nlines")
	say(t, s, "hostile", "model", strings.Repeat("x", 1<<20), strings.Repeat("e\u0301\u0302", 5000))
	for i := range 12 {
		say(t, s, "long", []string{"user", "model"}[i%2],
			fmt.Sprintf("message %d of the parser\n%s", i, strings.Repeat("line of words\n", i)))
	}
	agent := func(role string, list ...any) conversation.Message {
		return conversation.Message{Role: role, Author: map[string]string{"model": "gpt-5"}[role],
			Parts: parts(t, list...)}
	}
	add(t, s, "work",
		conversation.Message{Role: "user",
			Text: "Why does `ctx-browse` break words in the middle, and why does it show " +
				"JSON?\n\n1. Wrap at words, also in long items of a list, whose second line is " +
				"indented.\n2. Show calls."},
		agent("model", object{"text": "The wrapper counts bytes.", "thought": true},
			object{"text": "I look."},
			call("1", "Bash",
				object{
					"command": "grep -rn wrap internal/browse/ --include=*.go | head -n " +
						"20\necho done", "description": "Find the code that wraps", "timeout": 1000,
					"background": false,
				})),
		agent("tool",
			result("1", "Bash",
				object{"output": "internal/browse/text.go:31: func " +
					"wrap(\ninternal/browse/page.go:61: wrap(rows\nline 3\nline 4\nline 5"})),
		agent("model",
			call("2", "Edit",
				object{"file_path": "/home/ann/work/ctx/internal/browse/text.go",
					"old_string": "a\nb\nc := 1\nd\n", "new_string": "a\nb\nc := 2\ne := 3\nd\n",
					"replace_all": false})),
		agent("tool", result("2", "Edit", object{"error": "String to replace not found in file."})),
		agent("model",
			call("3", "apply_patch",
				"*** Begin Patch\n*** Update File: text.go\n@@ func wrap\n-old line\n+new "+
					"line\n*** End Patch"),
			call("4", "TodoWrite",
				object{"todos": []any{object{"content": "Wrap at words", "status": "completed"},
					object{"content": "Show calls", "status": "in_progress"}}}),
			call("5", "MultiEdit",
				object{"path": "a.go",
					"edits": []any{object{"old_string": "x", "new_string": "y"},
						object{"old_string": "1", "new_string": "2"}}}),
			call("6", "now", nil)),
		agent("tool",
			result("3", "apply_patch",
				object{"output": "diff --git a/text.go b/text.go\n@@ -1 +1 @@\n-old\n+new",
					"exit_code": 1}), result("6", "now", object{"output": ""})),
		agent("model",
			object{"inlineData": object{"mimeType": "image/png",
				"data": strings.Repeat("QUJD", 1000)}},
			object{"text": "# Done\nIt is in " +
				"`/home/ann/work/ctx/internal/browse/a-name-that-is-longer-than-most-lines-of-most-terminals/text.go`."}),
		conversation.Message{Note: true, Role: "system",
			Parts: parts(t,
				object{"claude-code": object{"type": "system", "subtype": "turn_duration",
					"durationMs": 5}, "thought": true})},
		conversation.Message{Note: true, Role: "system", Text: "the agent was restarted"},
		conversation.Message{Role: "model",
			Parts: parts(t, object{"thought": true, "codex": object{"type": "reasoning"}})},
	)
	say(t, s, "wide", "user", "宇宙サービスをどうやってデプロイしますか？「接続できません」と表示されます。ログには何も残っていないので、原因がわかりません。",
		"🚀🚀 and 👪 and Ünïcode é, and emoji 🎉 in a line that is long enough to be wrapped 🎉 more "+
			"than once at 80 columns")
	return s
}

// steps are the keys of the golden screens.
var steps = [][]string{
	nil, {"j"}, {"enter"}, {"g"}, {"j", "j"}, {"j"}, {"j", "j", "space"}, {"ctrl+d"}, {"p"},
	{"q", "f"}, {"j", "enter"}, {"q", "q", "/"},
	{"p", "a", "r", "s", "e", "r"}, {"enter", "j"}, {"enter"}, {"y"}, {"?"},
	{"q", "q", "q", "q", "r"},
	{"j", "j", "enter", "g"}, {"tab", "/", "z", "z", "z", "enter"},
}

// TestScreens compares what a person sees with the files of testdata. -update writes them.
func TestScreens(t *testing.T) {
	s := talk(t)
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 12}} {
		for _, color := range []bool{true, false} {
			m := open(t, s, size[0], size[1])
			m.plain = !color
			var all strings.Builder
			for _, step := range steps {
				press(m, step...)
				screen := m.screen()
				checkScreen(t, screen, size[0], size[1])
				if !color {
					if found := regexp.MustCompile(`\x1b\[[0-9;]*[34][0-9]`).FindString(
						screen); found != "" {
						t.Errorf("%v: a colour without colours: %q", step, found)
					}
					screen = unpainted(screen)
				}
				fmt.Fprintf(&all, "%v\n%s\n", step, screen)
			}
			compare(t,
				fmt.Sprintf("%dx%d%s.txt", size[0], size[1],
					map[bool]string{true: "-color"}[color]), all.String())
		}
	}
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// unpainted returns a screen without what paint adds.
func unpainted(screen string) string { return sgr.ReplaceAllString(screen, "") }

// compare compares a text with a file of testdata, without the spaces at the ends of lines.
func compare(t *testing.T, name, text string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\x1b", "␛"), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	file, got := filepath.Join("testdata", name), strings.Join(lines, "\n")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(want), "\r\n", "\n") != got {
		t.Errorf("%s has changed; `go test ./internal/browse -run %s -update` writes it.\n%s", file,
			t.Name(), got)
	}
}

// checkScreen checks that a screen has its size and nothing that a terminal takes for a command but
// the styles of this program.
func checkScreen(t *testing.T, screen string, width, height int) {
	t.Helper()
	lines := strings.Split(unpainted(screen), "\n")
	if len(lines) != height {
		t.Errorf("%d lines, want %d:\n%s", len(lines), height, screen)
	}
	for _, line := range lines {
		if n := displaywidth.String(line); n != width {
			t.Errorf("%d columns, want %d: %q", n, width, line)
		}
		for _, r := range line {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e ||
				r == 0x200f || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("control %U in %q", r, line)
			}
		}
	}
}

// TestEmptyStore shows that every key is harmless where there is nothing.
func TestEmptyStore(t *testing.T) {
	m := open(t, newStore(t), 80, 24)
	for _, key := range []string{"j", "k", "g", "G", "ctrl+d", "ctrl+u", "enter", "p", "y", "Y",
		"tab", "j", "G", "p", "f", "enter", "p", "b", "q", "r", "?", "j", "r", "q"} {
		press(m, key)
		checkScreen(t, m.screen(), 80, 24)
	}
	if screen := m.screen(); !strings.Contains(screen, "ctx import --all") {
		t.Errorf("an empty store does not say what to do:\n%s", screen)
	}
}

// TestReadsTheScreen shows that a long session is not read as a whole, that going up reads on, and
// that the first message is reached.
func TestReadsTheScreen(t *testing.T) {
	s := newStore(t)
	var texts []string
	for i := range 3 * atOnce {
		texts = append(texts, fmt.Sprintf("number %d", i))
	}
	say(t, s, "long", "user", texts...)
	m := open(t, s, 80, 24)
	press(m, "enter")
	m.screen()
	p, drawn := m.page(), 0
	for _, it := range p.items {
		if it.width > 0 {
			drawn++
		}
	}
	if len(p.items) != atOnce || drawn > 24 {
		t.Errorf("%d headers and %d texts were read for a screen", len(p.items), drawn)
	}
	press(m, "g")
	if screen := m.screen(); len(p.items) != 3*atOnce || !strings.Contains(screen, "number 0 ") {
		t.Errorf("%d items:\n%s", len(p.items), screen)
	}
	press(m, "G")
	if screen := m.screen(); !strings.Contains(screen, fmt.Sprintf("number %d ", 3*atOnce-1)) {
		t.Errorf("no end:\n%s", screen)
	}
	for range 3*atOnce - 1 {
		press(m, "k")
	}
	if p.cur != 0 || !strings.Contains(m.screen(), "number 0 ") {
		t.Errorf("at %d:\n%s", p.cur, m.screen())
	}
}

// TestReload shows that r finds what was said meanwhile.
func TestReload(t *testing.T) {
	s := talk(t)
	m := open(t, s, 80, 24)
	say(t, s, "later", "user", "a new session")
	if press(m, "k"); strings.Contains(m.screen(), "a new session") {
		t.Error("the screen changed by itself")
	}
	if press(m, "r"); !strings.Contains(m.screen(), "a new session") {
		t.Errorf("not read again:\n%s", m.screen())
	}
}

// TestJobs shows that long work says what it does, takes no key, and can be stopped; that reading
// keeps what it has; and that the result of a search that was stopped is dropped.
func TestJobs(t *testing.T) {
	s := newStore(t)
	var texts []string
	for i := range 5000 {
		texts = append(texts, fmt.Sprintf("number %d", i))
	}
	say(t, s, "long", "user", texts...)
	m := open(t, s, 80, 24)
	press(m, "enter")
	p := m.page()
	_, step := m.Update(keyOf("g"))
	if screen := m.screen(); !strings.Contains(screen, "reading older messages") ||
		!strings.Contains(screen, "esc stops") {
		t.Errorf("nothing says that it works:\n%s", screen)
	}
	_, step = m.Update(step()) // the first step
	if step == nil || !strings.Contains(m.screen(), ": 2200 messages") {
		t.Errorf("no progress:\n%s", m.screen())
	}
	frame := m.job.frame
	m.tick = func() tea.Cmd { return tea.Quit }
	if _, again := m.Update(tickMsg{}); again == nil || m.job.frame != frame+1 {
		t.Error("the sign that it works stands still")
	}
	m.tick = nil
	at := p.cur
	if _, cmd := m.Update(keyOf("k")); cmd != nil || p.cur != at {
		t.Error("a key moves while a job runs")
	}
	m.Update(keyOf("esc"))
	if _, step = m.Update(step()); step != nil || m.job != nil || len(p.items) != 4200 ||
		p.items[p.cur].seq != 5000 {
		t.Errorf("after esc: %v, %d items, at #%d", m.job, len(p.items), p.items[p.cur].seq)
	}
	if press(m, "g"); m.job != nil || p.items[p.cur].seq != 1 {
		t.Errorf("at #%d", p.items[p.cur].seq)
	}

	press(m, "/")
	typed(m, "4711")
	_, search := m.Update(keyOf("enter"))
	m.Update(keyOf("esc"))
	if m.Update(search()); m.job != nil || m.page() != p ||
		!strings.Contains(m.screen(), "stopped") {
		t.Errorf("a search that was stopped opens:\n%s", m.screen())
	}
	press(m, "/")
	typed(m, "4711")
	if press(m, "enter"); m.page().kind != hitsPage {
		t.Errorf("no hit:\n%s", m.screen())
	}
	if press(m, "enter"); m.page().current().seq != 4712 {
		t.Errorf("the hit is not there:\n%s", m.screen())
	}
	if _, cmd := m.Update(keyOf("ctrl+c")); cmd == nil {
		t.Error("ctrl-c does not leave")
	} else if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("ctrl-c does not leave")
	}
}

// TestCopy shows what a terminal gets to copy: the id, or the words without controls.
func TestCopy(t *testing.T) {
	s := talk(t)
	m := open(t, s, 80, 24)
	copied := func(key string) string {
		t.Helper()
		_, cmd := m.Update(keyOf(key))
		if cmd == nil {
			t.Fatalf("%s copies nothing", key)
		}
		return fmt.Sprint(cmd())
	}
	if got := copied("y"); got != "wide" {
		t.Errorf("a session: %q", got)
	}
	press(m, "enter")
	id := m.page().current().id.String()
	if got := copied("y"); got != id || !strings.Contains(m.screen(), "copied 64 bytes") {
		t.Errorf("a message: %q, want %q", got, id)
	}
	if got := copied("Y"); !strings.HasPrefix(got, "🚀🚀 and 👪") {
		t.Errorf("its words: %q", got)
	}
	m.page().current().copy = func() (string, error) { return hostile + "\n\tx", nil }
	if got := copied("Y"); strings.ContainsAny(got, "\x1b\x00\a\u202e\u009b") ||
		!strings.HasSuffix(got, " end\n\tx") {
		t.Errorf("hostile words: %q", got)
	}
}

// TestHostile puts controls of terminals where they cannot come from a store that checks what is
// stored: into every field that is shown.
func TestHostile(t *testing.T) {
	s := talk(t)
	m := open(t, s, 80, 24)
	long := strings.Repeat(hostile, 100)
	shown := &history.Shown{Text: hostile}
	for _, list := range [][]any{
		{object{"text": long}}, {object{"text": hostile, "thought": true}},
		{call(hostile, long, object{hostile: hostile})}, {call("1", hostile, hostile)},
		{call("1", "x", []any{hostile, object{hostile: hostile}})},
		{call("1", "x",
			object{"old_string": hostile, "new_string": long, "command": "a\n" + hostile})},
		{result("1", hostile, hostile)},
		{result("1", "x", object{"error": long, hostile: []any{hostile}})},
		{result("1", "x", object{"output": hostile})},
		{object{"inlineData": object{"mimeType": hostile, "data": "QUJD"}}},
		{object{"fileData": object{"mimeType": "a", "fileUri": hostile}}},
	} {
		shown.Parts = parts(t, list...)
		for _, width := range []int{2, 7, 78} {
			lines, _ := wrap(said(shown), width, mostLines)
			checkLines(t, lines, width)
		}
	}
	shown.Parts, shown.Gone = nil, hostile
	lines, _ := wrap(said(shown), 78, mostLines)
	checkLines(t, lines, 78)
	m.left.items[0].title = short(long)
	m.left.items[0].head = line{{bold, short(long)}}
	m.left.items[0].branches = []string{"main", hostile}
	press(m, "b") // which does not exist: its error has the name
	checkScreen(t, m.screen(), 80, 24)
	m.Update(tea.PasteMsg{Content: hostile})
	m.Update(keyOf("/"))
	m.Update(tea.PasteMsg{Content: hostile})
	checkScreen(t, m.screen(), 80, 24)
	press(m, "enter")
	checkScreen(t, m.screen(), 80, 24)
	if got := nameOf(hostile + "@" + hostile); got != clean(got) {
		t.Errorf("%q", got)
	}
}

func checkLines(t *testing.T, lines []line, width int) {
	t.Helper()
	for _, l := range lines {
		if text := l.String(); displaywidth.String(text) > width || clean(text) != text {
			t.Errorf("at %d columns: %q", width, text)
		}
	}
}

// TestWrap shows where lines are broken.
func TestWrap(t *testing.T) {
	for _, one := range []struct {
		row   row
		width int
		want  string
	}{
		{row{text: "words stay whole"}, 11, "words stay|whole"},
		{row{text: "words stay whole"}, 10, "words stay|whole"},
		{row{text: "words stay whole"}, 9, "words|stay|whole"},
		{row{text: "a longer-than-a-line word"}, 10, "a longer-|than-a-|line word"},
		{row{text: "/usr/share/doc/file.go"}, 12, "/usr/share/|doc/file.go"},
		{row{text: "see internationalization"}, 10, "see intern|ationaliza|tion"},
		{row{text: "  an indent stays here"}, 12, "  an indent|  stays here"},
		{row{text: "- an item of a list", hang: 2}, 10, "- an item|  of a|  list"},
		{row{lead: "▸ Bash  ", text: "ls -la /tmp", hang: 4}, 14, "▸ Bash  ls -la|    /tmp"},
		{row{text: "宇宙サービス、です"}, 12, "宇宙サービ|ス、です"},
		{row{text: "「宇宙」です"}, 6, "「宇|宙」で|す"},
		{row{text: "go 宇宙 go"}, 6, "go 宇|宙 go"},
		{row{text: "xxxxxxxx"}, 3, "xxx|xxx|xx"},
		{row{text: "cut to one line", cut: true}, 8, "cut to …"},
		{row{text: ""}, 8, ""},
	} {
		lines, more := wrap([]row{one.row}, one.width, 100)
		var got []string
		for _, l := range lines {
			got = append(got, l.String())
		}
		if strings.Join(got, "|") != one.want || more {
			t.Errorf("%q at %d: %q, want %q", one.row.text, one.width,
				strings.Join(got, "|"), one.want)
		}
	}
}

// FuzzWrap checks that lines fit, that nothing reaches the terminal, that wrapping ends, and that
// it loses nothing but spaces.
func FuzzWrap(f *testing.F) {
	for _, seed := range []string{"", "a b c", "宇宙 サービス", "\x1b[2J\u202e\t\xff",
		strings.Repeat("e\u0301", 300), "👪👪", "    /a/b/c/d", "  \u3000"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 2 + (width&0xff)%100
		lines, more := wrap(rowsOf(normal, text), width, mostLines)
		checkLines(t, lines, width)
		var all strings.Builder
		for _, l := range lines {
			if n := displaywidth.String(fit(l.String(), width)); n != width {
				t.Errorf("%q fits %d columns of %d", l, n, width)
			}
			all.WriteString(l.String())
		}
		bare := func(text string) string {
			return strings.NewReplacer(" ", "", "\n", "").Replace(
				clean(strings.ReplaceAll(text, "\n", " ")))
		}
		if !more && bare(all.String()) != bare(text) {
			t.Errorf("%q at %d columns: %q", text, width, all.String())
		}
	})
}

// FuzzSaid checks that any parts become lines that fit.
func FuzzSaid(f *testing.F) {
	f.Add([]byte(
		`[{"functionCall":{"name":"x","args":{"old_string":"a","new_string":"b","edits":[{"old_str":"c"}]}}}]`))
	f.Add([]byte(
		`[{"functionResponse":{"name":"x","response":{"error":[],"a":{}}}},{"thought":true}]`))
	f.Add([]byte(`[1,"x",{"functionCall":{"args":[[],{},null]}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		shown := &history.Shown{Parts: raw, Text: string(raw),
			Entry: &format.Entry{Kind: format.KindNote}}
		lines, _ := wrap(said(shown), 20, 100)
		checkLines(t, lines, 20)
		if len(lines) == 0 {
			t.Error("nothing is shown")
		}
	})
}

// The pinned sessions come first, with their tags.
func TestTags(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"old", "new"} {
		_, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch,
			[]conversation.Message{{Role: "user", Text: name}}, conversation.AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := s.Conversation.SetAbout(context.Background(), "old",
		func(a *history.About) { a.Tags, a.Pinned = []string{"ci"}, true })
	if err != nil {
		t.Fatal(err)
	}
	view, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&source{store: s, view: view, zone: time.UTC}).sessions()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.items[0].read()
	if err != nil || p.items[0].session != "old" ||
		!strings.HasSuffix(rows[0].text, "pinned  #ci") {
		t.Errorf("%v, %s: %v", err, p.items[0].session, rows)
	}
}
