package homes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/faults"
)

// TestHomes imports everything of generated homes into the stores of their projects, and compares
// every text with the truth: who said it, in which project, in which order, how often. It then
// looks at what status, brief, a hook, search and a clone say. CTX_HOMES=20 takes 20 homes of 200
// sessions; CTX_HOMES_SEED is the first seed.
func TestHomes(t *testing.T) {
	homes, size, seed := 1, 60, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("CTX_HOMES")); err == nil {
		homes, size = n, 200
	}
	if n, err := strconv.ParseUint(os.Getenv("CTX_HOMES_SEED"), 10, 64); err == nil {
		seed = n
	}
	ctx := faults.Build(t)
	for range homes {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) { judge(t, ctx, seed, size) })
		seed++
	}
}

func judge(t *testing.T, ctx string, seed uint64, size int) {
	dir, err := filepath.EvalSymlinks(durabletest.TempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	h, err := Make(dir, seed, size)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Projects {
		h.in(ctx, p.Dir).Must(t, "init")
	}
	for _, p := range h.Projects {
		c := &court{t: t, h: h, p: p, run: h.in(ctx, p.Dir)}
		c.imports()
		c.compare(c.run)
		c.heads()
		c.speaks()
		if err := h.Grow(p); err != nil {
			t.Fatal(err)
		}
		c.imports()
		c.run.Must(t, "compact", "--all")
		c.run.Must(t, "gc")
		c.run.Must(t, "fsck")
		c.compare(c.run)
		c.travels(ctx)
		t.Logf("seed %d, %s: %d sessions, %d texts", seed, c.name(), len(p.Sessions), c.texts)
	}
}

// in returns ctx as it runs in a directory, with the home.
func (h *Home) in(ctx, dir string) faults.Program {
	return faults.Program{Path: ctx, Dir: dir, Env: []string{"HOME=" + h.Dir,
		"XDG_DATA_HOME=" + filepath.Join(h.Dir, ".local", "share"),
		"XDG_CONFIG_HOME=" + filepath.Join(h.Dir, ".config")}}
}

// court judges what ctx made of one project.
type court struct {
	t     *testing.T
	h     *Home
	p     *Project
	run   faults.Program
	texts int
}

func (c *court) name() string {
	name, _ := filepath.Rel(c.h.work, c.p.Dir)
	return filepath.ToSlash(name)
}

func (c *court) errorf(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("%s: %s", c.name(), fmt.Sprintf(format, args...))
}

// imports imports all, twice: the second time brings nothing.
func (c *court) imports() {
	if len(c.p.Sessions) == 0 {
		return
	}
	first := c.run.Run("import", "--all")
	if first.Code > 1 {
		c.errorf("%v", first)
	}
	again := c.run.Run("import", "--all", "--json")
	for line := range strings.Lines(again.Out) {
		var file struct {
			File     string
			Messages int
		}
		if json.Unmarshal([]byte(line), &file) == nil && file.Messages > 0 {
			c.errorf("the second import brought %d messages of %s", file.Messages, file.File)
		}
	}
}

// entry is what `ctx log --json` prints of an entry.
type entry struct {
	ID, Kind, Role, Text, Time string
}

// conversation is a session in the store.
type conversation struct {
	Session string
	Head    bool
	Parent  *struct{ Session string }

	entries []entry
}

// sessions reads what a store has.
func (c *court) sessions(run faults.Program) (list []*conversation) {
	for line := range strings.Lines(run.Must(c.t, "session", "list", "--all", "--json")) {
		s := &conversation{}
		if err := json.Unmarshal([]byte(line), s); err != nil {
			c.t.Fatal(err)
		}
		for line := range strings.Lines(run.Must(c.t, "log", "-s", s.Session, "--json")) {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				c.t.Fatal(err)
			}
			if e.Kind == "message" {
				s.entries = append(s.entries, e)
			}
		}
		list = append(list, s)
	}
	return list
}

// compare compares every text with the truth.
func (c *court) compare(run faults.Program) {
	stored := c.sessions(run)
	whose := map[string]*Session{} // by token
	for _, p := range c.h.Projects {
		for _, s := range p.Sessions {
			note(whose, s)
		}
	}
	for _, s := range c.h.Strays {
		note(whose, s)
	}
	own := map[*Session]bool{}
	for _, s := range c.p.Sessions {
		own[s] = true
	}
	ids := map[string]string{} // token -> id of the entry that has it
	for _, s := range stored {
		for _, e := range s.entries {
			of, token := whose[first(e.Text)], first(e.Text)
			switch {
			case of == nil:
			case !own[of]:
				c.errorf("foreign: session %s of %s has %q of %s", s.Session, of.Agent, e.Text,
					of.Cwd)
			case ids[token] != "" && ids[token] != e.ID:
				c.errorf("doubled: %q of a %s session that is %s", e.Text, of.Agent, of.Shape)
			}
			ids[token] = e.ID
		}
	}
	for _, s := range c.p.Sessions {
		c.compareSession(s, stored)
	}
}

func note(whose map[string]*Session, s *Session) {
	for i := range s.Said {
		if token := first(s.Said[i].Text); whose[token] == nil {
			whose[token] = s
		}
	}
}

