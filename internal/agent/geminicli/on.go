package geminicli

import (
	"bufio"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// state is what a reader that goes on has to know of the records before.
type state struct {
	Session string           `json:"session"`
	Home    *transcript.Home `json:"home,omitempty"`
}

// metID is the one kind of name that a reader meets: the id of a message or a call.
const metID = 'i'

// ReadOn reads a transcript from m on, where r begins, and moves m to the end. It emits the steps
// that ReadAs emits after those up to m. If a record depends on earlier ones (a rewind, a list that
// was written again, a message or a call from before), it emits nothing, does not change m, and
// returns transcript.ErrWhole. At the zero Mark it does what ReadAs does. It leaves no State where
// reading cannot go on: the agent writes the transcript anew each time, or was about to restore a
// checkpoint. It leaves Last empty: a message here does not name the one before it. The Stats count
// nothing before m.
func ReadOn(
	name string, r io.Reader, m *transcript.Mark, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	if m.Offset > 0 {
		return readOn(r, m, emit)
	}
	br := bufio.NewReaderSize(r, 64<<10)
	if head, _ := br.Peek(512); IsCheckpoint(head) {
		return readCheckpoint(checkpointName(name), br, emit)
	}
	s := newReplay(emit)
	s.met = transcript.Met{}
	err := s.read(br)
	if err == nil {
		s.leaveMark(m, nil)
	}
	return s.stats, err
}

func readOn(
	r io.Reader, m *transcript.Mark, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	var was state
	earlier, ok := m.Resume(&was)
	if !ok {
		return transcript.NewStats(), transcript.ErrWhole
	}
	var steps []transcript.Step
	s := newReplay(func(st transcript.Step) error {
		steps = append(steps, st)
		return nil
	})
	s.met = transcript.Met{}
	s.stats.Session, s.stats.Home, s.stats.Bytes = was.Session, was.Home, m.Offset
	lr := transcript.NewLineReader(bufio.NewReaderSize(r, 64<<10), MaxLine, m.Offset)
	if err := lr.Each(s.line); err != nil {
		return s.stats, err
	}
	if s.back || s.met.In(earlier) {
		return s.stats, transcript.ErrWhole
	}
	for _, st := range steps {
		if err := emit(st); err != nil {
			return s.stats, err
		}
	}
	s.leaveMark(m, earlier)
	return s.stats, nil
}

// leaveMark sets the mark from which the next reading goes on, up to the last line feed.
func (s *replay) leaveMark(m *transcript.Mark, earlier []byte) {
	m.Offset, m.State = s.stats.Bytes, nil
	if s.document || s.restore.on || s.stats.Session == "" || m.Offset == 0 {
		return
	}
	m.Leave(state{Session: s.stats.Session, Home: s.stats.Home}, s.met, earlier)
}

// meet notes the id of a message or a call.
func (s *replay) meet(id string) {
	if s.met != nil {
		s.met.Add(metID, id)
	}
}

// meetResult notes the id of a response. All earlier records decide which call a response without
// an id answers.
func (s *replay) meetResult(p part) {
	s.meet(p.ID)
	s.back = s.back || p.ID == ""
}
