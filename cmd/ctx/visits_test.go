package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// TestVisits hands a session from agent to agent, six times, as people do who change the agent in
// the middle of a work: whole and compacted, with turns of every kind. After each visit the session
// has every word once, in the order in which the words were said, whether it is imported or hooks
// record it. CTX_VISITS=24 takes 24 chains of each; CTX_VISITS_SEED is the first seed.
func TestVisits(t *testing.T) {
	chains, seed := 2, uint64(3)
	if n, err := strconv.Atoi(os.Getenv("CTX_VISITS")); err == nil {
		chains = n
	}
	if n, err := strconv.ParseUint(os.Getenv("CTX_VISITS_SEED"), 10, 64); err == nil {
		seed = n
	}
	for range chains {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			newChain(t, seed).run(6)
		})
		t.Run(fmt.Sprint("hooks, seed", seed), func(t *testing.T) {
			t.Parallel()
			c := newChain(t, seed)
			c.hooks = true
			c.run(6)
		})
		seed++
	}
}

// visitChain is one session with all of its visits.
type visitChain struct {
	*testing.T
	rng       *rand.Rand
	home, dir string
	session   string
	visits    []*visit
	said      []string // the truth: what was said, in order
	tick      int
	words     int
	database  map[string]bool
	story     []string // what happened, for the report
	hooks     bool     // of the agents record it, most of the time
	in        []byte   // standard input of the next command
}

