package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/lock"
)

var update = flag.Bool("update", false, "write the golden screens")

// bytes is a source of bytes that is the same in every run.
type bytes struct{}

func (bytes) Read(p []byte) (int, error) {
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
		WorkDir: dir, Random: bytes{}, Owner: lock.Owner{PID: 1, Host: "test", Command: "test"},
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

// say appends messages of one role.
func say(t testing.TB, s *session.Store, name, role string, texts ...string) {
	t.Helper()
	var batch []conversation.Message
	for _, text := range texts {
		batch = append(batch, conversation.Message{Role: role, Text: text})
	}
	if _, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch, batch, conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, s *session.Store, width, height int) *model {
	t.Helper()
	m, err := newModel(s, "", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	m.plain = true
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

// press sends keys as a terminal does; names of keys are in the list.
func press(m *model, keys ...string) {
	named := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
		"space": {Code: tea.KeySpace, Text: " "}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
		"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "backspace": {Code: tea.KeyBackspace},
	}
	for _, key := range keys {
		msg, ok := named[key]
		if !ok {
			msg = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		m.Update(msg)
	}
}

// talk is a store with a session of wide characters, one of hostile texts, and a long one.
func talk(t testing.TB) *session.Store {
	s := newStore(t)
	say(t, s, "hostile", "user", "\x1b]52;c;aGk=\a\x1b[2J\x9b31m red \u202e back \u200f\x00 end", "tabs\tand\r\nlines")
	say(t, s, "hostile", "model", strings.Repeat("x", 1<<20), strings.Repeat("e\u0301\u0302", 5000))
	for i := range 12 {
		say(t, s, "long", []string{"user", "model", "tool"}[i%3], fmt.Sprintf("message %d of the parser\n%s", i, strings.Repeat("line of words\n", i)))
	}
	say(t, s, "wide", "user", "宇宙サービスをどうやってデプロイしますか？接続できません。", "🚀🚀 and 👪 and Ünïcode é")
	return s
}

// TestScreens compares what a person sees with the files of testdata. -update writes them.
func TestScreens(t *testing.T) {
	s := talk(t)
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 12}} {
		m := open(t, s, size[0], size[1])
		var all strings.Builder
		for _, step := range [][]string{
			nil, {"j"}, {"enter", "k", "k"}, {"g"}, {"j", "j", "j", "space"}, {"ctrl+d"}, {"p"}, {"q", "f"}, {"enter"}, {"q", "q", "/"},
			{"p", "a", "r", "s", "e", "r"}, {"enter", "j"}, {"enter"}, {"y"}, {"?"}, {"q", "q", "q", "q", "r"},
			{"G", "enter", "g"}, {"tab", "/", "z", "z", "z", "enter"},
		} {
			press(m, step...)
			screen := m.screen()
			checkScreen(t, screen, size[0], size[1])
			fmt.Fprintf(&all, "%v\n%s\n", step, screen)
		}
		var lines []string
		for line := range strings.SplitSeq(all.String(), "\n") {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		file, got := filepath.Join("testdata", fmt.Sprintf("%dx%d.txt", size[0], size[1])), strings.Join(lines, "\n")
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
			t.Errorf("%s has changed; `go test ./cmd/ctx-browse -update` writes it.\n%s", file, got)
		}
	}
}

// checkScreen checks that a screen has its size and nothing that a terminal takes for a command.
func checkScreen(t *testing.T, screen string, width, height int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) != height {
		t.Errorf("%d lines, want %d:\n%s", len(lines), height, screen)
	}
	for _, line := range lines {
		if n := displaywidth.String(line); n != width {
			t.Errorf("%d columns, want %d: %q", n, width, line)
		}
		for _, r := range line {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0x200f {
				t.Errorf("control %U in %q", r, line)
			}
		}
	}
}

// TestEmptyStore shows that every key is harmless where there is nothing.
func TestEmptyStore(t *testing.T) {
	m := open(t, newStore(t), 80, 24)
	for _, key := range []string{"j", "k", "g", "G", "ctrl+d", "ctrl+u", "enter", "p", "y", "Y", "tab", "j", "G", "p", "f", "enter", "p", "q", "q", "r", "?", "j"} {
		press(m, key)
		checkScreen(t, m.screen(), 80, 24)
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

// FuzzWrap checks that lines fit, that nothing reaches the terminal, and that wrapping ends.
func FuzzWrap(f *testing.F) {
	for _, seed := range []string{"", "a b c", "宇宙 サービス", "\x1b[2J\u202e\t\xff", strings.Repeat("e\u0301", 300), "👪👪"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 2 + (width&0xff)%100
		lines, _ := wrap(text, width, mostLines)
		for _, line := range lines {
			if displaywidth.String(line) > width || clean(line) != line {
				t.Errorf("%q at %d columns: %q", text, width, line)
			}
			if n := displaywidth.String(fit(line, width)); n != width {
				t.Errorf("%q fits %d columns of %d", line, n, width)
			}
		}
	})
}