// first is the first word of a text.
func first(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// compareSession compares a session with the one in the store that has its last own text.
func (c *court) compareSession(s *Session, stored []*conversation) {
	var want []Said
	for _, said := range s.Said {
		if !said.Left && !said.Gone {
			want = append(want, said)
		}
	}
	c.texts += len(want)
	if len(want) == 0 {
		return
	}
	token := first(want[len(want)-1].Text)
	at := slices.IndexFunc(stored, func(g *conversation) bool {
		return slices.ContainsFunc(g.entries,
			func(e entry) bool { return first(e.Text) == token })
	})
	what := fmt.Sprintf("%s session %s of %s that is %s", s.Agent, s.ID, s.Cwd, s.Shape)
	if at < 0 {
		c.errorf("missing: a %s: %s", what, s.File)
		return
	}
	tokens := map[string]bool{}
	for _, said := range s.Said {
		tokens[first(said.Text)] = true
	}
	var got []entry
	for _, e := range stored[at].entries {
		if tokens[first(e.Text)] {
			got = append(got, e)
		}
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			c.errorf("missing: %q of a %s", want[i].Text, what)
		case i >= len(want):
			c.errorf("more than was said: %q in a %s", got[i].Text, what)
		case got[i].Text != want[i].Text:
			c.errorf("in place of %q: %q, in a %s", want[i].Text, got[i].Text, what)
			return
		case got[i].Role != string(want[i].Who):
			c.errorf("said by %s, not by %s: %q in a %s", want[i].Who, got[i].Role, got[i].Text,
				what)
		}
	}
	if sub := s.Parent != nil && s.Shape != Forked; sub && stored[at].Parent == nil {
		c.errorf("the subagent of a session that is %s has no parent: %s", s.Parent.Shape, what)
	}
}

// heads looks at HEAD: the session in which a person spoke last.
func (c *court) heads() {
	var newest *Session
	var when string
	for _, s := range c.p.Sessions {
		if s.Parent != nil && s.Shape != Forked {
			continue
		}
		for i := range s.Said {
			at := s.at(i)
			if s.Said[i].Who == Person && !s.Said[i].Left && at > when {
				newest, when = s, at
			}
		}
	}
	if newest == nil {
		return
	}
	for _, s := range c.sessions(c.run) {
		if s.Head && !strings.HasPrefix(strings.ReplaceAll(s.Session, "-", ""),
			strings.ReplaceAll(newest.ID, "-", "")) &&
			!strings.Contains(s.Session, strings.ReplaceAll(newest.ID, "-", "")) {
			c.errorf("HEAD is %s, and a person spoke last in the %s session %s that is %s",
				s.Session, newest.Agent, newest.ID, newest.Shape)
		}
	}
}

// speaks looks at what an agent is told at the start of a session, and at what search finds.
func (c *court) speaks() {
	event, err := json.Marshal(map[string]string{"hook_event_name": "SessionStart",
		"session_id": "ffffffff-0000-4000-8000-00000000ffff", "cwd": c.p.Dir, "source": "startup",
		"transcript_path": filepath.Join(c.h.Dir, "none.jsonl")})
	if err != nil {
		c.t.Fatal(err)
	}
	command := c.run.Command("hook", "claude-code")
	command.Stdin = strings.NewReader(string(event))
	told, err := command.Output()
	if err != nil {
		c.errorf("hook: %v", err)
	}
	brief := c.run.Run("brief", "--project").Out
	status := c.run.Run("status")
	if status.Code > 1 {
		c.errorf("%v", status)
	}
	foreign := slices.Clone(c.h.Strays)
	for _, p := range c.h.Projects {
		if p != c.p {
			foreign = append(foreign, p.Sessions...)
		}
	}
	for _, s := range foreign {
		for i := range s.Said {
			token := first(s.Said[i].Text)
			if strings.Contains(string(told), token) || strings.Contains(brief, token) {
				c.errorf("a model is told %q of %s", s.Said[i].Text, s.Cwd)
			}
		}
	}
	if len(c.p.Sessions) == 0 {
		return
	}
	own := c.p.Sessions[0]
	if !own.Said[0].Left {
		token := first(own.Said[0].Text)
		if found := c.run.Run("search", token); !strings.Contains(found.Out, token) {
			c.errorf("search does not find %q: %v", token, found)
		}
	}
	if len(foreign) > 0 {
		token := first(foreign[0].Said[0].Text)
		if found := c.run.Run("search", token); strings.Contains(found.Out, token) {
			c.errorf("search finds %q of %s", token, foreign[0].Cwd)
		}
	}
}

// travels pushes all to a folder and clones it: the clone has the same.
func (c *court) travels(ctx string) {
	if len(c.p.Sessions) == 0 {
		return
	}
	far := filepath.Join(c.h.work, "..", "remotes", c.name())
	if err := os.MkdirAll(far, 0o700); err != nil {
		c.t.Fatal(err)
	}
	c.run.Must(c.t, "remote", "add", "origin", "dir:"+far)
	c.run.Must(c.t, "config", "set", "remote.origin.share", "all")
	c.run.Must(c.t, "push")
	there := filepath.Join(c.h.work, "..", "clones", c.name())
	if err := os.MkdirAll(there, 0o700); err != nil {
		c.t.Fatal(err)
	}
	clone := c.h.in(ctx, there)
	clone.Must(c.t, "clone", "--share", "all", "dir:"+far, ".")
	texts := c.texts
	c.compare(clone)
	c.texts = texts
}
