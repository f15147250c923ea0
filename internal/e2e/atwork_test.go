package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atWork runs a test with each client whose model is told what was before while it works.
func atWork(t *testing.T, test func(t *testing.T, w *world, c live)) {
	for _, c := range liveClients() {
		if c.name == "claude-code" || c.name == "codex" {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				test(t, newWorld(t, c.client), c)
			})
		}
	}
}

// heard makes sure that the request with a prompt has a text so often, or at most once.
func (w *world) heard(prompt, text string, least int) {
	w.Helper()
	request := w.server.lastWith(prompt)
	if n := strings.Count(request, text); n < least || n > 1 {
		w.Errorf("the model is told %d times %q:\n%s", n, text, cut(request))
	}
}

// A command fails, and passes later in the same session. When it fails in another session, the
// model is told with the next request what ended it, once; a third failure tells nothing again.
func TestFailureIsTold(t *testing.T) {
	t.Parallel()
	atWork(t, func(t *testing.T, w *world, c live) {
		note := filepath.Join(w.dir, noteFile)
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		lose := func() {
			if err := os.Remove(note); err != nil {
				t.Fatal(err)
			}
		}
		// All on one stream: two may reach a client in each other's lines.
		w.write("../project/"+checkCall, "#!/bin/sh\ncat "+noteFile+" 2>/dev/null && exit\n"+
			"echo 'pump.go:7: undefined: pump'\necho 'exit status 1'\nexit 1\n")
		if err := os.Chmod(filepath.Join(w.dir, checkCall), 0o700); err != nil {
			t.Fatal(err)
		}
		w.run("ctx", "install", c.name)
		lose()
		w.run(c.prompt(saidTag + "lost: what is the pump called? " + runTool + " " + runCheck)...)
		first := w.only()
		w.write("../project/"+noteFile, string(text))
		w.run(c.again(first, saidTag+"found: what is it called? "+runTool+" "+runCheck)...)

		lose()
		const mended = "This failure was ended before"
		w.run(c.prompt(saidTag + "lost again: and the pump? " + runTool + " " + runCheck)...)
		second := w.newest(first)
		w.heard(saidTag+"lost again: and", mended, 1)
		w.run(c.again(second, saidTag+"still lost: and now? "+runTool+" "+runCheck)...)
		w.heard(saidTag+"still lost: and now", mended, 0)
		w.sound()
	})
}

// A program cannot be run as it is named, and then is run otherwise in the same session. Before it
// is run so again in another session, the model is told what passed, once.
func TestCommandIsTold(t *testing.T) {
	t.Parallel()
	atWork(t, func(t *testing.T, w *world, c live) {
		if c.name != "claude-code" {
			t.Skip("only Claude Code has this hook")
		}
		w.write("../project/"+checkCall, "echo checked\n")
		if err := os.Chmod(filepath.Join(w.dir, checkCall), 0o600); err != nil { // no program
			t.Fatal(err)
		}
		w.run("ctx", "install", c.name)
		w.run(c.prompt(saidTag + "wrong: is the pump dry? " + runTool + " " + runCheck)...)
		first := w.only()
		w.run(c.again(first, saidTag+"right: is it dry? "+runTool+" "+runShell)...)
		const instead = "The command was wrong when it ran last"
		w.heard(saidTag+"right: is", instead, 0)
		w.run(c.prompt(saidTag + "wrong again: is the pump dry? " + runTool + " " + runCheck)...)
		second := w.newest(first)
		w.heard(saidTag+"wrong again: is", instead, 1)
		w.run(c.again(second, saidTag+"still wrong: is it? "+runTool+" "+runCheck)...)
		w.heard(saidTag+"still wrong: is", instead, 1) // with the request of the turn before
		w.sound()
	})
}

// What a prompt names was spoken of in another session: the model is told with the prompt, once.
func TestPromptIsTold(t *testing.T) {
	t.Parallel()
	atWork(t, func(t *testing.T, w *world, c live) {
		w.run("ctx", "install", c.name)
		w.run(c.prompt(saidTag + "asked: what does drainPump in pump_house.go do? " + runTool)...)
		first := w.only()
		const told = "Earlier turns of this project"
		w.heard(saidTag+"asked: what", told, 0)
		w.run(c.prompt(saidTag + "other: does drainPump stop?")...)
		second := w.newest(first)
		w.heard(saidTag+"other: does", told, 1)
		w.run(c.again(second, saidTag+"more: and drainPump, when does it begin?")...)
		w.heard(saidTag+"more: and drainPump", told, 1)
		for _, said := range w.words(second) {
			if strings.Contains(said.text, told) {
				t.Errorf("%s is taken for somebody's words", said)
			}
		}
		w.sound()
	})
}

// A note names the file that the model is about to write: the model is told, once.
func TestEditIsTold(t *testing.T) {
	t.Parallel()
	atWork(t, func(t *testing.T, w *world, c live) {
		if c.name != "claude-code" {
			t.Skip("only Claude Code has this hook")
		}
		w.run("ctx", "install", c.name)
		w.run(c.prompt(saidTag + "begin: what is the pump called?")...)
		first := w.only()
		const rule = "Leave sluice.txt open."
		w.run("ctx", "note", "--kind", "rule", rule)
		write := runTool + " " + runWrite + " " + w.dir + " now"
		edits := []string{"--permission-mode", "acceptEdits"}
		w.run(append(c.again(first, saidTag+"first: write it. "+write), edits...)...)
		w.heard(saidTag+"first: write", "Said of this file", 1)
		w.heard(saidTag+"first: write", rule, 1)
		w.run(append(c.again(first, saidTag+"second: write it. "+write), edits...)...)
		w.heard(saidTag+"second: write", rule, 1)
		// A session that begins has the rule in its brief.
		w.run(append(c.prompt(saidTag+"third: write it. "+write), edits...)...)
		w.heard(saidTag+"third: write", rule, 1)
		w.sound()
	})
}
