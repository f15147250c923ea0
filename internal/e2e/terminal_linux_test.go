package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a client that runs in a terminal, where a person types.
type terminal struct {
	*testing.T
	cmd    *exec.Cmd
	file   *os.File // the terminal's own side
	ended  chan struct{}
	failed error // what Wait returned, once ended is closed

	mu    sync.Mutex
	shown []byte        // all that the client printed
	more  chan struct{} // closed and replaced when shown grows
}

// terminal starts a command of the world in a terminal of 140 columns. It ends with the test.
func (w *world) terminal(args ...string) *terminal {
	w.Helper()
	own, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		w.Skipf("SKIPPED: no terminals here: %v", err)
	}
	raw, err := own.SyscallConn()
	if err != nil {
		w.Fatal(err)
	}
	var number uint32
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = errors.Join(unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 140}))
		n, err := unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		number, failed = uint32(n), errors.Join(failed, err)
	})
	if err := errors.Join(err, failed); err != nil {
		w.Fatal(err)
	}
	its, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		w.Fatal(err)
	}
	t := &terminal{T: w.T, file: own, ended: make(chan struct{}), more: make(chan struct{})}
	t.cmd = exec.Command(filepath.Join(w.bin, args[0]), args[1:]...)
	t.cmd.Dir, t.cmd.Env = w.dir, w.env
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = its, its, its
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = t.cmd.Start()
	err = errors.Join(err, its.Close())
	if err != nil {
		w.Fatal(err)
	}
	w.screens = append(w.screens, func() string {
		t.mu.Lock()
		defer t.mu.Unlock()
		return tailOf(letters(t.shown))
	})
	go t.read()
	go func() {
		t.failed = t.cmd.Wait()
		close(t.ended)
	}()
	w.Cleanup(t.kill)
	return t
}

// answers are what programs ask a terminal, and what it says.
var answers = []struct{ asked, said string }{
	{"\x1b[6n", "\x1b[1;1R"}, // where is the cursor?
	{"\x1b[c", "\x1b[?62;22c"},
}

// read keeps what the client prints, and answers what it asks the terminal.
func (t *terminal) read() {
	b := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(b)
		if err != nil {
			return // the client has ended
		}
		for _, a := range answers {
			for range bytes.Count(b[:n], []byte(a.asked)) {
				_, _ = t.file.WriteString(a.said)
			}
		}
		t.mu.Lock()
		t.shown = append(t.shown, b[:n]...)
		close(t.more)
		t.more = make(chan struct{})
		t.mu.Unlock()
	}
}

// steering is what moves the cursor and sets colors, and pictures made of dots.
var steering = regexp.MustCompile(
	`[\x{2800}-\x{28ff}]|\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78MDE])`)

// letters are what was shown since a place, without steering and white space: programs move the
// cursor over blanks.
func letters(shown []byte) string {
	return strings.Join(strings.Fields(steering.ReplaceAllString(string(shown), "")), "")
}

// at is the place in what is shown that comes next.
func (t *terminal) at() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.shown)
}

// look returns what was shown since a place, whether a text is in it, and what is closed when there
// is more. A "…" in the text stands for anything.
func (t *terminal) look(from int, text string) (shown string, found bool, more chan struct{}) {
	t.mu.Lock()
	shown, more = letters(t.shown[from:]), t.more
	t.mu.Unlock()
	rest := shown
	for want := range strings.SplitSeq(text, "…") {
		if _, rest, found = strings.Cut(rest, letters([]byte(want))); !found {
			break
		}
	}
	return shown, found, more
}

// see waits until the client has shown a text since a place.
func (t *terminal) see(from int, text string) { t.Helper(); t.pressUntil(from, text, "") }

// pressUntil presses keys again and again until the client has shown a text since a place: a client
// throws away what is typed before it has drawn all of a question.
func (t *terminal) pressUntil(from int, text, keys string) {
	t.Helper()
	over := time.After(shortDeadline)
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		shown, found, more := t.look(from, text)
		if found {
			return
		}
		select {
		case <-more:
		case <-again.C:
			if keys != "" {
				t.press(keys)
			}
		case <-t.ended:
			t.Fatalf("the client ended (%v) and has not shown %q:\n%s", t.failed, text,
				tailOf(shown))
		case <-over:
			t.Fatalf("the client has not shown %q:\n%s", text, tailOf(shown))
		}
	}
}

// press types keys as they are.
func (t *terminal) press(keys string) {
	t.Helper()
	if _, err := t.file.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// enter pastes a line, waits until the client shows it, and presses the return key.
func (t *terminal) enter(line string) {
	t.Helper()
	from := t.at()
	t.press("\x1b[200~" + line + "\x1b[201~")
	t.see(from, line)
	t.press("\r")
}

// shows reports whether the client shows a text since a place, within a time.
func (t *terminal) shows(from int, text string, within time.Duration) bool {
	over := time.After(within)
	for {
		_, found, more := t.look(from, text)
		if found {
			return true
		}
		select {
		case <-more:
		case <-t.ended:
			return false
		case <-over:
			return false
		}
	}
}

// quit types a command that ends the client, and waits for its end.
func (t *terminal) quit(command string) {
	t.Helper()
	t.enter(command)
	select {
	case <-t.ended:
	case <-time.After(shortDeadline):
		t.Fatalf("%q does not end the client:\n%s", command, tailOf(letters(t.shown)))
	}
}

// kill ends the client and everything that it started, at once. Nothing of it runs on.
func (t *terminal) kill() {
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	<-t.ended
	_ = t.file.Close() // nobody reads on
}

func tailOf(s string) string { return s[max(0, len(s)-3000):] }

// locked holds the lock of the store while something is done. Hooks give up soon.
func (w *world) locked(do func()) {
	w.Helper()
	f, err := os.OpenFile(w.store("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		w.Fatal(err)
	}
	was := w.env
	w.env = append(slices.Clone(was), "CTX_HOOK_DEADLINE=500ms")
	do()
	w.env = was
}
