package rot

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// SplitLog splits a log of one segment into several, as if segments were limited to a few hundred
// bytes. It removes records before the base. The checkpoint is then in the middle of the newest
// segment but one record.
func SplitLog(s *session.Store) error {
	base, err := s.Refs.Base()
	if err != nil {
		return err
	}
	checkpoint, err := decodeCheckpoint(filepath.Join(s.Dir, "refs", "checkpoint"))
	if err != nil {
		return err
	}
	old := filepath.Join(s.Dir, "refs", "log-1")
	log, err := os.ReadFile(old)
	if err != nil {
		return err
	}
	var records []refs.Record
	if err := s.Refs.Forward(func(r refs.Record) bool {
		records = append(records, r)
		return true
	}); err != nil {
		return err
	}
	segment := base.Segment
	var text []byte
	at := map[uint64][2]uint64{} // by operation, the place of the next one
	write := func() error {
		return os.WriteFile(filepath.Join(s.Dir, "refs", fmt.Sprintf("log-%d", segment)), text,
			0o600)
	}
	open := func(first uint64) {
		segment++
		text = fmt.Appendf(nil, "ctx-log 1 %s %d\n", s.ID, first)
		at[first-1] = [2]uint64{segment, uint64(len(text))}
	}
	open(base.Number + 1)
	for _, r := range records {
		if n := r.Op.Number; n == base.Number+4 || n == checkpoint.Number-1 {
			if err := write(); err != nil {
				return err
			}
			open(n)
		}
		text = append(text, log[r.Offset:r.Offset+int64(r.Size)]...)
		at[r.Op.Number] = [2]uint64{segment, uint64(len(text))}
	}
	if err := write(); err != nil {
		return err
	}
	for name, c := range map[string]*format.Checkpoint{"base": base, "checkpoint": checkpoint} {
		c.Segment, c.Offset = at[c.Number][0], at[c.Number][1]
		b, err := c.Encode()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.Dir, "refs", name), b, 0o600); err != nil {
			return err
		}
	}
	return os.Remove(old)
}

func decodeCheckpoint(path string) (*format.Checkpoint, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return format.DecodeCheckpoint(b)
}