func newChain(t *testing.T, seed uint64) *visitChain {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &visitChain{T: t, rng: rand.New(rand.NewPCG(seed, 7)), home: home,
		dir: filepath.Join(home, "p"), database: map[string]bool{}}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// ctx runs a command, which has to go well, and returns what it printed.
func (c *visitChain) ctx(args ...string) string {
	c.Helper()
	var out, errs bytes.Buffer
	c.tick++
	w := screenWorld(c.dir, &out, &errs, c.tick)
	w.stdin, c.in = bytes.NewReader(c.in), nil
	if code := run(context.Background(), w, args); code != 0 {
		c.Fatalf("ctx %s: exit %d: %s%s\n%s", strings.Join(args, " "), code, errs.String(),
			out.String(), strings.Join(c.story, "\n"))
	}
	return out.String()
}

func (c *visitChain) run(visits int) {
	c.ctx("init")
	c.ctx("config", "set", "window.graduate_at", "6")
	c.ctx("config", "set", "window.evict_at", "8")
	for range visits {
		c.visit()
		c.judge()
	}
	for _, v := range c.visits {
		c.bring(v)
	}
	c.judge()
	c.ctx("fsck")
}

// visit hands the session to an agent, which goes on with it; the first agent begins it.
func (c *visitChain) visit() {
	all := visitors()
	v := &visit{T: c.T, visitor: all[c.rng.IntN(len(all))], home: c.home, dir: c.dir,
		number: len(c.visits) + 1, keeps: c.rng.IntN(2) == 0, database: c.database}
	var handed []byte
	if c.session == "" {
		if v.id = v.own(); v.name == "opencode" {
			v.id = "ses_" + strings.ReplaceAll(v.id, "-", "")
		}
		c.session = v.id
	} else {
		args := []string{"resume", "-s", c.session, "--to", v.name, "--json"}
		if c.rng.IntN(2) == 0 {
			c.ctx("compact", "--all")
			args = append(args, "--compacted")
		}
		c.story = append(c.story, strings.Join(args, " "))
		var doc resumeDoc
		if err := json.Unmarshal([]byte(c.ctx(args...)), &doc); err != nil {
			c.Fatal(err)
		}
		v.id, v.file = doc.ID, doc.File
		var err error
		if handed, err = os.ReadFile(doc.File); err != nil {
			c.Fatal(err)
		}
	}
	v.file = v.open(v, handed)
	c.visits = append(c.visits, v)
	c.grow(v)
	if c.rng.IntN(3) == 0 { // an older window is still there, and somebody goes on in it
		c.grow(c.visits[c.rng.IntN(len(c.visits))])
	}
}

// grow has an agent say some turns, and imports them.
func (c *visitChain) grow(v *visit) {
	for range 1 + c.rng.IntN(3) {
		list := c.turn(v)
		v.grow(v, list)
		if c.rng.IntN(2) == 0 {
			c.bring(v)
		}
	}
	c.bring(v)
}

// turn makes up a turn, and notes what is said in it.
func (c *visitChain) turn(v *visit) (list []turnPart) {
	word := func() string {
		c.words++
		return fmt.Sprintf("w%dw", c.words)
	}
	say := func(kind, text string) {
		p := turnPart{kind: kind, text: text}
		if kind == "call" || kind == "open" {
			p.call = fmt.Sprintf("call_%s", word())
			c.said = append(c.said, strings.TrimPrefix(p.call, "call_"))
		}
		if kind != "open" {
			c.said = append(c.said, tokens.FindAllString(text, -1)...)
		}
		list = append(list, p)
	}
	switch c.rng.IntN(6) {
	case 0:
		say("prompt", "What of "+word()+"?")
		say("answer", word()+" is lit.")
	case 1:
		say("prompt", "Count "+word()+".")
		say("call", word()+" lamps")
		say("answer", "There are "+word()+".")
	case 2:
		say("prompt", "Count both, "+word()+".")
		say("answer", "First "+word()+".")
		say("call", word()+" lamps")
		say("call", word()+" lamps")
		say("answer", "Both: "+word()+".")
	case 3:
		say("prompt", "Go on, wagainw.") // what a person says again and again
		say("answer", "Done, wagainw.")
	case 4:
		say("prompt", "Count "+word()+".") // interrupted
		say("open", "")
	case 5:
		say("prompt", "Never mind "+word()+".")
	}
	var kinds []string
	for _, p := range list {
		kinds = append(kinds, p.kind+" "+strings.Join(tokens.FindAllString(p.text+p.call, -1), " "))
	}
	c.story = append(c.story, fmt.Sprintf("visit %d, %s (keeps %v): %s", v.number, v.name, v.keeps,
		strings.Join(kinds, ", ")))
	return list
}

var tokens = regexp.MustCompile(`w(\d+|again)w`)

// bring imports what an agent has, or has a hook of the agent record it.
func (c *visitChain) bring(v *visit) {
	c.Helper()
	if !c.hooks || c.rng.IntN(4) == 0 {
		c.ctx("import", v.name, v.file)
		return
	}
	call := record{"session_id": v.id, "transcript_path": v.file, "cwd": c.dir,
		"hook_event_name": v.turn}
	if v.name == "opencode" {
		b, err := os.ReadFile(v.file)
		if err != nil {
			c.Fatal(err)
		}
		delete(call, "transcript_path")
		call["document"] = json.RawMessage(b)
	}
	c.in = linesOf([]record{call})
	c.ctx("hook", v.name)
	if out := c.ctx("status", "--json"); strings.Contains(out, "not recorded") ||
		strings.Contains(out, "nothing is recorded") {
		c.Fatalf("hook: %s\n%s", out, strings.Join(c.story, "\n"))
	}
}

// judge compares the session with the truth.
func (c *visitChain) judge() {
	c.Helper()
	var got []string
	for line := range strings.Lines(c.ctx("log", "-s", c.session, "--json")) {
		var m struct{ Kind, Text string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.Fatal(err)
		}
		if m.Kind == "message" {
			got = append(got, tokens.FindAllString(m.Text, -1)...)
		}
		for _, not := range []string{transcript.NoResult, "previous response was interrupted",
			"state_snapshot", transcript.EmptyText} {
			if strings.Contains(m.Text, not) {
				c.Errorf("nobody said %q", m.Text)
			}
		}
	}
	if !slices.Equal(got, c.said) {
		c.Errorf("said %q\ngot  %q", c.said, got)
	}
	if list := c.ctx("session", "list", "--json"); strings.Count(list, "\n") != 1 {
		c.Errorf("there is another session:\n%s", list)
	}
	if c.Failed() {
		c.Fatal(strings.Join(c.story, "\n"))
	}
}
