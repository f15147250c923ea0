package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// zstd returns the size of files compressed one by one.
func (b *bench) zstd(level string, files ...string) (int64, error) {
	total := int64(0)
	for _, f := range files {
		t, err := b.run(b.dir, nil, "zstd", level, "-q", "-c", f)
		if err != nil {
			return 0, err
		}
		total += int64(len(t.out))
	}
	return total, nil
}

// stored adds a row with the bytes of a store beside those of zstd.
func (b *bench) stored(what, project, level string, files ...string) error {
	own, err := bytesBelow(filepath.Join(project, ".gemini"))
	if err != nil {
		return err
	}
	cache, err := bytesBelow(filepath.Join(project, ".gemini", "context", "cache"))
	if err != nil {
		return err
	}
	own -= cache
	if !b.has("zstd") {
		b.add(what, size(own), "", 0, 0)
		return nil
	}
	rival, err := b.zstd(level, files...)
	b.add(what+fmt.Sprintf(" (cache %s), `zstd %s`", size(cache), level), size(own), size(rival), float64(own)/float64(rival), 0)
	return err
}

// timed runs ctx once and adds a row.
func (b *bench) timed(what, project string, in *bytes.Reader, args ...string) (took, error) {
	var stdin *bytes.Reader
	if in != nil {
		stdin = in
	} else {
		stdin = bytes.NewReader(nil)
	}
	t, err := b.run(project, stdin, append([]string{b.ctx}, args...)...)
	if err == nil {
		b.add(what, millis(t.wall), "", 0, t.memory)
	}
	return t, err
}

// chat measures a set of short messages.
func (b *bench) chat() error {
	if b.lines == "" {
		return nil
	}
	file, err := filepath.Abs(b.lines)
	if err != nil {
		return err
	}
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	if _, err := b.timed("append --jsonl of the set of messages", dir, nil, "append", "-s", "talk", "--jsonl", file); err != nil {
		return err
	}
	if _, err := b.run(dir, nil, b.ctx, "gc", "--best"); err != nil {
		return err
	}
	return b.stored("set of messages after gc", dir, "-19", file)
}

// transcripts measures the import of an agent's sessions.
func (b *bench) transcripts() error {
	if b.sessions == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(b.sessions, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("no *.jsonl in %q", b.sessions))
	}
	raw := int64(0)
	for i, f := range files {
		if files[i], err = filepath.Abs(f); err != nil {
			return err
		}
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		raw += info.Size()
	}
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	args := append([]string{"import", b.agent}, files...)
	t, err := b.timed(fmt.Sprintf("import of %d transcripts, %s", len(files), size(raw)), dir, nil, args...)
	if err != nil {
		return err
	}
	b.add("import, megabytes a second", fmt.Sprintf("%.1f", float64(raw)/1e6/t.wall.Seconds()), "", 0, 0)
	if _, err := b.timed("the same import again", dir, nil, args...); err != nil {
		return err
	}
	if err := b.stored("transcripts before gc", dir, "-19", files...); err != nil {
		return err
	}
	if _, err := b.timed("gc --best of them", dir, nil, "gc", "--best"); err != nil {
		return err
	}
	if err := b.stored("transcripts after gc", dir, "-19", files...); err != nil {
		return err
	}
	if _, err := b.timed("compact --all of them", dir, nil, "compact", "--all"); err != nil {
		return err
	}
	if _, err := b.run(dir, nil, b.ctx, "gc", "--best"); err != nil {
		return err
	}
	return b.stored("transcripts compacted, after gc", dir, "-19", files...)
}

// vocabulary has a few words that are everywhere and many that are rare.
func talk(r *rand.Rand, i int) string {
	var b strings.Builder
	for k := range 8 + r.IntN(33) {
		if k > 0 {
			b.WriteByte(' ')
		}
		if r.IntN(2) == 0 {
			b.WriteString([]string{"the", "file", "error", "test", "build", "server", "value", "port"}[r.IntN(8)])
		} else {
			fmt.Fprintf(&b, "w%d", r.IntN(20000))
		}
	}
	if i%50000 == 7 {
		fmt.Fprintf(&b, " zanzibar%d", i)
	}
	return b.String()
}

