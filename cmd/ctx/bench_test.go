package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The benchmarks in this file time whole processes, ctx and its rivals in turn in one run, and
// report medians and ratios of medians:
//
// 	go test ./cmd/ctx -run '^$' -bench Process -benchtime 60x
//
// They need git and sqlite3 on the PATH; without them a row is skipped and says so.

// bench is a world for whole processes: a built ctx, and a directory on a real disk.
type bench struct {
	*testing.B
	ctx string
	dir string
}

func newBench(b *testing.B) *bench {
	b.Helper()
	dir := b.TempDir()
	w := &bench{B: b, ctx: filepath.Join(dir, "bin", "ctx"), dir: filepath.Join(dir, "project")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", w.ctx, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		b.Fatal(err)
	}
	w.run("", w.ctx, "init")
	return w
}

// cmd is a process in the project, with an empty home.
func (w *bench) cmd(stdin string, args ...string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "HOME="+filepath.Dir(w.dir), "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	c.Stdin = strings.NewReader(stdin)
	return c
}

func (w *bench) run(stdin string, args ...string) string {
	w.Helper()
	c := w.cmd(stdin, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		w.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

func (w *bench) needs(tool string) {
	w.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		w.Skipf("SKIPPED: no %s here", tool)
	}
}

// contender is something to be timed: once for each i.
type contender struct {
	name string
	do   func(i int)
}

// race times the contenders in turn, b.N times, after one round that does not count, and reports
// medians and the ratio of the first to each other.
func (w *bench) race(list ...contender) {
	w.Helper()
	took := make([][]time.Duration, len(list))
	rounds := 0
	for w.Loop() {
		for i, c := range list {
			start := time.Now()
			c.do(rounds)
			if rounds > 0 {
				took[i] = append(took[i], time.Since(start))
			}
		}
		rounds++
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		if len(d) == 0 {
			return 0
		}
		return float64(d[len(d)/2])
	}
	first := median(took[0])
	for i, c := range list {
		w.ReportMetric(median(took[i])/1e6, c.name+"-ms")
		if i > 0 {
			w.ReportMetric(first/median(took[i]), list[0].name+"/"+c.name)
		}
	}
	w.ReportMetric(float64(took[0][len(took[0])*95/100])/1e6, list[0].name+"-p95-ms")
	w.ReportMetric(0, "ns/op")
}

func BenchmarkProcessVersion(b *testing.B) {
	w := newBench(b)
	hello := filepath.Join(filepath.Dir(w.ctx), "hello")
	src := filepath.Join(b.TempDir(), "hello.go")
	if err := os.WriteFile(src,
		[]byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"),
		0o600); err != nil {
		b.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", hello, src)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	w.race(
		contender{"ctx", func(int) { w.run("", w.ctx, "version") }},
		contender{"hello", func(int) { w.run("", hello) }},
	)
}

// One durable append of 1 KB, graduation included, against the three plumbing calls of git and an
// insert of sqlite3.
func BenchmarkProcessAppend(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newBench(b)
			w.needs("git")
			w.needs("sqlite3")
			w.fill(n)
			w.run("", "git", "init", "-q", "git")
			tree := w.run("", "git", "-C", "git", "mktree")
			w.run("", "sqlite3", "db", "create table m (id integer primary key, text text)")
			w.race(
				contender{"ctx",
					func(i int) {
						w.run(text(i), w.ctx, "append", "-s", "talk", "--role", "user")
					}},
				contender{"git", func(i int) {
					w.run(text(i), "git", "-C", "git", "hash-object", "-w", "--stdin")
					commit := w.run(text(i), "git", "-C", "git", "commit-tree", tree)
					w.run("", "git", "-C", "git", "update-ref", "refs/heads/main", commit)
				}},
				contender{"sqlite3",
					func(i int) {
						w.run("", "sqlite3", "db", "insert into m (text) values ('"+text(i)+"')")
					}},
			)
		})
	}
}

// text is a kilobyte of words that differ from message to message.
func text(i int) string {
	var b strings.Builder
	for n := 0; b.Len() < 1000; n++ {
		fmt.Fprintf(&b, "word%d of message %d and ", (i*7+n*13)%997, i)
	}
	return b.String()
}

// fill brings n messages into the store and compacts.
func (w *bench) fill(n int) {
	w.Helper()
	w.run(lines(n), w.ctx, "append", "-s", "talk", "--jsonl")
	w.run("", w.ctx, "compact", "-s", "talk")
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"role\":%q,\"text\":\"%s\"}\n", []string{"user", "model"}[i%2],
			text(i)[:100+i%200])
	}
	return b.String()
}

// The reading commands on a store of 100,000 messages, against git reading one object.
func BenchmarkProcessRead(b *testing.B) {
	w := newBench(b)
	w.needs("git")
	w.fill(100000)
	w.run("", "git", "init", "-q", "git")
	blob := w.run(text(1), "git", "-C", "git", "hash-object", "-w", "--stdin")
	id := w.cluster()
	w.race(
		contender{"render",
			func(int) { w.run("", w.ctx, "render", "-s", "talk", "--budget", "4000") }},
		contender{"git", func(int) { w.run("", "git", "-C", "git", "cat-file", "-p", blob) }},
		contender{"expand", func(int) { w.run("", w.ctx, "expand", id) }},
		contender{"log20", func(int) { w.run("", w.ctx, "log", "-s", "talk", "-n", "20") }},
		contender{"status", func(int) { w.run("", w.ctx, "status") }},
	)
}

// cluster returns the id of a live cluster with about fifty members.
func (w *bench) cluster() string {
	w.Helper()
	best, distance := "", 1<<30
	for _, line := range strings.Split(w.run("", w.ctx, "forest", "--json"), "\n") {
		var id string
		var members int
		if i := strings.Index(line, `"id":"`); i >= 0 {
			id = line[i+6 : i+70]
		}
		if i := strings.Index(line, `"members":`); i >= 0 {
			if _, err := fmt.Sscanf(line[i+10:], "%d", &members); err != nil {
				w.Fatal(err)
			}
		}
		if d := max(members-50, 50-members); id != "" && d < distance {
			best, distance = id, d
		}
	}
	return best
}

// Many messages at once, each batch durable, against an import of sqlite3, which is one
// transaction.
func BenchmarkProcessBulk(b *testing.B) {
	w := newBench(b)
	w.needs("sqlite3")
	const n = 100000
	in := lines(n)
	csv := filepath.Join(w.dir, "in.csv")
	if err := os.WriteFile(csv, []byte(in), 0o600); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	rounds := 0
	w.race(
		contender{"ctx",
			func(i int) {
				w.run(in, w.ctx, "append", "-s", fmt.Sprint("bulk", i), "--jsonl")
				rounds++
			}},
		contender{"sqlite3", func(i int) {
			w.run(fmt.Sprintf("create table t%d (line text);\n.mode tabs\n.import %s t%d\n", i, csv,
				i), "sqlite3", "db")
		}},
	)
	_ = start
	b.ReportMetric(float64(n), "messages")
}
