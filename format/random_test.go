package format_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// random makes values that pass the checks of the package. A seed always gives the same values.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func (r random) id() format.ID {
	var id format.ID
	for i := range id {
		id[i] = byte(r.IntN(256))
	}
	id[31] |= 1
	return id
}

func (r random) ids(least, most int) []format.ID {
	var out []format.ID
	for range least + r.IntN(most-least+1) {
		out = append(out, r.id())
	}
	return out
}

// number returns a number of at least least. It prefers the ends of the range.
func (r random) number(least uint64) uint64 {
	switch r.IntN(4) {
	case 0:
		return least
	case 1:
		return math.MaxUint64
	case 2:
		return max(least, r.Uint64())
	}
	return least + uint64(r.IntN(300))
}

func (r random) name() string {
	letters := []rune("abzAZ09 ._@:+-~%\"\\é用🙂")
	out := []rune{'n'}
	for range r.IntN(10) {
		out = append(out, letters[r.IntN(len(letters))])
	}
	return string(append(out, 'x'))
}

func (r random) names(most int) []string {
	var out []string
	for range r.IntN(most + 1) {
		out = append(out, r.name())
	}
	return out
}

// sorted returns different names in ascending order, from least to most of them.
func (r random) sorted(least, most int) []string {
	seen := map[string]bool{}
	for len(seen) < least+r.IntN(most-least+1) {
		seen[r.name()] = true
	}
	var out []string
	for n := range seen {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (r random) time() time.Time {
	return time.UnixMilli(r.Int64N(253402300800000)).UTC() // up to the year 9999
}

func (r random) body(least int64) format.Body {
	return format.Body{Digest: r.id(), Size: least + r.Int64N(format.MaxBody-least+1),
		Media: format.MediaParts}
}

func (r random) coin() bool { return r.IntN(2) == 0 }

func (r random) entry() *format.Entry {
	kinds := []string{format.KindMessage, format.KindAmend, format.KindFork, format.KindJoin,
		format.KindRewind, format.KindMask,
		format.KindReplace, format.KindEpoch, format.KindNote}
	e := &format.Entry{Kind: kinds[r.IntN(len(kinds))], Seq: r.number(1), Session: r.name(),
		Time: r.time()}
	e.Parents = r.ids(0, 1)
	body := r.body(format.NonceLen)
	switch e.Kind {
	case format.KindMessage, format.KindNote, format.KindAmend:
		e.Role, e.Body, e.Results = []string{"user", "model", "tool", "system"}[r.IntN(4)],
			&body, r.names(2)
		for range r.IntN(3) {
			e.Calls = append(e.Calls, format.Call{ID: r.name(), Tool: r.name()})
		}
		if e.Kind == format.KindAmend {
			e.Amends = r.id()
		}
	case format.KindMask, format.KindReplace:
		e.Body = &body
	case format.KindFork:
		e.Children = r.sorted(1, 3)
	case format.KindJoin:
		e.Parents = r.ids(2, 5)
		for range e.Parents[1:] {
			e.Children = append(e.Children, r.name())
		}
	case format.KindRewind:
		e.Left = r.id()
	case format.KindEpoch:
		e.Epoch = r.id()
	}
	if r.coin() {
		e.Author, e.Invocation, e.Tokens = r.name(), r.name(), r.number(0)
		e.Source = &format.Source{Agent: r.name(), Session: r.name(), Message: r.name(),
			Digest: fmt.Sprintf("%016x", r.Uint64())}
	}
	return e
}

func (r random) node() *format.Node {
	n := &format.Node{Level: r.IntN(6), Children: r.ids(1, 5)}
	n.Count = uint64(len(n.Children))
	for range n.Level {
		n.Count *= format.FanOut
	}
	return n
}

func (r random) summary() *format.Summary {
	s := &format.Summary{Node: r.id(), Generation: r.number(1), Interim: r.coin(),
		Summarizer: r.name(), Version: r.name(),
		Body: r.body(format.NonceLen)}
	if r.coin() {
		s.Prompt = r.id()
	}
	for _, id := range r.ids(1, 4) {
		s.Inputs = append(s.Inputs, format.Input{Summary: r.coin(), ID: id})
	}
	return s
}

func (r random) tombstone() *format.Tombstone {
	return &format.Tombstone{Cluster: r.number(0), Node: r.id(), Count: r.number(1),
		Arrival: r.number(0), Summary: r.id(),
		Body: r.body(format.NonceLen)}
}

func (r random) page() *format.Page {
	p := &format.Page{Level: r.IntN(6)}
	first := r.Uint64() / format.FanOut * format.FanOut
	for i := range uint64(format.FanOut) {
		if i == 255 && p.Slots == nil || r.IntN(50) == 0 {
			s := format.Slot{Place: first + i, Eviction: 256 + r.number(0)/2, Count: 1, ID: r.id()}
			if p.Level > 0 {
				s.Count += uint64(r.IntN(256))
			}
			p.Slots = append(p.Slots, s)
		}
	}
	return p
}

func (r random) forest() *format.Forest {
	f := &format.Forest{Name: r.name(), Arrivals: 1 + r.number(0)/2,
		Evicted: r.number(1), Opened: 100}
	for i := range uint64(r.IntN(5)) {
		c := format.Cluster{Number: 20*i + uint64(r.IntN(20)), Node: r.id(), Count: r.number(1),
			Arrival: 1 + r.Uint64N(f.Arrivals)}
		end := uint64(0)
		for end < c.Count && r.coin() {
			v := format.Cover{Summary: r.id(), Offset: end, Interim: r.coin()}
			v.Count = 1 + r.Uint64N(c.Count-v.Offset)
			end = v.Offset + v.Count
			c.Covers = append(c.Covers, v)
		}
		f.Clusters = append(f.Clusters, c)
	}
	if r.coin() {
		f.Tombs, f.TombCount = r.id(), f.Evicted
	}
	return f
}

func (r random) epoch() *format.Epoch {
	e := &format.Epoch{Step: []string{format.EpochInitial, format.EpochUpdate, format.EpochFold,
		format.EpochFork}[r.IntN(4)]}
	update := e.Step == format.EpochUpdate
	if update {
		body := r.body(1)
		e.Body = &body
	}
	for i := range r.IntN(6) {
		b := format.Belief{Key: fmt.Sprintf("core/key%d", i)}
		if !update || r.coin() {
			b.Value, b.First = r.id(), r.id()
			if r.coin() {
				b.Gone = r.id()
			}
		}
		e.Current = append(e.Current, b)
		switch {
		case !update:
			e.Initial = append(e.Initial, format.Told{Key: b.Key, Value: b.Value, Text: b.First})
		case r.coin():
			e.Initial = append(e.Initial, format.Told{Key: b.Key, Value: r.id(), Text: r.id()})
		}
	}
	return e
}

func (r random) value(none bool) format.Value {
	switch k := r.IntN(4); {
	case k == 0 && none:
		return format.Value{}
	case k <= 1:
		return format.Value{Kind: format.ObjectValue, ID: r.id()}
	case k == 2:
		return format.Value{Kind: format.NameValue, Name: r.name()}
	}
	v := format.Value{Kind: format.SessionValue, ID: r.id(), Frontier: r.number(0)}
	if r.coin() {
		v.Pin, v.Through = r.id(), v.Frontier/2
	}
	return v
}

func (r random) decision() format.Decision {
	d := format.Decision{Kind: format.DecisionKind("jrbsde"[r.IntN(6)]),
		Cluster: r.number(0), ID: r.id()}
	switch d.Kind {
	case format.DecideRetract, format.DecideRestore:
		d.Offset = r.number(0)
	case format.DecideSettle:
		d.Offset, d.Count, d.Interim = r.number(0)/2, r.number(1)/2+1, r.coin()
	}
	return d
}

func (r random) operation() *format.Operation {
	op := &format.Operation{Number: r.number(1), Time: r.time(), Verb: "append"}
	if op.Number > 1 {
		op.Before, op.About = r.id(), r.Uint64N(op.Number)
	}
	if r.coin() {
		op.Session = r.name()
	}
	op.Effects = format.Effects{Moves: r.coin(), Makes: r.coin(), Forgets: r.coin(),
		Undo: format.UndoRule(1 + r.IntN(4))}
	op.Effects.Leaves = op.Effects.Moves && r.coin()
	for _, n := range r.sorted(0, 4) {
		op.Refs = append(op.Refs, format.RefUpdate{Name: n, Old: r.value(true), New: r.value(true)})
	}
	for _, n := range r.sorted(0, 3) {
		f := format.ForestUpdate{Name: n}
		for range 1 + r.IntN(5) {
			f.Decisions = append(f.Decisions, r.decision())
		}
		op.Forests = append(op.Forests, f)
	}
	if r.coin() {
		body := r.body(0)
		header, err := format.EncodeBlob(body)
		if err != nil {
			panic(err)
		}
		op.Objects = append(op.Objects, format.Raw{Header: header},
			format.Raw{Header: header, Body: []byte(r.name())})
	}
	return op
}

func (r random) checkpoint() *format.Checkpoint {
	c := &format.Checkpoint{Store: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()),
		Segment: r.number(0), Offset: r.number(0)}
	if c.Number = r.number(0); c.Number > 0 {
		c.Digest = r.id()
	}
	for _, n := range r.sorted(0, 5) {
		c.Refs = append(c.Refs, format.Ref{Name: n, Value: r.value(false)})
	}
	return c
}

// same checks that a value equals its decoded encoding, and that the encoding is stable.
func same[T any](
	t *testing.T, v *T, encode func(*T) ([]byte, error), decode func([]byte) (*T, error),
) {
	t.Helper()
	b, err := encode(v)
	if err != nil {
		t.Fatalf("%+v: %v", v, err)
	}
	got, err := decode(b)
	if err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	if !reflect.DeepEqual(got, v) {
		t.Fatalf("got %+v, want %+v", got, v)
	}
	if again, err := encode(got); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("got %q, want %q, error %v", again, b, err)
	}
}

