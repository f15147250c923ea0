package e2e

import (
	"strings"
	"testing"
)

// codexHere is a world with Codex and its hooks, which a person has reviewed.
func codexHere(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, clientNamed("codex"))
	w.run("ctx", "install", "codex")
	c := w.codex()
	c.pressUntil(0, "2. Trust all and continue", "\r") // it asks first whether the folder is trusted
	c.pressUntil(0, "› 2. Trust all and continue", "2")
	c.pressUntil(c.at(), codexReady, "\r")
	c.quit("/quit")
	return w
}

// codexReady is shown below the line in which a person types.
const codexReady = "gpt-5 default"

// codex runs Codex in a terminal, without its daemon, which would go on when the test has ended.
func (w *world) codex(args ...string) *terminal {
	w.Helper()
	return w.terminal(append([]string{"codex", "--no-daemon"}, args...)...)
}

// turnEnds waits until the hook at the end of a turn has recorded everything that the server has
// heard from a place.
func (w *world) turnEnds(heard, from, known int, session func() string) {
	w.Helper()
	w.until("the turn is recorded", func() bool {
		said := w.server.recorded(0)
		return len(said) > heard && said[len(said)-1].who == "model" && said[len(said)-1].text != looking &&
			len(w.sessions()) > known && len(w.words(session())) >= len(said)-from
	})
}

func TestCodexRecordsLive(t *testing.T) {
	t.Parallel()
	w := codexHere(t)
	known := w.sessions()
	own := func() string { return w.newest(known...) }
	c := w.codex(flat(turnText(0)))
	w.turnEnds(0, 0, len(known), own)
	for turn := 1; turn < 5; turn++ {
		heard := len(w.server.recorded(0))
		c.enter(flat(turnText(turn)))
		w.turnEnds(heard, 0, len(known), own)
	}
	c.quit("/quit")
	session := own()
	w.same(session, w.server.recorded(0))
	w.sound()
}

// flat makes one line of a text, as a person types it.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func clientNamed(name string) client {
	for _, c := range clients() {
		if c.name == name {
			return c
		}
	}
	panic("no client is called " + name)
}
