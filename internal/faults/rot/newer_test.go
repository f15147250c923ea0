package rot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func swap(old, new string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

// object stores an object with any header, and returns its id.
func object(t *testing.T, dir, header string) format.ID {
	t.Helper()
	raw := format.Raw{Header: []byte(header)}
	if err := open(t, dir).Objects.Put(raw); err != nil {
		t.Fatal(err)
	}
	return raw.ID()
}

// record adds a record with any payload to the log of a plain store.
func record(payload []byte) func([]byte) []byte {
	return func(log []byte) []byte {
		front := binary.BigEndian.AppendUint32([]byte("ctxo"), uint32(len(payload)))
		front = binary.BigEndian.AppendUint32(front,
			crc32.Checksum(front, crc32.MakeTable(crc32.Castagnoli)))
		sum := sha256.Sum256(payload)
		log = append(append(append(log, front...), payload...), sum[:]...)
		return binary.BigEndian.AppendUint32(log, uint32(len(payload)))
	}
}

// withKind makes a user ref name an object with a header that this build does not know.
func withKind(header string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		id := object(t, dir, header)
		if err := open(t, dir).State.UpdateRef(context.Background(), "user/newer", id,
			nil); err != nil {
			t.Fatal(err)
		}
	}
}

func answers(_ *testing.T, dir string) error { _, err := Read(dir); return err }

func collect(t *testing.T, dir string) error {
	_, err := gc.Run(context.Background(), open(t, dir).Opened, gc.Options{Grace: -1})
	return err
}

func show(t *testing.T, dir string) error {
	s := open(t, dir)
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	_, err = s.History.Entry(v.Get("user/newer").ID)
	return err
}

// Data of a newer version is refused as such, by readers and by all commands that would remove or
// mend something. Data that is merely unknown has its own error.
func TestNewerIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		do     func(t *testing.T, dir string) error
		code   int
		says   string
	}{
		"store": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "format"), swap("store 1\n", "store 2\n"))
		}, answers, command.NoStore, "version 2"},
		"early store": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "format"), swap("store 1\n", "ctx 1\n"))
		}, answers, command.NoStore, "before version 1"},
		"another hash": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "format"), swap("hash sha256", "hash blake3"))
		}, answers, command.Corrupt, "blake3"},
		"setting": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "config.toml"),
				func(b []byte) []byte { return append(b, "\n[future]\nkey = 1\n"...) })
		}, answers, command.Usage, "future"},
		"checkpoint": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "refs", "checkpoint"), func(b []byte) []byte {
				body := swap("checkpoint 1\n", "checkpoint 2\n")(
					b[:bytes.LastIndex(b, []byte("sum "))])
				return fmt.Appendf(body, "sum %x\n", sha256.Sum256(body))
			})
		}, answers, command.NoStore, "version 2"},
		"record": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "refs", "log-1"), record([]byte{5, 1, 2, 3}))
		}, answers, command.NoStore, "version 5"},
		"entry, read": {withKind("entry 9\nthought deep\n"), show,
			command.NoStore, "version 9"},
		"entry, gc": {withKind("entry 9\nthought deep\n"), collect,
			command.NoStore, "version 9"},
		"kind of object, gc": {withKind("dream 1\nof sheep\n"), collect, command.NoStore,
			"dream version 1 is not known here"},
		"record of an absence": {func(t *testing.T, dir string) {
			v, err := open(t, dir).Refs.Read()
			if err != nil {
				t.Fatal(err)
			}
			id := v.Get(history.RefName("work", history.MainBranch)).ID.String()
			path := filepath.Join(dir, "absent", id[:2], id[2:])
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("absent 2\nobject "+id+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, dir string) error {
			report, err := fsck.Run(context.Background(), open(t, dir).Opened, fsck.Options{})
			if err == nil && len(report.Faults) > 0 {
				err = errors.New(report.Faults[0].Why)
			}
			return err
		}, command.Failed, "version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, filepath.Join("testdata", "v1", "plain.tar.gz"))
			c.change(t, dir)
			err := c.do(t, dir)
			if err == nil || command.Explain(err).Code != c.code ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("exit %d: %v", command.Explain(err).Code, err)
			}
			if !strings.HasPrefix(c.says, "version ") {
				return
			}
			before := tree(t, dir)
			if _, err := repair.Run(context.Background(), storetest.Env(dir, nil),
				repair.Options{}); command.Explain(err).Kind != "newer-format" {
				t.Errorf("a repair: %v", err)
			}
			if after := tree(t, dir); after != before {
				t.Errorf("a repair changed something:\n%s\n%s", before, after)
			}
		})
	}
}

// tree lists the files of a store with their digests.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "cache") {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", strings.TrimPrefix(path, dir), sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
