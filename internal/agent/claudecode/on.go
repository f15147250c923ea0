package claudecode

import (
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// state is what a reader that goes on has to know of the records before. The next reading begins
// with the record of the message that was emitted last, so that what follows has its parent.
type state struct {
	Session string           `json:"session"`
	Home    *transcript.Home `json:"home,omitempty"`
	Name    string           `json:"name,omitempty"` // that the file had
}

// The kinds of names that a reader meets.
const (
	metRecord = 'r'
	metAnswer = 'a'
	// The text of a prompt of the queue: a later record that says it takes its place
	metQueued = 'q'
)

// ReadOn reads a transcript from m on, where r begins, and moves m to the end. name is as in
// ReadAs. It emits the steps that ReadAs emits after those up to m, but without a tree: each
// follows the one before. If there is more to it (another line, a subagent, an earlier record), it
// emits nothing, does not change m, and returns transcript.ErrWhole. At the zero Mark it does what
// ReadAs does. The Stats count nothing before m.
func ReadOn(
	name string, r io.Reader, m *transcript.Mark, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	if m.Offset > 0 || m.State != nil {
		return readOn(name, r, m, emit)
	}
	var d *reader
	stats, err := readWithin(maxKept, name, r, func(st transcript.Step) error {
		m.Last = st.Message.Origin.Message
		return emit(st)
	}, func(now *reader) error {
		d = now
		return nil
	})
	if err == nil && d != nil {
		d.leave(m, name, 0, nil)
	}
	return stats, err
}

func readOn(
	name string, r io.Reader, m *transcript.Mark, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	var was state
	earlier, ok := m.Resume(&was)
	if !ok || was.Name != name {
		return transcript.NewStats(), transcript.ErrWhole
	}
	var d *reader
	var steps []transcript.Step
	stats, err := readWithin(maxKept, name, r, func(st transcript.Step) error {
		st.Tree, st.Number, st.Loose = nil, 0, false
		steps = append(steps, st)
		return nil
	}, func(now *reader) error {
		d = now
		if d.seen.Home == nil {
			d.seen.Home, d.stats.Home = was.Home, was.Home
		}
		if !d.continues(was.Session, m.Last, earlier) {
			return transcript.ErrWhole
		}
		return nil
	})
	if err != nil {
		return stats, err
	}
	steps = steps[1:] // the first one was emitted before
	if err := m.Emit(steps, emit); err != nil {
		return stats, err
	}
	base := m.Offset
	if len(steps) > 0 {
		d.leave(m, name, base, earlier)
	}
	stats.Bytes += base
	return stats, nil
}

// continues reports whether the records say nothing but what follows the first one, one after the
// other, so that all records before the first one would change nothing. last names the message of
// the first one, and earlier has what was met before it.
func (d *reader) continues(session, last string, earlier []byte) bool {
	th := d.threads[""]
	if len(d.threads) != 1 || d.session != session || d.unsettled || len(th.order) == 0 ||
		th.order[0] != 0 || d.list[0].id != last {
		return false
	}
	first := &d.list[0]
	before := none
	for _, i := range th.order {
		e := &d.list[i]
		if e.pred != before || before != none && e.parent < 0 && !(e.parent == root && e.up == "") {
			return false
		}
		before = i
	}
	asked := map[string]bool{}
	for i := range d.list {
		e := &d.list[i]
		if e.again || e.twice || i > 0 && e.answer != "" && e.answer == first.answer {
			return false
		}
		for _, call := range e.calls {
			asked[call] = true
		}
		for _, call := range e.results {
			if i > 0 && !asked[call] {
				return false
			}
		}
	}
	prompts := transcript.Met{}
	for text := range d.texts {
		prompts.Add(metQueued, text)
	}
	return !prompts.In(earlier) && !d.met(1, len(d.list)).In(earlier)
}

// met returns what the records from the one with index from on, and before to, are met by.
func (d *reader) met(from, to int) transcript.Met {
	met := transcript.Met{}
	for i := from; i < to; i++ {
		e := &d.list[i]
		if e.id != "" {
			met.Add(metRecord, e.id)
		}
		if e.answer != "" {
			met.Add(metAnswer, e.answer)
		}
	}
	for _, q := range d.queue {
		if d.list[q.at].sent {
			met.Add(metQueued, q.text)
		}
	}
	return met
}

// leave sets the mark from which the next reading goes on: the record of the message that was
// emitted last. base is where this reading began.
func (d *reader) leave(m *transcript.Mark, name string, base int64, earlier []byte) {
	m.State = nil
	m.Offset = base + d.stats.Bytes
	th := d.threads[""]
	if th == nil || len(th.order) == 0 || d.unsettled || d.session == "" {
		return
	}
	tip := th.order[len(th.order)-1]
	e := &d.list[tip]
	if tip != th.tip || e.id != m.Last || e.class != classSaid || e.unnamed || e.twice || e.again ||
		e.sidechain || e.version == "" || !e.timed {
		return
	}
	if tip > 0 && e.line == d.list[tip-1].line ||
		int(tip)+1 < len(d.list) && e.line == d.list[tip+1].line {
		return // records on one line cannot be told apart
	}
	from := 0
	if base > 0 {
		from = 1
	}
	m.Offset = base
	if tip > 0 {
		m.Offset += d.list[tip-1].line
	}
	m.Leave(state{Session: d.session, Home: d.stats.Home, Name: name}, d.met(from, int(tip)+1),
		earlier)
}

// timed reports whether a record has a time that can be read.
func timed(o jsonvalue.Object) bool {
	_, exact := transcript.TimeOf(o["timestamp"])
	return exact
}
