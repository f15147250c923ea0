package summarizer

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func init() {
	onSystem["session"] = func(p *player, _ WireRequest) { p.leave("mute") }
	beforeHello["between"] = between
	onSystem["daemon"] = func(p *player, _ WireRequest) { p.leave("between") }
}

// leave starts a part in its own session. The part holds the pipe that shows whether it runs.
func (p *player) leave(part string) {
	alive, err := os.OpenFile(os.Getenv("CTX_TEST_ALIVE"), os.O_WRONLY, 0)
	if err != nil {
		os.Exit(8)
	}
	child := leaver(part, alive)
	if child.Start() != nil || part == "between" && child.Wait() != nil {
		os.Exit(8)
	}
	fmt.Fprintln(alive, "both")
	p.hang()
}

// between is a process that starts another one and ends.
func between() {
	if err := leaver("mute", os.NewFile(3, "alive")).Start(); err != nil {
		os.Exit(8)
	}
	os.Exit(0)
}

func leaver(part string, alive *os.File) *exec.Cmd {
	child := exec.Command(os.Args[0], "play", part)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	child.ExtraFiles = []*os.File{alive}
	_, _ = child.StdinPipe() // stays open
	return child
}

// A killed helper is killed with its descendants, even with a child in its own session, and with
// one whose parent has ended, so that it no longer descends from the helper.
func TestHelperLeavers(t *testing.T) {
	for _, part := range []string{"session", "daemon"} {
		t.Run(part, func(t *testing.T) { killedWhole(t, part) })
	}
}