func (r *random) forgotten() *format.Forgotten {
	f := &format.Forgotten{Operation: 1 + r.Uint64N(1e6), Time: r.time()}
	for range r.IntN(4) {
		f.Objects, f.Sources = append(f.Objects, r.id()), append(f.Sources, r.id())
		f.Texts = append(f.Texts,
			format.Trace{Size: 1 + r.Uint64N(100), Roll: r.Uint64(), Digest: r.id()})
		f.Phrases = append(f.Phrases,
			format.Trace{Size: 1 + r.Uint64N(3), Roll: r.Uint64N(2), Digest: r.id()})
	}
	return f
}

func TestRandomRoundTrip(t *testing.T) {
	r := newRandom(20261121)
	for range 500 {
		same(t, r.entry(), (*format.Entry).Encode, format.DecodeEntry)
		same(t, r.node(), (*format.Node).Encode, format.DecodeNode)
		same(t, r.summary(), (*format.Summary).Encode, format.DecodeSummary)
		same(t, r.tombstone(), (*format.Tombstone).Encode, format.DecodeTombstone)
		same(t, r.page(), (*format.Page).Encode, format.DecodePage)
		same(t, r.forest(), (*format.Forest).Encode, format.DecodeForest)
		same(t, r.epoch(), (*format.Epoch).Encode, format.DecodeEpoch)
		same(t, r.checkpoint(), (*format.Checkpoint).Encode, format.DecodeCheckpoint)
		same(t, r.operation(), encodeRecord, decodeRecord)
		for _, reason := range []string{format.ReasonForgotten, format.ReasonLost} {
			same(t, &format.Absent{Object: r.id(), Reason: reason, Time: r.time()},
				(*format.Absent).Encode, format.DecodeAbsent)
		}
		same(t, r.forgotten(), (*format.Forgotten).Encode, format.DecodeForgotten)
		body := r.body(0)
		same(t, &body, encodeBlob, decodeBlob)
	}
}

func encodeRecord(op *format.Operation) ([]byte, error) {
	b, _, err := op.Encode()
	return b, err
}

func decodeRecord(b []byte) (*format.Operation, error) {
	op, _, _, err := format.DecodeOperation(b)
	return op, err
}

func encodeBlob(b *format.Body) ([]byte, error) { return format.EncodeBlob(*b) }

func decodeBlob(h []byte) (*format.Body, error) {
	b, err := format.DecodeBlob(h)
	return &b, err
}
