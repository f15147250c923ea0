package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// typed is how a client is run in a terminal: it begins with a prompt, or goes on with a session.
type typed struct {
	client
	begin   func(text string) []string
	again   func(session, text string) []string
	clear   string // begins a new session, after which the client shows cleared
	cleared string
}

func typedClient(name string) typed {
	claude := []string{"claude", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"}
	// Without its daemon, which would go on when the test has ended.
	codex := []string{"codex", "--no-daemon", "-c", "model_auto_compact_token_limit=100000"}
	with := func(program []string, more ...string) []string {
		return append(slices.Clone(program), more...)
	}
	for _, c := range clients() {
		switch {
		case c.name != name:
		case name == "claude-code":
			return typed{c, func(text string) []string { return with(claude, "--", text) },
				func(session, text string) []string {
					return with(claude, "--resume", session, "--", text)
				}, "/clear", "Claude Code v … ? for shortcuts"}
		case name == "codex":
			return typed{c, func(text string) []string { return with(codex, text) },
				func(session, text string) []string { return with(codex, "resume", session, text) },
				"/new", "OpenAI Codex … gpt-5 default"}
		}
	}
	panic("no client that runs in a terminal is called " + name)
}

// person is somebody who types into a client, in a project where ctx is installed for it.
type person struct {
	*world
	typed
	session string   // that the person is in; "" for one that is not recorded yet
	known   []string // sessions that were there before it
	before  []words  // what the session had
	from    int      // what the server had heard then
}

func newPerson(t *testing.T, name string) *person {
	t.Helper()
	c := typedClient(name)
	p := &person{world: newWorld(t, c.client), typed: c}
	p.run("ctx", "install", name)
	switch name {
	case "claude-code": // as it is after its first start, and with the folder trusted
		p.write(".claude.json",
			`{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":["sk-ant-none"],"rejected":[]},"projects":{`+
				quoted(p.dir)+
				`:{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`)
	case "codex": // the folder is trusted, and the hooks are
		s := p.terminal("codex", "--no-daemon")
		s.pressUntil(0, "2. Trust all and continue", "\r")
		s.pressUntil(0, "› 2. Trust all and continue", "2")
		// Before that, it takes a command for a prompt.
		s.pressUntil(s.at(), "gpt-5 default … ? for shortcuts", "\r")
		s.quit("/quit")
	}
	return p
}

// in says that what comes next is in a session; "" for a new one.
func (p *person) in(session string) {
	p.Helper()
	p.session, p.known, p.before, p.from = session, p.sessions(), nil, len(p.server.recorded(0))
	if session != "" {
		p.before = p.words(session)
	}
}

// said waits until hooks have recorded what the server has heard of the session since the person
// came in, which ends with an answer that it had not given when it had heard before things.
func (p *person) said(before int) {
	p.Helper()
	p.until("the turn is recorded", func() bool {
		said := p.server.recorded(0)
		if len(said) == before || said[len(said)-1].who != "model" ||
			said[len(said)-1].text == looking {
			return false
		}
		if p.session == "" {
			if len(p.sessions()) == len(p.known) {
				return false
			}
			p.session = p.newest(p.known...)
		}
		return len(p.words(p.session)) >= len(p.before)+len(said)-p.from
	})
	p.same(p.session, append(slices.Clone(p.before), p.server.recorded(p.from)...))
	p.spokenIn(p.session)
}

// say types a prompt, and waits for the end of the turn.
func (p *person) say(s *terminal, text string) {
	p.Helper()
	before := len(p.server.recorded(0))
	s.enter(text)
	p.said(before)
}

// Hooks record what a person types into a terminal and what comes of it, when the turn ends.
func TestTerminalsRecordLive(t *testing.T) {
	for _, name := range []string{"claude-code", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name)
			p.in("")
			s := p.terminal(p.begin(flat(turnText(0)))...)
			p.said(0)
			for turn := 1; turn < 5; turn++ {
				p.say(s, flat(turnText(turn)))
			}
			first := p.session
			if p.server.lastWith(told) != "" {
				t.Error("the first session was told of others")
			}

			// A new session in the same terminal is told of the first, once.
			p.in("")
			p.clears(s)
			p.say(s, saidTag+"clear one")
			p.say(s, saidTag+"clear two")
			if n := strings.Count(p.server.lastWith(saidTag+"clear two"), told); n != 1 {
				t.Errorf("the model of the second session has the brief %d times", n)
			}
			s.quit("/exit")

			// The second session goes on in a new process, and has the brief once.
			p.in(p.session)
			s = p.terminal(p.again(p.session, saidTag+"resumed")...)
			p.said(p.from)
			s.quit("/exit")
			if n := strings.Count(p.server.lastWith(saidTag+"resumed"), told); n != 1 {
				t.Errorf("the model of the resumed session has the brief %d times", n)
			}
			p.in(first)
			p.same(first, p.before)

			// Without a terminal the same hooks run.
			p.in("")
			p.run(p.prompt(saidTag + "alone")...)
			p.said(p.from)
			p.sound()
		})
	}
}

