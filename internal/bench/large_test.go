package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// large measures a store of generated messages beside a git repository with a commit for each of
// them and a table of FTS5 with a row for each. This process reads none of the generated files
// whole, so that the peaks of its children are their own.
func (b *bench) large() error {
	lines, plain := filepath.Join(b.dir, "lines"), filepath.Join(b.dir, "plain")
	if err := generate(b.n, inJSON(lines), inPlain(plain)); err != nil {
		return err
	}
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	repo, err := b.repository(b.n)
	if err != nil {
		return err
	}
	of := fmt.Sprintf(" of %d messages", b.n)
	load, err := b.fed(dir, lines, b.ctx, "append", "-s", "talk", "--jsonl")
	if err != nil {
		return err
	}
	if repo == nil {
		b.beside("append --jsonl"+of, load)
	} else {
		b.beside("append --jsonl, index included"+of+", `git fast-import`", load, repo.load)
	}
	b.addRate("append --jsonl, messages a second", "%.0f", float64(b.n)/load.wall.Seconds())
	if err := b.stored("bytes"+of, dir, "-3", lines); err != nil {
		return err
	}
	if err := b.searches(dir, plain); err != nil {
		return err
	}
	if _, err := b.once("compact"+of, dir, "compact", "-s", "talk"); err != nil {
		return err
	}
	for _, c := range []struct{ own, git string }{{"gc", "gc -q"}, {"fsck", "fsck --no-dangling"},
		{"rebuild", ""}} {
		if err := b.maintained(dir, repo, c.own, c.git); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		own [][]string
		git string
	}{
		{[][]string{{"append", "-s", "talk", "--role", "user", "-m", "one more"}},
			"commit -q --allow-empty -m more"},
		{[][]string{{"log", "-s", "talk", "-n", "20"}}, "log -n 20"},
		{[][]string{{"expand", "-s", "talk", "talk~500"}}, "cat-file -p HEAD~500"},
		{[][]string{{"render", "-s", "talk", "--budget", "4000"}}, ""},
		{[][]string{{"brief", "-s", "talk"}}, ""},
		{[][]string{{"status"}}, ""},
		{[][]string{{"rewind", "-s", "talk", "@~1"}, {"undo", "-s", "talk"}}, ""},
	} {
		if err := b.daily(dir, repo, of, c.own, c.git); err != nil {
			return err
		}
	}
	if err := dropCache(dir); err != nil {
		return err
	}
	for _, which := range []string{"first", "second"} {
		if _, err := b.once("the "+which+" append after the cache was lost,"+of, dir, "append",
			"-s", "talk", "--role", "user", "-m", "one more"); err != nil {
			return err
		}
	}
	return nil
}

// dropCache removes the cache of the store in a project.
func dropCache(project string) error {
	return os.RemoveAll(filepath.Join(project, ".gemini", "context", "cache"))
}

// A repository is a git repository with a commit for each message.
type repository struct {
	dir  string
	load took // what fast-import needed
}

// repository returns nil where there is no git.
func (b *bench) repository(n int) (*repository, error) {
	if !b.has("git") {
		return nil, nil
	}
	dir, err := b.project(false)
	if err != nil {
		return nil, err
	}
	if _, err := b.run(dir, nil, "git", "init", "-q", "-b", "main", "."); err != nil {
		return nil, err
	}
	stream := filepath.Join(b.dir, "stream")
	if err := generate(n, inCommits(stream)); err != nil {
		return nil, err
	}
	load, err := b.fed(dir, stream, "git", "fast-import", "--quiet")
	return &repository{dir, load}, err
}

// maintained runs a command that reads all of a store, and the one of git that does the same.
func (b *bench) maintained(dir string, repo *repository, own, git string) error {
	if repo == nil || git == "" {
		_, err := b.once(own, dir, own)
		return err
	}
	t, err := b.run(dir, nil, b.ctx, own)
	if err != nil {
		return err
	}
	rival, err := b.run(repo.dir, nil, "git", strings.Fields(git)...)
	if err == nil {
		b.beside(own+", `git "+git+"`", t, rival)
	}
	return err
}

// daily times short commands one after the other, and the one of git that does the same.
func (b *bench) daily(dir string, repo *repository, of string, own [][]string, git string) error {
	contenders := []func(int) (took, error){func(int) (took, error) { return b.sequence(dir, own) }}
	name := strings.Join(own[0], " ")
	if len(own) > 1 {
		name += ", " + own[1][0]
	}
	if repo != nil && git != "" {
		name += ", `git " + git + "`"
		contenders = append(contenders,
			func(int) (took, error) { return b.run(repo.dir, nil, "git", strings.Fields(git)...) })
	}
	m, err := b.median(max(b.rounds/4, 1), contenders...)
	if err == nil {
		b.beside(strings.ReplaceAll(name, " -s talk", "")+of, m...)
	}
	return err
}

// searches measures the first search, and then searches of one and of four words, beside FTS5.
func (b *bench) searches(dir, plain string) error {
	if _, err := b.once("first search", dir, "search", "zanzibar7"); err != nil {
		return err
	}
	fts := b.has("sqlite3")
	if fts {
		script :=
			"create virtual table m using fts5(text);\n.mode ascii\n.separator \"\\037\" " +
				"\"\\n\"\n.import " + plain + " m\n"
		t, err := b.run(dir, strings.NewReader(script), "sqlite3", "fts")
		if err != nil {
			return err
		}
		b.rows = append(b.rows,
			row{what: "build of the index, FTS5", rival: millis(t.wall), rivalMemory: peakOf(t)})
	}
	for _, q := range []struct{ what, query, match string }{
		{"search of a rare word", "zanzibar7", "zanzibar7"},
		{"search of four common words", "error test server port",
			"error OR test OR server OR port"},
	} {
		contenders := []func(int) (took, error){func(int) (took, error) {
			return b.run(dir, nil, b.ctx, "search", q.query)
		}}
		if fts {
			q.what += ", FTS5"
			contenders = append(contenders, func(int) (took, error) {
				return b.run(dir, nil, "sqlite3", "fts",
					"select rowid from m where m match '"+q.match+"' order by rank limit 10")
			})
		}
		m, err := b.median(max(b.rounds/4, 1), contenders...)
		if err != nil {
			return err
		}
		b.beside(q.what, m...)
	}
	return nil
}
