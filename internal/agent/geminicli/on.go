package geminicli

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// ErrWhole says that the records after a mark depend on those before it, so that the transcript has
// to be read whole.
var ErrWhole = errors.New("what follows the mark leads back before it")

// Mark is the state after a reading, from which the next one can go on. The zero Mark is the
// beginning of a transcript.
type Mark struct {
	Offset  int64  // number of bytes read, up to the last line feed
	Session string // the session's id
	// Whole says that reading cannot go on from here: the agent writes the transcript anew each
	// time, or was about to restore a checkpoint.
	Whole bool

	// ids are digests of the ids of messages and calls that were read. Two ids with one digest,
	// which is once in some 10^13 transcripts of 1,000 messages, only cost a reading of the whole.
	ids []uint64
}

// AppendIDs appends the mark's ids to b, eight bytes each.
func (m *Mark) AppendIDs(b []byte) []byte {
	b = slices.Grow(b, 8*len(m.ids))
	for _, id := range m.ids {
		b = binary.LittleEndian.AppendUint64(b, id)
	}
	return b
}

// SetIDs sets the ids that AppendIDs wrote. It does not keep b.
func (m *Mark) SetIDs(b []byte) {
	m.ids = make([]uint64, 0, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		m.ids = append(m.ids, binary.LittleEndian.Uint64(b))
	}
}

// ReadMarked reads a transcript, and returns the mark from which ReadOn goes on.
func ReadMarked(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, Mark, error) {
	s := newReplay(emit)
	s.met = map[uint64]struct{}{}
	err := s.read(r)
	m := Mark{Offset: s.stats.Bytes, Session: s.stats.Session, Whole: s.document || s.restore.on, ids: slices.Collect(maps.Keys(s.met))}
	slices.Sort(m.ids)
	return s.stats, m, err
}

// ReadOn reads a transcript from m on; r begins there. It emits the steps that ReadMarked would
// emit after those up to m, and moves m to the end. If a record depends on earlier ones (a rewind,
// a list that was written again, a message or a call from before), it emits nothing, does not
// change m, and returns ErrWhole. The Stats do not count anything before m.
func ReadOn(r io.Reader, m *Mark, emit func(transcript.Step) error) (transcript.Stats, error) {
	if m.Whole || m.Offset == 0 || m.Session == "" {
		return transcript.NewStats(), ErrWhole
	}
	var steps []transcript.Step
	s := newReplay(func(st transcript.Step) error {
		steps = append(steps, st)
		return nil
	})
	s.met = map[uint64]struct{}{}
	s.stats.Session, s.stats.Bytes = m.Session, m.Offset
	lr := transcript.NewLineReader(bufio.NewReaderSize(r, 64<<10), MaxLine, m.Offset)
	if err := lr.Each(s.line); err != nil {
		return s.stats, err
	}
	if s.back || m.knows(s.met) {
		return s.stats, ErrWhole
	}
	for _, st := range steps {
		if err := emit(st); err != nil {
			return s.stats, err
		}
	}
	m.Offset = s.stats.Bytes
	m.ids = append(m.ids, slices.Sorted(maps.Keys(s.met))...)
	return s.stats, nil
}

// knows reports whether one of the ids was read before.
func (m *Mark) knows(met map[uint64]struct{}) bool {
	return len(met) > 0 && slices.ContainsFunc(m.ids, func(id uint64) bool {
		_, ok := met[id]
		return ok
	})
}

// meet notes the id of a message or a call.
func (s *replay) meet(id string) {
	if s.met == nil {
		return
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, id)
	s.met[h.Sum64()] = struct{}{}
}

// meetResult notes the id of a response. All earlier records decide which call a response without
// an id answers.
func (s *replay) meetResult(p part) {
	s.meet(p.callID)
	s.back = s.back || p.callID == ""
}
