package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// slowSyncs is put before a command to have each of its syncs take 5 ms longer. It slows the
// process down as well.
const slowSyncs = "strace -f -qq -o /dev/null -e trace=fsync,fdatasync -e " +
	"inject=fsync,fdatasync:delay_exit=5000"

// start times a process that does nothing beside static Go programs that do nothing. One of them
// links the libraries of ctx, which run before main does.
func (b *bench) start() error {
	libraries, err := b.libraries()
	if err != nil {
		return err
	}
	contenders := []func(int) (took, error){func(int) (took, error) {
		return b.run(b.dir, nil, b.ctx, "version")
	}}
	for i, imports := range []string{"", libraries} {
		hello := filepath.Join(b.dir, fmt.Sprint("hello", i))
		src := "package main\n\n" + imports + "func main() { println() }\n"
		if err := os.WriteFile(hello+".go", []byte(src), 0o600); err != nil {
			return err
		}
		if err := b.build(hello, hello+".go"); err != nil {
			return err
		}
		contenders = append(contenders, func(int) (took, error) { return b.run(b.dir, nil, hello) })
	}
	m, err := b.median(b.rounds, contenders...)
	if err != nil {
		return err
	}
	b.beside("start (`version`), Go hello", m[0], m[1])
	b.beside("start, Go hello with the libraries of ctx", m[0], m[2])
	return nil
}

// libraries returns the import lines of the packages of other modules that packages of ctx import.
func (b *bench) libraries() (string, error) {
	const module = "github.com/gemini-ctx/ctx"
	list := "{{with .Module}}{{if eq .Path \"" + module +
		"\"}}{{join $.Imports \"\\n\"}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-f", list, module+"/cmd/ctx").Output()
	if err != nil {
		return "", fmt.Errorf("cannot list the packages of ctx: %w", err)
	}
	all := strings.Fields(string(out))
	slices.Sort(all)
	var text strings.Builder
	for _, path := range slices.Compact(all) {
		host, _, _ := strings.Cut(path, "/")
		if strings.Contains(host, ".") && !strings.HasPrefix(path, module+"/") {
			fmt.Fprintf(&text, "import _ %q\n", path)
		}
	}
	return text.String(), nil
}

// empty compares the files and folders of a new store with those of a new git repository.
func (b *bench) empty() error {
	store, err := b.project(true)
	if err != nil {
		return err
	}
	own, err := names(filepath.Join(store, ".gemini"))
	if err != nil || !b.has("git") {
		b.add("files and folders of a new store", fmt.Sprint(own), "", 0)
		return err
	}
	dir, err := b.project(false)
	if err != nil {
		return err
	}
	if _, err := b.run(dir, nil, "git", "init", "-q", "."); err != nil {
		return err
	}
	git, err := names(filepath.Join(dir, ".git"))
	b.add("files and folders of a new store, `git init`", fmt.Sprint(own), fmt.Sprint(git),
		float64(own)/float64(git))
	return err
}

func names(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(string, os.DirEntry, error) error { n++; return nil })
	return n, err
}

// append times one durable append of a kilobyte beside git's three calls and an insert of sqlite3,
// on the disk as it is and on one on which each sync takes 5 ms longer, and counts system calls.
func (b *bench) append() error {
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "{\"role\":\"user\",\"text\":%q}\n", kilobyte(i))
	}
	if _, err := b.run(dir, strings.NewReader(lines.String()), b.ctx, "append", "-s", "talk",
		"--jsonl"); err != nil {
		return err
	}
	tree := ""
	if b.has("git") {
		if _, err := b.run(dir, nil, "git", "init", "-q", "git"); err != nil {
			return err
		}
		t, err := b.run(dir, strings.NewReader(""), "git", "-C", "git", "mktree")
		if err != nil {
			return err
		}
		tree = strings.TrimSpace(string(t.out))
	}
	if b.has("sqlite3") {
		if _, err := b.run(dir, nil, "sqlite3", "db",
			"create table m (id integer primary key, text text)"); err != nil {
			return err
		}
	}
	for _, disk := range []struct {
		name   string
		rounds int
		before []string
	}{
		{"", b.rounds, nil},
		{", syncs 5 ms longer", max(b.rounds/4, 1), strings.Fields(slowSyncs)},
	} {
		if disk.before != nil && !b.has("strace") {
			continue
		}
		if err := b.appends(dir, tree, disk.name, disk.rounds, disk.before); err != nil {
			return err
		}
	}
	return b.syncs(dir)
}

// appends adds the rows of one kind of disk; before is put before each command.
func (b *bench) appends(dir, tree, name string, rounds int, before []string) error {
	on := func(in string, args ...string) (took, error) {
		all := append(before[:len(before):len(before)], args...)
		return b.run(dir, strings.NewReader(in), all[0], all[1:]...)
	}
	own := func(i int) (took, error) {
		return on(kilobyte(i), b.ctx, "append", "-s", "talk", "--role", "user")
	}
	git := func(i int) (took, error) {
		first, err := on(kilobyte(i), "git", "-C", "git", "hash-object", "-w", "--stdin")
		if err != nil {
			return first, err
		}
		second, err := on("message", "git", "-C", "git", "commit-tree", tree)
		if err != nil {
			return second, err
		}
		third, err := on("", "git", "-C", "git", "update-ref", "refs/heads/main",
			strings.TrimSpace(string(second.out)))
		third.wall += first.wall + second.wall
		return third, err
	}
	sqlite := func(i int) (took, error) {
		return on("", "sqlite3", "db", "insert into m (text) values ('"+kilobyte(i)+"')")
	}
	for _, rival := range []struct {
		tool, name string
		do         func(int) (took, error)
	}{{"git", "git's three calls", git}, {"sqlite3", "sqlite3 insert", sqlite}} {
		if !b.has(rival.tool) {
			continue
		}
		m, err := b.median(rounds, own, rival.do)
		if err != nil {
			return err
		}
		b.beside("append, durable"+name+", "+rival.name, m...)
	}
	return nil
}

var syncCall = regexp.MustCompile(`(?m)^.*\b(fsync|fdatasync)\(`)

// syncs counts the syncs of an append.
func (b *bench) syncs(dir string) error {
	if !b.has("strace") {
		return nil
	}
	trace := filepath.Join(b.dir, "trace")
	var counts []int
	for i := range b.rounds + 20 {
		if _, err := b.run(dir, strings.NewReader(kilobyte(i)), "strace", "-f", "-qq", "-o",
			trace, "-e", "trace=fsync,fdatasync", b.ctx, "append", "-s", "talk", "--role",
			"user"); err != nil {
			return err
		}
		text, err := os.ReadFile(trace)
		if err != nil {
			return err
		}
		counts = append(counts, len(syncCall.FindAll(text, -1)))
	}
	slices.Sort(counts)
	sum := 0
	for _, n := range counts {
		sum += n
	}
	b.add(fmt.Sprintf("syncs of an append, median and mean of %d", len(counts)),
		fmt.Sprintf("%d, %.2f", counts[len(counts)/2], float64(sum)/float64(len(counts))), "", 0)
	return nil
}

// kilobyte returns a thousand bytes of text that differs with i.
func kilobyte(i int) string {
	var b bytes.Buffer
	for k := 0; b.Len() < 1000; k++ {
		fmt.Fprintf(&b, "word%d of message %d and ", (i*7+k*13)%997, i)
	}
	return b.String()[:1000]
}
