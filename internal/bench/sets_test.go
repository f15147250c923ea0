package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		b.add(what, size(own), "", 0)
		return nil
	}
	rival, err := b.zstd(level, files...)
	b.add(what+fmt.Sprintf(" (cache %s), `zstd %s`", size(cache), level), size(own), size(rival),
		float64(own)/float64(rival))
	return err
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
	if _, err := b.once("append --jsonl of the set of messages", dir, "append", "-s", "talk",
		"--jsonl", file); err != nil {
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
	files, raw, err := b.files()
	if err != nil {
		return err
	}
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	args := append([]string{"import", b.agent}, files...)
	t, err := b.once(fmt.Sprintf("import of %d transcripts, %s", len(files), size(raw)), dir,
		args...)
	if err != nil {
		return err
	}
	b.addRate("import, megabytes a second", "%.1f", float64(raw)/1e6/t.wall.Seconds())
	if _, err := b.once("the same import again", dir, args...); err != nil {
		return err
	}
	if err := b.stored("transcripts before gc", dir, "-19", files...); err != nil {
		return err
	}
	if _, err := b.once("gc --best of them", dir, "gc", "--best"); err != nil {
		return err
	}
	if err := b.stored("transcripts after gc", dir, "-19", files...); err != nil {
		return err
	}
	if _, err := b.once("compact --all of them", dir, "compact", "--all"); err != nil {
		return err
	}
	if _, err := b.run(dir, nil, b.ctx, "gc", "--best"); err != nil {
		return err
	}
	return b.stored("transcripts compacted, after gc", dir, "-19", files...)
}

// files returns the absolute names of the transcripts, and their size.
func (b *bench) files() (files []string, raw int64, err error) {
	files, err = filepath.Glob(filepath.Join(b.sessions, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, 0, errors.Join(err, fmt.Errorf("no *.jsonl in %q", b.sessions))
	}
	for i, f := range files {
		if files[i], err = filepath.Abs(f); err != nil {
			return nil, 0, err
		}
		info, err := os.Stat(f)
		if err != nil {
			return nil, 0, err
		}
		raw += info.Size()
	}
	return files, raw, nil
}
