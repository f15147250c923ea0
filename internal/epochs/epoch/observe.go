package epoch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// State is the epoch in force with those of its blobs that can be read. It is nil for a branch
// that has no epoch, or whose epoch was lost.
type State struct {
	*format.Epoch
	Blobs map[format.ID][]byte
}

// usable reports whether updates can follow this epoch: its initial block can be read. The next
// observation replaces a lost belief, but nothing replaces a lost block: such an epoch counts as
// missing.
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

// knows reports whether a belief can be compared with a value. It cannot if its value is not
// canonical JSON any more, or if its texts are gone.
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
	Unchanged = "unchanged" // there is nothing to send
	Updated   = "updated"   // Text is the update to send
)

// Outcome is the result of an observation.
type Outcome struct {
	Result string
	Epoch  *format.Epoch // the next epoch; nil if Result is Unchanged
	Delta  []Change      // the keys whose values changed, in the order of the sources
	Text   string        // unwrapped
	// Objects are the blobs that this epoch is the first to name, and then the epoch itself.
	Objects []format.Raw
	Found   int // how many keys were observed
}

// Change is a key and the blob of its new value; the blob is zero if the key was removed.
type Change struct {
	Key   string
	Value format.ID
}

// BlockedError says that a branch cannot begin its first epoch, because sources cannot be read.
type BlockedError struct{ Keys []string }

func (e *BlockedError) Error() string { return "no value yet of " + strings.Join(e.Keys, ", ") }

// Observe compares observations with what the model was last told. The first observation of a
// branch takes every value; it fails with a *BlockedError if a source cannot be read. Later
// observations keep the belief about such a source. They also keep the belief about a key that set
// does not mention: a source that is gone must be marked as removed. The error wraps ErrInput if a
// text that must be sent is missing.
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
	e := &format.Epoch{Step: format.EpochUpdate, Initial: o.state.Initial,
		Current: slices.Clone(o.state.Current)}
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

// compare returns the belief about a key after an observation, and adds the text that must be sent.
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

// goneText returns the text for a removed source: the one that comes with the observation, else the
// one that came with the value.
func (o *observer) goneText(in observation, old format.Belief) (string, error) {
	if in.gone != nil {
		return *in.gone, nil
	}
	if text, ok := o.state.Blobs[old.Gone]; ok && !old.Gone.IsZero() {
		return string(text), nil
	}
	return "",
		missing(in.key, "removed_text", "the source has gone, and none was given with its value")
}

// admit returns the belief in an observed value.
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

// put adds a blob to the objects of the outcome, and returns its id.
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
		panic(err) // the size is bounded, and the media type is one of this package
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

// Object returns an epoch as an object. text is the text of an update as it was sent.
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

// order sorts beliefs into the order of the sources. Observed keys take the order of the
// observation. A key that was not observed stays behind the key that it followed before. A new key
// follows the key that was observed before it.
func order(list, before []format.Belief, set *Set) []format.Belief {
	place := map[string]int{}
	for i, in := range set.list {
		place[in.key] = i
	}
	of := map[string]format.Belief{}
	for _, b := range list {
		of[b.Key] = b
	}
	var slots, known []string // the keys before; of these the observed ones, in the observed order
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
		if b := of[key]; !b.Value.IsZero() ||
			slices.ContainsFunc(before, func(b format.Belief) bool { return b.Key == key }) {
			out = append(out, b)
		}
	}
	return out
}

// Fold returns the epoch that follows when a branch adopts a forest. Its initial block states the
// current beliefs, in the texts that came with their values; removed keys are dropped. Fold
// observes nothing. It returns nil if there was no update since the block: the epoch then stays in
// force.
func Fold(e *format.Epoch) *format.Epoch {
	if e.Step == format.EpochInitial || e.Step == format.EpochFold {
		return nil
	}
	return restate(e, format.EpochFold)
}

// Fork returns the epoch of a branch that starts in the past of another branch, whose newest epoch
// is e. The new branch gets a block of its own with the current beliefs, because the beliefs at its
// starting point are out of date.
func Fork(e *format.Epoch) *format.Epoch { return restate(e, format.EpochFork) }

func restate(e *format.Epoch, step string) *format.Epoch {
	next := &format.Epoch{Step: step}
	for _, b := range e.Current {
		if b.Value.IsZero() {
			continue
		}
		next.Current = append(next.Current, b)
		next.Initial = append(next.Initial, format.Told{Key: b.Key, Value: b.Value, Text: b.First})
	}
	return next
}

// Starts reports whether the block of an epoch replaces all earlier updates, so that they are not
// shown any more. Updates before a fork are shown as they were sent.
func Starts(e *format.Epoch) bool {
	return e.Step == format.EpochInitial || e.Step == format.EpochFold
}

// Diff returns the keys whose values an update changed, in the order of the sources. A value that
// was sent again because it was lost is no change.
func Diff(before, after []format.Belief) []Change {
	old := map[string]format.ID{}
	for _, b := range before {
		old[b.Key] = b.Value
	}
	var list []Change
	for _, b := range after {
		if was, ok := old[b.Key]; !ok || was != b.Value {
			list = append(list, Change{b.Key, b.Value})
		}
	}
	return list
}

// Wrap puts an update between the tags that mark it for a model. The text cannot close the tags,
// because Wrap writes & as &amp;, < as &lt; and > as &gt;. The store keeps the text without tags.
func Wrap(text string) string {
	for _, c := range [][2]string{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}} {
		text = strings.ReplaceAll(text, c[0], c[1])
	}
	return "<system-update>\n" + text + "\n</system-update>"
}
