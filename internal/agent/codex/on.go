package codex

import (
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// state is what a reader that goes on has to know of the records before.
type state struct {
	Session string            `json:"session"`
	Home    *transcript.Home  `json:"home,omitempty"`
	Begins  string            `json:"begins,omitempty"`
	Model   string            `json:"model,omitempty"`
	Open    map[string]string `json:"open,omitempty"` // the tools of calls without a result
}

// The kinds of names that a reader meets.
const (
	metName = 'n' // of a message
	metSeen = 's' // of a call or a result
)

// ReadOn reads a rollout from m on, where r begins, and moves m to the end. It emits the steps that
// Read emits after those up to m. If a record depends on earlier ones (a rewind into them, a call
// or a result that comes again), it emits nothing, does not change m, and returns
// transcript.ErrWhole. At the zero Mark it does what Read does. The Stats count nothing before m.
func ReadOn(
	r io.Reader, m *transcript.Mark, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	if m.Offset > 0 {
		return readOn(r, m, emit)
	}
	d := newReader(func(st transcript.Step) error {
		m.Last = st.Message.Origin.Message
		return emit(st)
	})
	d.met = transcript.Met{}
	err := transcript.Lines(r, &d.stats, starts(), true, d.marked)
	d.close()
	if err == nil {
		d.leave(m, 0, nil)
	}
	return d.stats, err
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
	d := newReader(func(st transcript.Step) error {
		steps = append(steps, st)
		return nil
	})
	d.on, d.met = true, transcript.Met{}
	d.session, d.begins, d.model, d.stats.Session, d.stats.Home = was.Session, was.Begins,
		was.Model, was.Session, was.Home
	for id, tool := range was.Open {
		d.tools[id], d.open[id] = tool, tool
	}
	if err := transcript.Lines(r, &d.stats, starts(), true, d.marked); err != nil {
		return d.stats, err
	}
	if d.back || d.met.In(earlier) {
		return d.stats, transcript.ErrWhole
	}
	d.close()
	if err := m.Emit(steps, emit); err != nil {
		return d.stats, err
	}
	base := m.Offset
	d.leave(m, base, earlier)
	d.stats.Bytes += base
	return d.stats, nil
}

// leave sets the mark from which the next reading goes on: after the last record that is not kept
// with a message to come. base is where this reading began.
func (d *reader) leave(m *transcript.Mark, base int64, earlier []byte) {
	m.Offset = base + d.end
	m.State = nil
	if d.stats.Session == "" || d.shared || m.Last == "" || m.Offset == 0 {
		return
	}
	m.Leave(state{Session: d.stats.Session, Home: d.stats.Home, Begins: d.begins,
		Model: d.model, Open: d.open}, d.met, earlier)
}

// marked is record for a reader that leaves a mark.
func (d *reader) marked(o jsonvalue.Object) error {
	d.shared = d.shared || d.stats.Bytes == d.line // records on one line cannot be told apart
	d.line = d.stats.Bytes
	if err := d.record(o); err != nil {
		return err
	}
	if d.before.Empty() && d.event == nil {
		d.end = d.stats.Bytes
	}
	return nil
}