// large measures a store of generated messages.
func (b *bench) large() error {
	r := rand.New(rand.NewPCG(1, 2))
	var lines, plain bytes.Buffer
	for i := range b.n {
		text := talk(r, i)
		line, err := json.Marshal(map[string]string{"role": []string{"user", "model"}[i%2], "text": text})
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
		plain.WriteString(text + "\n")
	}
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	of := fmt.Sprintf(" of %d messages", b.n)
	t, err := b.timed("append --jsonl"+of, dir, bytes.NewReader(lines.Bytes()), "append", "-s", "talk", "--jsonl")
	if err != nil {
		return err
	}
	b.add("append --jsonl, messages a second", fmt.Sprintf("%.0f", float64(b.n)/t.wall.Seconds()), "", 0, 0)
	file := filepath.Join(b.dir, "lines")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		return err
	}
	if err := b.stored("bytes"+of, dir, "-3", file); err != nil {
		return err
	}
	if err := b.searches(dir, plain.Bytes()); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		args []string
	}{
		{"compact" + of, []string{"compact", "-s", "talk"}},
		{"gc", []string{"gc"}},
		{"fsck", []string{"fsck"}},
		{"rebuild", []string{"rebuild"}},
	} {
		if _, err := b.timed(c.what, dir, nil, c.args...); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		what string
		args []string
	}{
		{"render --budget 4000", []string{"render", "-s", "talk", "--budget", "4000"}},
		{"log -n 20", []string{"log", "-s", "talk", "-n", "20"}},
		{"status", []string{"status"}},
		{"rewind @~1, undo", []string{"rewind", "-s", "talk", "@~1"}},
	} {
		m, err := b.median(max(b.rounds/4, 1), func(int) (took, error) {
			t, err := b.run(dir, nil, append([]string{b.ctx}, c.args...)...)
			if err == nil && c.args[0] == "rewind" {
				var back took
				back, err = b.run(dir, nil, b.ctx, "undo", "-s", "talk")
				t.wall += back.wall
			}
			return t, err
		})
		if err != nil {
			return err
		}
		b.add(c.what+of, millis(m[0].wall), "", 0, m[0].memory)
	}
	return nil
}

// searches measures the first search, and then searches of one and of four words, beside FTS5.
func (b *bench) searches(dir string, plain []byte) error {
	if _, err := b.timed("first search", dir, nil, "search", "zanzibar7"); err != nil {
		return err
	}
	fts := b.has("sqlite3")
	var build time.Duration
	if fts {
		if err := os.WriteFile(filepath.Join(dir, "plain"), plain, 0o600); err != nil {
			return err
		}
		script := "create virtual table m using fts5(text);\n.mode ascii\n.separator \"\\037\" \"\\n\"\n.import plain m\n"
		t, err := b.run(dir, strings.NewReader(script), "sqlite3", "fts")
		if err != nil {
			return err
		}
		build = t.wall
		b.add("build of the index, FTS5", "", millis(build), 0, 0)
	}
	for _, q := range []struct{ what, query, match string }{
		{"search of a rare word", "zanzibar7", "zanzibar7"},
		{"search of four common words", "error test server port", "error OR test OR server OR port"},
	} {
		contenders := []func(int) (took, error){func(int) (took, error) { return b.run(dir, nil, b.ctx, "search", q.query) }}
		if fts {
			contenders = append(contenders, func(int) (took, error) {
				return b.run(dir, nil, "sqlite3", "fts", "select rowid from m where m match '"+q.match+"' order by rank limit 10")
			})
		}
		m, err := b.median(max(b.rounds/4, 1), contenders...)
		if err != nil {
			return err
		}
		if fts {
			b.add(q.what+", FTS5", millis(m[0].wall), millis(m[1].wall), ratio(m), m[0].memory)
		} else {
			b.add(q.what, millis(m[0].wall), "", 0, m[0].memory)
		}
	}
	return nil
}
