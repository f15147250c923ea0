package epoch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// State is the epoch in force and the blobs of it that can be read. The nil State is that of a
// branch without one, or with one that was lost.
type State struct {
	*format.Epoch
	Blobs map[format.ID][]byte
}

// usable reports whether the state can be gone on from: its initial block can be said again. A
// belief that was lost heals by itself; a block that was lost cannot, and the epoch counts as not
// there.
func (s *State) usable() bool {
	if s == nil {
		return false
	}
	for _, t := range s.Initial {
		if _, ok := s.Blobs[t.Text]; !ok {
			return false
		}
	}
	return true
}

// knows reports whether a belief can be compared with a value. One whose value is no canonical JSON
// any more, or whose texts are gone, cannot.
func (s *State) knows(b format.Belief) bool {
	value, ok := s.Blobs[b.Value]
	_, text := s.Blobs[b.First]
	if !ok || !text {
		return false
	}
	again, err := canonical(value)
	return err == nil && string(again) == string(value)
}

// The results of an observation.
const (
	Initial   = "initial"   // the first epoch: Text is the initial block
	Unchanged = "unchanged" // nothing to be told
	Updated   = "updated"   // Text is to be told
)

// Outcome is what follows from an observation.
type Outcome struct {
	Result string
	Epoch  *format.Epoch // the next one; nil where it is Unchanged
	Delta  []Change      // the keys whose values changed, in the order of the sources
	Text   string        // unwrapped
	// the blobs that the epoch names and the state before did not, and the epoch itself, last
	Objects []format.Raw
	Found   int // how many keys were observed
}

// Change is a key and the blob of its new value; zero where it was removed.
type Change struct {
	Key   string
	Value format.ID
}

// BlockedError says that a branch's first epoch cannot begin, since sources cannot be read.
type BlockedError struct{ Keys []string }

func (e *BlockedError) Error() string { return "no value yet of " + strings.Join(e.Keys, ", ") }

// Observe compares what was observed with what the model was last told. The first observation of a
// branch takes every value, and fails with a *BlockedError as long as there are sources that cannot
// be read; later ones leave the belief about such a source as it is. A key that is not observed is
// believed as before: that a source is not there any more has to be said. The error is ErrInput's
// kind where a text is missing that would have to be told.
func Observe(s *State, set *Set) (*Outcome, error) {
	o := &observer{state: s, blobs: map[format.ID]bool{}}
	o.done.Found = len(set.list)
	if !s.usable() {
		return o.begin(set)
	}
	return o.goOn(set)
}

type observer struct {
	state *State
	done  Outcome
	blobs map[format.ID]bool // among done.Objects
	parts []string           // of the text
}

func (o *observer) begin(set *Set) (*Outcome, error) {
	var missing []string
	e := &format.Epoch{Step: format.EpochInitial}
	for _, in := range set.list {
		switch {
		case in.unavailable:
			missing = append(missing, in.key)
		case in.value != nil:
			b, err := o.admit(in, format.Belief{})
			if err != nil {
				return nil, err
			}
			o.parts = append(o.parts, *in.first)
			e.Current = append(e.Current, b)
			e.Initial = append(e.Initial, format.Told{Key: b.Key, Value: b.Value, Text: b.First})
		}
	}
	if len(missing) > 0 {
		return nil, &BlockedError{missing}
	}
	o.done.Result = Initial
	return o.finish(e)
}

func (o *observer) goOn(set *Set) (*Outcome, error) {
	e := &format.Epoch{Step: format.EpochUpdate, Initial: o.state.Initial, Current: slices.Clone(o.state.Current)}
	for _, in := range set.list {
		at := slices.IndexFunc(e.Current, func(b format.Belief) bool { return b.Key == in.key })
		if at < 0 {
			at = len(e.Current)
			e.Current = append(e.Current, format.Belief{Key: in.key})
		}
		b, err := o.compare(in, e.Current[at])
		if err != nil {
			return nil, err
		}
		e.Current[at] = b
	}
	if len(o.parts) == 0 {
		return &Outcome{Result: Unchanged, Found: o.done.Found}, nil
	}
	e.Current = order(e.Current, o.state.Current, set)
	if len(e.Current) > maxKeys {
		return nil, fmt.Errorf("%w: %d keys: %d are the most", ErrInput, len(e.Current), maxKeys)
	}
	o.done.Result = Updated
	return o.finish(e)
}

