package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pushes measures a session that is imported and pushed part by part, to a folder and to a git
// repository, beside zstd of each part.
func (b *bench) pushes() error {
	if b.sessions == "" {
		return nil
	}
	files, _, err := b.files()
	if err != nil {
		return err
	}
	text, err := largest(files)
	if err != nil {
		return err
	}
	folder, err := b.project(false)
	if err != nil {
		return err
	}
	err = b.pushed(text, "a folder", "dir:"+folder, func() (int64, error) {
		return bytesBelow(filepath.Join(folder, "stores"))
	})
	if err != nil || !b.has("git") {
		return err
	}
	bare, err := b.project(false)
	if err != nil {
		return err
	}
	// A pack a push, of which sentTo can tell what was sent.
	for _, args := range [][]string{{"init", "-q", "--bare", "."},
		{"config", "receive.unpackLimit", "1"}} {
		if _, err := b.run(bare, nil, "git", args...); err != nil {
			return err
		}
	}
	return b.pushed(text, "a git repository", "git+file://"+bare,
		func() (int64, error) { return b.sentTo(bare) })
}

// sentTo returns how many bytes of objects a git repository has received in packs. To a pack that
// it received it adds the objects that deltas in it are of, whole. So of each object the smallest
// form counts, in which it was sent.
func (b *bench) sentTo(bare string) (sum int64, err error) {
	packs, err := filepath.Glob(filepath.Join(bare, "objects", "pack", "*.idx"))
	if err != nil {
		return 0, err
	}
	t, err := b.run(bare, nil, "git", append([]string{"verify-pack", "-v"}, packs...)...)
	if err != nil {
		return 0, err
	}
	least := map[string]int64{}
	for line := range strings.Lines(string(t.out)) {
		fields := strings.Fields(line) // id, kind, size, size in the pack, place
		if len(fields) < 5 || len(fields[0]) != 40 {
			continue
		}
		n, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return 0, err
		}
		if old, ok := least[fields[0]]; !ok || n < old {
			least[fields[0]] = n
		}
	}
	for _, n := range least {
		sum += n
	}
	return sum, nil
}

// largest reads the largest of some files.
func largest(files []string) (text []byte, err error) {
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if len(b) > len(text) {
			text = b
		}
	}
	return text, nil
}

// share makes a remote team of the store in a project, which shares everything.
func (b *bench) share(project, url string) error {
	_, err := b.sequence(project, [][]string{{"remote", "add", "team", url},
		{"config", "set", "remote.team.share", "all"}})
	return err
}

// pushed imports the lines of text part by part into a new store, pushes each part, and adds the
// rows. sent tells how many bytes have arrived.
func (b *bench) pushed(text []byte, to, url string, sent func() (int64, error)) error {
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	if err := b.share(dir, url); err != nil {
		return err
	}
	file, part := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "part")
	lines := bytes.SplitAfter(text, []byte("\n"))
	var times []took
	var packed int64
	for n := range b.parts {
		next := bytes.Join(lines[n*len(lines)/b.parts:(n+1)*len(lines)/b.parts], nil)
		upTo := bytes.Join(lines[:(n+1)*len(lines)/b.parts], nil)
		if err := os.WriteFile(file, upTo, 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(part, next, 0o600); err != nil {
			return err
		}
		if b.has("zstd") {
			size, err := b.zstd("-3", part)
			if err != nil {
				return err
			}
			packed += size
		}
		if _, err := b.run(dir, nil, b.ctx, "import", b.agent, file); err != nil {
			return err
		}
		t, err := b.run(dir, nil, b.ctx, "push", "team")
		if err != nil {
			return err
		}
		times = append(times, t)
	}
	own, err := sent()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d pushes of %s to %s", b.parts, size(int64(len(text))), to)
	if packed > 0 {
		b.add(what+", bytes, `zstd -3` of the parts", size(own), size(packed),
			float64(own)/float64(packed))
	} else {
		b.add(what+", bytes", size(own), "", 0)
	}
	slices.SortFunc(times, func(a, b took) int { return int(a.wall - b.wall) })
	b.beside("push to "+to+", p50", times[len(times)/2])
	b.beside("push to "+to+", p95", times[len(times)*95/100])
	if _, err := b.run(dir, nil, b.ctx, "push", "team"); err != nil { // the clusters that wait
		return err
	}
	m, err := b.median(max(b.rounds/4, 1),
		func(int) (took, error) { return b.run(dir, nil, b.ctx, "sync", "team") })
	if err == nil {
		b.beside("sync with "+to+", nothing new", m...)
	}
	return err
}