// clears begins a new session in a terminal.
func (p *person) clears(s *terminal) {
	p.Helper()
	at := s.at()
	s.enter(p.clear)
	if !s.shows(at, p.cleared, shortDeadline/2) {
		s.enter(p.clear) // it was typed while the turn still ended, when Codex takes no commands
	}
	s.see(at, p.cleared)
}

// A conversation that the client makes shorter by itself is recorded as a whole, once; then the
// model is given a brief of it.
func TestTerminalsCompact(t *testing.T) {
	for _, name := range []string{"claude-code", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name)
			p.env = append(p.env, "CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000")
			p.in("")
			s := p.terminal(p.begin(saidTag + "first " + runTool)...)
			p.said(0)
			p.say(s, saidTag+"second "+fullTurn+": Never push to the main branch.")
			p.say(s, saidTag+"third "+runTool)
			p.say(s, saidTag+"fourth")
			if n := p.server.toKeep(); name == "claude-code" && n != 1 {
				t.Errorf("%d requests for a summary say what it must keep", n)
			}
			if n := p.server.shortened(); n != 1 {
				t.Errorf("the client asked %d times for a shorter conversation", n)
			}
			request := p.server.lastWith(saidTag + "fourth")
			// Claude Code keeps the newest messages as they were. Of those that called a tool, only the
			// third turn's are left.
			results := strings.Count(request, `"type":"tool_result"`) +
				strings.Count(request, `"type":"function_call_output"`)
			if !strings.Contains(request, inShort) || results != 1 {
				t.Errorf("the conversation is not shorter:\n%s", cut(request))
			}
			if n := strings.Count(request, toldOfItself); n != 1 {
				t.Errorf("after the compaction the model has a brief %d times", n)
			}
			s.quit("/exit")
			p.said(0)
			p.sound()
		})
	}
}

// A client that is killed in the middle of a turn, in which the model was asked and has not
// answered: what it has written down is recorded once, when the session goes on.
func TestTerminalsKilled(t *testing.T) {
	for _, name := range []string{"claude-code", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name)
			p.in("")
			s := p.terminal(p.begin(saidTag + "first")...)
			p.said(0)
			heard := len(p.server.recorded(0))
			s.enter(saidTag + "second " + runTool + " " + holdTurn)
			<-p.server.holding
			p.until("the client has written down the result", p.hasResult)
			s.kill()
			p.until("the server knows that nobody waits",
				func() bool { return len(p.server.recorded(heard)) == 4 })
			if said := p.server.recorded(heard); said[3].who != "tool" {
				t.Fatalf("the server heard %v", said)
			}
			at := heard + 4
			s = p.terminal(p.again(p.session, saidTag+"third")...)
			p.until("the turn is recorded", func() bool {
				return len(p.server.recorded(at)) > 0 &&
					len(p.words(p.session)) >= len(p.server.recorded(0))
			})
			s.quit("/exit")
			p.same(p.session, p.server.recorded(0))
			p.sound()
		})
	}
}

// hasResult reports whether a transcript has the result of a tool.
func (p *person) hasResult() (has bool) {
	p.Helper()
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			b, _ := os.ReadFile(path) // it may be gone again
			has = has || strings.Contains(string(b), `"tool_result"`) ||
				strings.Contains(string(b), `"function_call_output"`)
		}
		return nil
	})
	return err == nil && has
}

// What is typed while the model works is recorded once, beside everything else.
func TestTerminalsQueue(t *testing.T) {
	for _, name := range []string{"claude-code", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name)
			p.in("")
			s := p.terminal(p.begin(saidTag + "first " + holdTurn)...)
			<-p.server.holding
			s.enter("typed while you work")
			p.server.released <- struct{}{}
			queued := words{"user", "typed while you work"}
			p.until("what was typed is recorded", func() bool {
				return len(p.sessions()) > len(p.known) &&
					slices.Contains(p.words(p.newest(p.known...)), queued)
			})
			session := p.newest(p.known...)
			s.enter(saidTag + "last")
			p.until("the turn is recorded", func() bool {
				said := p.server.recorded(0)
				return p.server.lastWith(saidTag+"last") != "" &&
					slices.Contains(p.words(session), said[len(said)-1])
			})
			s.quit("/exit")
			got := p.words(session)
			at := slices.Index(got, queued)
			want := p.server.recorded(0)
			if request := p.server.lastWith(saidTag + "last"); name == "codex" &&
				!strings.Contains(request, "Answer 1:") {
				// The client threw the answer away when something was typed
				want = slices.Delete(want, 1, 2)
			}
			if rest := slices.Delete(slices.Clone(got), at, at+1); at == 0 ||
				!slices.Equal(rest, want) {
				t.Errorf("recorded with a prompt that was typed meanwhile:\n%v\nsaid:\n%v", got,
					want)
			}
			p.sound()
		})
	}
}

// Ten sessions begin in terminals.
func TestTenStartsInTerminals(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "codex")
	p.watch()
	for n := range 10 {
		p.in("")
		s := p.terminal(p.begin(flat(turnText(n)))...)
		p.said(p.from)
		s.quit("/exit")
	}
	p.in(p.session)
	s := p.terminal(p.again(p.session, saidTag+"again")...)
	p.said(p.from)
	s.quit("/exit")
	p.givenOnce("SessionStart", 10)
}

// flat makes one line of a text, as a person types it.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
