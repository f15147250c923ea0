package e2e

import (
	"encoding/json"
	"slices"
	"testing"
)

// A fork of a session that an agent was handed is a session of its own, and what the session says
// itself comes home. Both have what was said before, which is stored once.
func TestForksOfWhatIsHanded(t *testing.T) {
	t.Parallel()
	flags := map[string]string{"claude-code": "--fork-session", "opencode": "--fork"}
	for _, c := range liveClients() {
		if flags[c.name] == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.client)
			w.run("ctx", "install", c.name)
			w.run("ctx", "append", "-s", "owls", "--role", "user", "-m", "count the owls")
			w.run("ctx", "append", "-s", "owls", "--role", "model", "-m", "nine owls")
			before := w.words("owls")
			var handed struct {
				ID            string
				Command, Then []string
			}
			if err := json.Unmarshal([]byte(w.run("ctx", "resume", "-s", "owls", "--to", c.name,
				"--json")), &handed); err != nil {
				t.Fatal(err)
			}
			if handed.Then != nil {
				w.run(handed.Command...) // it brings the session in
			}
			w.run(append(c.again(handed.ID, turnText(0)), flags[c.name])...)
			inFork := append(slices.Clone(before), w.server.recorded(0)...)
			fork := w.newest("owls")
			w.same(fork, inFork)
			w.same("owls", before)
			at := len(w.server.recorded(0))
			w.run(c.again(handed.ID, turnText(2))...)
			for range 2 {
				w.same(fork, inFork)
				w.same("owls", append(slices.Clone(before), w.server.recorded(at)...))
				w.run("ctx", "import", "--all")
			}
		})
	}
}
