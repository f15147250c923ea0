package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command fails, and passes later in the same session. When it fails in another session, the
// model is told with the next request what ended it, once; a third failure tells nothing again.
func TestFailureIsTold(t *testing.T) {
	t.Parallel()
	c := liveClients()[0]
	w := newWorld(t, c.client)
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
	w.write("../project/"+checkCall, "#!/bin/sh\ncat "+noteFile+" && exit\n"+
		"echo 'pump.go:7: undefined: pump'\necho '--- FAIL: TestPump'\nexit 1\n")
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
	w.run(c.prompt(saidTag + "lost again: and the pump? " + runTool + " " + runCheck)...)
	second := w.newest(first)
	const mended = "This failure was ended before"
	request := w.server.lastWith(saidTag + "lost again: and")
	if n := strings.Count(request, mended); n != 1 {
		t.Fatalf("the model is told %d times what ended the failure:\n%s", n, cut(request))
	}
	w.run(c.again(second, saidTag+"still lost: and now? "+runTool+" "+runCheck)...)
	request = w.server.lastWith(saidTag + "still lost: and now")
	if n := strings.Count(request, mended); n > 1 {
		t.Errorf("the model is told %d times what ended the failure:\n%s", n, cut(request))
	}
	w.sound()
}