// compare returns what is believed of a key after an observation, and notes what has to be told for
// it.
func (o *observer) compare(in observation, old format.Belief) (format.Belief, error) {
	known := !old.Value.IsZero()
	switch {
	case in.unavailable, in.value == nil && !known:
		return old, nil
	case in.value == nil:
		text, err := o.goneText(in, old)
		if err != nil {
			return old, err
		}
		o.tell(text, in.key, format.ID{})
		return format.Belief{Key: in.key}, nil
	case !known || !o.state.knows(old):
		b, err := o.admit(in, old)
		if err == nil {
			o.parts = append(o.parts, *in.first)
		}
		return b, err
	case blobOf(in.value, format.MediaParts).ID() == old.Value:
		return old, nil
	case in.changed == nil:
		return old, missing(in.key, "changed", "the value is another one")
	}
	b, err := o.admit(in, old)
	if err == nil {
		o.parts = append(o.parts, *in.changed)
	}
	return b, err
}

func missing(key, kind, why string) error {
	return fmt.Errorf("%w: %s: no %s text: %s", ErrInput, key, kind, why)
}

// goneText is what says that a source has gone: what comes with the observation, else what was
// given with the value.
func (o *observer) goneText(in observation, old format.Belief) (string, error) {
	if in.gone != nil {
		return *in.gone, nil
	}
	if text, ok := o.state.Blobs[old.Gone]; ok && !old.Gone.IsZero() {
		return string(text), nil
	}
	return "", missing(in.key, "removed_text", "the source has gone, and none was given with its value")
}

// admit makes a belief of a value.
func (o *observer) admit(in observation, old format.Belief) (format.Belief, error) {
	if in.first == nil {
		return old, missing(in.key, "first", "the next initial block is made of it")
	}
	b := format.Belief{Key: in.key, Gone: old.Gone}
	b.Value = o.put(in.value, format.MediaParts)
	b.First = o.put([]byte(*in.first), format.MediaText)
	if in.gone != nil {
		b.Gone = o.put([]byte(*in.gone), format.MediaText)
	}
	o.done.Delta = append(o.done.Delta, Change{in.key, b.Value})
	return b, nil
}

func (o *observer) tell(text, key string, value format.ID) {
	o.parts = append(o.parts, text)
	o.done.Delta = append(o.done.Delta, Change{key, value})
}

// put has a blob put, and returns its id.
func (o *observer) put(b []byte, media string) format.ID {
	raw := blobOf(b, media)
	id := raw.ID()
	if !o.blobs[id] {
		o.blobs[id] = true
		o.done.Objects = append(o.done.Objects, raw)
	}
	return id
}

func blobOf(b []byte, media string) format.Raw {
	header, err := format.EncodeBlob(format.SumBody(b, media))
	if err != nil {
		panic(err) // its size is bounded and its media type ours
	}
	return format.Raw{Header: header, Body: b}
}

func (o *observer) finish(e *format.Epoch) (*Outcome, error) {
	o.done.Epoch, o.done.Text = e, strings.Join(o.parts, "\n\n")
	raw, err := Object(e, o.done.Text)
	if err != nil {
		return nil, err
	}
	o.done.Objects = append(o.done.Objects, raw)
	return &o.done, nil
}

// Object returns an epoch as an object. text is what was sent, of an update.
func Object(e *format.Epoch, text string) (format.Raw, error) {
	var raw format.Raw
	if e.Step == format.EpochUpdate {
		if text == "" {
			return raw, errors.New("an update without a text")
		}
		body := format.SumBody([]byte(text), format.MediaText)
		e.Body, raw.Body = &body, []byte(text)
	}
	header, err := e.Encode()
	raw.Header = header
	return raw, err
}

// order puts beliefs in the order of the sources. Those that were observed are among each other as
// they were observed; one that was not keeps its place behind what was before it; a new one comes
// after the one that was observed before it.
func order(list, before []format.Belief, set *Set) []format.Belief {
	place := map[string]int{}
	for i, in := range set.list {
		place[in.key] = i
	}
	of := map[string]format.Belief{}
	for _, b := range list {
		of[b.Key] = b
	}
	var slots, known []string // what was there, and what of it was observed, as it was observed
	for _, b := range before {
		slots = append(slots, b.Key)
		if _, ok := place[b.Key]; ok {
			known = append(known, b.Key)
		}
	}
	slices.SortFunc(known, func(a, b string) int { return place[a] - place[b] })
	for i, n := 0, 0; i < len(slots); i++ {
		if _, ok := place[slots[i]]; ok {
			slots[i] = known[n]
			n++
		}
	}
	last := ""
	for _, in := range set.list {
		if slices.Contains(slots, in.key) {
			last = in.key
			continue
		}
		at := slices.Index(slots, last) + 1
		if last == "" && len(known) > 0 {
			at = slices.Index(slots, known[0])
		} else if last == "" {
			at = len(slots)
		}
		slots = slices.Insert(slots, at, in.key)
		last = in.key
	}
	out := make([]format.Belief, 0, len(slots))
	for _, key := range slots {
		if b := of[key]; !b.Value.IsZero() || slices.ContainsFunc(before, func(b format.Belief) bool { return b.Key == key }) {
			out = append(out, b)
		}
	}
	return out
}
