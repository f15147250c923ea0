package storm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults"
	"github.com/gemini-ctx/ctx/lock"
)

// asHelper is an environment variable with the path of a ctx. It makes the test binary a summarizer
// that uses the store of its caller.
const asHelper = "STORM_HELPER"

func TestMain(m *testing.M) {
	if path := os.Getenv(asHelper); path != "" {
		help(path)
		return
	}
	os.Exit(m.Run())
}

// talked makes a store with conversations, clusters, branches, packs and a state.
func talked(t *testing.T) faults.Program {
	t.Helper()
	p := faults.Program{Path: faults.Build(t), Dir: t.TempDir(), Env: settings}
	p.Must(t, "init")
	for n := range 24 {
		topic := topics[n/8]
		p.Must(t, "append", "-s", "talk", "--role", "user", "-m",
			fmt.Sprintf("%s and %s, %s before %s: number %d", topic[n%7], topic[n%5], topic[n%3],
				topic[n%4], n))
	}
	p.Must(t, "branch", "fork", "-s", "talk", "main", "side")
	p.Must(t, "append", "-s", "talk", "-b", "side", "--role", "model", "-m", "on the side")
	p.Must(t, "session", "state", "set", "-s", "talk", "step=1")
	observed := filepath.Join(p.Dir, "observed")
	if err := os.WriteFile(observed,
		[]byte(`{"key":"core/date","value":"today","first":"Today is today."}`+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	p.Must(t, "epoch", "observe", "-s", "talk", observed)
	p.Must(t, "gc")
	return p
}

// Readers take no lock: while another process holds it, each prints what it printed before. Writers
// report who holds it, and end with 11.
func TestReadersWhileTheLockIsHeld(t *testing.T) {
	p := talked(t)
	bundle := filepath.Join(p.Dir, "bundle")
	readers := [][]string{
		{"log", "-s", "talk"}, {"log", "-s", "talk", "-b", "side", "--json"},
		{"log", "talk~3..talk"},
		{"render", "-s", "talk"}, {"render", "-s", "talk", "--format", "json", "--budget", "800"},
		{"render", "-s", "talk", "--query", "saffron"},
		{"search", "saffron"}, {"show", "talk"}, {"cat-file", "-p", "talk"},
		{"rev-parse", "talk~2"}, {"forest"}, {"expand", "talk~3"}, {"provenance", "talk~12"},
		{"show-ref"}, {"for-each-ref"}, {"reflog", "talk"}, {"op", "log"}, {"op", "show", "3"},
		{"session", "list"}, {"session", "show", "talk"}, {"session", "state", "-s", "talk"},
		{"branch", "list", "-s", "talk"}, {"branch", "visible", "-s", "talk", "--reader", "side"},
		{"epoch", "show", "-s", "talk"}, {"compact", "--begin", "--json"},
		{"mask", "plan", "-s", "talk"}, {"loop", "check", "-s", "talk"}, {"avail"},
		{"export", "-s", "talk", "--format", "jsonl"}, {"status"}, {"count-objects"},
		{"config", "list"}, {"fsck"}, {"gc", "--dry-run"},
	}
	printed := make([]string, len(readers))
	for i, args := range readers {
		printed[i] = p.Must(t, args...)
	}
	held, err := lock.Acquire(context.Background(), nil, filepath.Join(p.Dir, ".gemini", "context"),
		time.Minute,
		lock.Owner{PID: os.Getpid(), Host: "here", Command: "a test", Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for i, args := range readers {
		if r := p.Run(args...); !r.OK() || r.Out != printed[i] {
			t.Errorf("%v: it printed %q, and before %q", r, r.Out, printed[i])
		}
	}
	for _, args := range [][]string{
		{"append", "-s", "talk", "--role", "user", "-m", "late"}, {"compact", "-s", "talk"},
		{"rewind", "-s", "talk", "@"}, {"undo", "-s", "talk"}, {"redo", "-s", "talk"},
		{"branch", "fork", "-s", "talk", "main", "more"},
		{"branch", "join", "-s", "talk", "main", "side"}, {"session", "rm", "talk", "--force"},
		{"session", "state", "set", "-s", "talk", "step=2"}, {"update-ref", "user/here", "talk"},
		{"graduate", "-s", "talk"},
	} {
		r := p.Run(append([]string{"-c", "lock.timeout=1ms"}, args...)...)
		if r.Code != 11 || !strings.Contains(r.Err, "a test") ||
			!strings.Contains(r.Err, "on here") {
			t.Errorf("%v: want exit code 11 and the owner", r)
		}
	}
	if r := p.Run("bundle", bundle); !r.OK() {
		t.Error(r)
	}
}

// ctx runs no program while it holds the lock: a summarizer can write to the store that asks it.
func TestSummarizerWritesToTheStore(t *testing.T) {
	p := talked(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(p.Dir, "user.toml")
	text := fmt.Sprintf("summarize.chain = [\"storm\"]\n[summarizer.storm]\ncommand = [%q]\n", self)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Env = append(p.Env, "CTX_USER_CONFIG="+config, asHelper+"="+p.Path, "STORM_STORE="+p.Dir)
	var report struct{ Settled, Carried, Failed, Dirty int }
	if err := json.Unmarshal([]byte(p.Must(t, "compact", "--all", "--json")), &report); err != nil {
		t.Fatal(err)
	}
	if report.Settled == 0 || report.Failed > 0 || report.Dirty > 0 {
		t.Errorf("%+v", report)
	}
	first := asked(t, p)
	if first == 0 {
		t.Error("the summarizer was not asked")
	}
	err = eachLine(p.Must(t, "forest", "--json"), func(line []byte) error {
		var c struct {
			ID      string
			Members int
		}
		err := json.Unmarshal(line, &c)
		if err == nil && c.Members > 1 {
			p.Must(t, "compact", "-s", "talk", "--redo", c.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := asked(t, p); again <= first {
		t.Errorf("the summarizer was asked %d times, and after --redo %d", first, again)
	}
	p.Must(t, "fsck")
}

// asked returns the number of messages that the summarizer appended.
func asked(t *testing.T, p faults.Program) int {
	t.Helper()
	return strings.Count(p.Must(t, "log", "-s", "helper", "--json"), "\n")
}

// help answers each request after it has appended a message to the store.
func help(path string) {
	fmt.Println(`{"ctx":"summarizer","v":1,"name":"storm","version":"1","max_input_tokens":100000}`)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var request struct {
			Claim  string
			Inputs []struct{ Text string }
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			os.Exit(1)
		}
		c := exec.Command(path, "-C", os.Getenv("STORM_STORE"), "-c", "lock.timeout=3s", "append",
			"-s", "helper", "--role", "model", "-m", "asked about "+short(request.Claim))
		c.Env = append(os.Environ(), asHelper+"=")
		if out, err := c.CombinedOutput(); err != nil {
			fmt.Printf(`{"v":1,"claim":%q,"error":{"kind":"transient","message":%q}}`+"\n",
				request.Claim, string(out))
			continue
		}
		said := ""
		for _, word := range strings.Fields(request.Inputs[0].Text) {
			if len(word) > len(said) {
				said = word
			}
		}
		fmt.Printf(`{"v":1,"claim":%q,"text":%q}`+"\n", request.Claim, "Of "+said+".")
	}
}
