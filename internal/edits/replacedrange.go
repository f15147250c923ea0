package edits

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

// replacedRange is the end of a branch as it is shown, from before the oldest of some targets on.
type replacedRange struct {
	session, branch string
	edits           *Edits
	list            []view.Message // oldest first
	at              map[format.ID]int
	// Groups of messages that call and answer each other
	ties   []int
	open   []bool                      // messages that call what has not answered
	latest map[format.ID]history.Entry // of an amended message, the latest amend
	// Of the branch: what comes before is shown by clusters
	through uint64
	seqs    map[format.ID]uint64 // of messages, replaced ones too
}

// rangeOf reads a branch back to before the oldest of targets.
func (s *Reader) rangeOf(
	session, branch string, value format.Value, targets []format.Target,
) (*replacedRange, error) {
	st := &replacedRange{session: session, branch: branch, at: map[format.ID]int{},
		seqs: map[format.ID]uint64{}, through: value.Through}
	wanted := map[format.ID]bool{}
	for _, t := range targets {
		wanted[t.Entry] = true
	}
	waiting := map[string]bool{} // calls whose results were met
	var l line
	beyond, found := 0, 0
	for e, err := range s.Walk(value.ID, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		l.add(e)
		if e.Kind == format.KindReplace && !e.Joined && wanted[e.ID] {
			// What it stands for is older, and so is its place.
			delete(wanted, e.ID)
			if err := s.wantTargets(e.ID, wanted); err != nil {
				return nil, err
			}
		}
		if e.Kind == format.KindMessage && wanted[e.ID] {
			found = len(l.messages)
			delete(wanted, e.ID)
		}
		for _, r := range e.Results {
			waiting[r] = true
		}
		for _, c := range e.Calls {
			delete(waiting, c.ID)
		}
		if len(wanted) > 0 {
			continue
		}
		// A call comes before its result, and after the prompt unless the call has waited long.
		beyond++
		prompt := e.Kind == format.KindMessage && e.Role == "user" && len(e.Results) == 0
		if beyond == history.MaxPairDistance || len(waiting) == 0 && prompt {
			break
		}
	}
	if len(wanted) > 0 {
		// The branch lacks a target, so that it was read to its beginning.
		l.messages = l.messages[:min(len(l.messages), found+history.MaxPairDistance)]
	}
	var err error
	if st.edits, err = s.editsOn(&l); err != nil {
		return nil, err
	}
	st.latest = l.latest
	for _, m := range slices.Backward(l.messages) {
		shown, err := s.Version(m.ID, st.latest[m.ID].ID)
		if err != nil {
			return nil, err
		}
		shown.Entry.Seq = m.Seq
		st.seqs[m.ID] = m.Seq
		st.list = append(st.list, MessageOf(shown))
	}
	st.list = st.edits.edited(st.list)
	st.ties, st.open = view.CallGroups(st.list)
	for i, m := range st.list {
		st.at[m.ID] = i
	}
	return st, nil
}

// wantTargets adds what a replacement stands for to wanted.
func (s *Reader) wantTargets(id format.ID, wanted map[format.ID]bool) error {
	r, err := s.ReplacementAt(id)
	if err != nil {
		return history.ButGone(err) // what it stood for is not known any more
	}
	for _, t := range r.Targets {
		wanted[t.Entry] = true
	}
	return nil
}

// mark returns the mark of a target that is shown.
func (st *replacedRange) mark(t format.Target) string {
	version := t.Entry
	if v, ok := st.latest[t.Entry]; ok {
		version = v.ID
	}
	return targetMark(t, version, st.edits)
}

// missing says why a claimed target cannot be replaced as it was seen; "" if it can.
func (st *replacedRange) missing(c summaries.Target) string {
	i, ok := st.at[c.Entry]
	if !ok {
		if r := st.edits.hides(c.Entry); r != nil {
			return fmt.Sprintf("was replaced by %v", r.id)
		}
		if slices.ContainsFunc(st.edits.void, func(r replaced) bool { return r.id == c.Entry }) {
			return "holds no more, since what it stood for was amended"
		}
		return fmt.Sprintf("is not in %s/%s", st.session, st.branch)
	}
	switch m := st.list[i]; {
	case m.Gone:
		return "was forgotten"
	case st.mark(c.Target) == c.Mark:
		if _, err := st.input(c.Target); err != nil {
			return "cannot be replaced: " + err.Error() // nobody was given such a claim
		}
		return ""
	case st.latest[c.Entry].Entry != nil:
		return "was amended, or is shown otherwise"
	}
	return "is shown otherwise"
}

// split returns those of targets that would be parted from their calls or results if the whole
// entries among targets were replaced, and why.
func (st *replacedRange) split(targets []format.Target) (list []format.Target, why []string) {
	in := make([]bool, len(st.list))
	for _, t := range targets {
		if t.Part == format.WholeEntry {
			in[st.at[t.Entry]] = true
		}
	}
	whole := map[int]bool{} // groups, true where every message of it is in
	for i, tie := range st.ties {
		if _, ok := whole[tie]; !ok {
			whole[tie] = true
		}
		whole[tie] = whole[tie] && in[i]
	}
	for _, t := range targets {
		if t.Part != format.WholeEntry {
			continue
		}
		i := st.at[t.Entry]
		switch {
		case !whole[st.ties[i]]:
			list, why = append(list, t),
				append(why, "calls a tool, or answers a call, and the other half stays")
		case st.open[i]:
			list, why = append(list, t), append(why, "calls a tool that has not answered yet")
		}
	}
	return list, why
}

// input returns a target as it is shown, for the writer of its text.
func (st *replacedRange) input(t format.Target) (ReplaceInput, error) {
	m := st.list[st.at[t.Entry]]
	in := ReplaceInput{Target: t, Kind: "entry", Role: m.Role, Author: m.Author,
		Time: m.Time, Text: m.Text}
	if len(m.StandsFor) > 0 {
		in.Kind = "replacement"
	}
	if t.Part == format.WholeEntry {
		return in, nil
	}
	in.Kind = "part"
	if len(m.StandsFor) > 0 {
		return in,
			fmt.Errorf("%w: %v is a replacement, and has no parts", history.ErrInput, t.Entry)
	}
	if err := checkPart(t, m.Parts); err != nil || m.Parts == nil {
		return in, err
	}
	raw := mask.Split(m.Parts)[t.Part]
	kind, call, tool := mask.KindOf(raw)
	if kind == mask.Call {
		return in, fmt.Errorf("%w: %v is a call: a text in its place would part it from its result",
			history.ErrRefused, t)
	}
	in.Call, in.Tool = call, tool
	in.Text = history.Words([]byte("[" + string(raw) + "]"))
	return in, nil
}

// targetMark returns the mark of a message, or of a part of it, as it is shown: "" if it is shown
// in its first version.
func targetMark(t format.Target, version format.ID, es *Edits) string {
	var mark summaries.Marker
	if version != t.Entry {
		mark.Add("version %v", version)
	}
	short := es.Masks[t.Entry]
	for _, part := range slices.Sorted(maps.Keys(short)) {
		if t.Part == format.WholeEntry || t.Part == part {
			mark.Add("mask %d %x", part, sha256.Sum256([]byte(short[part])))
		}
	}
	for _, r := range es.list {
		for _, have := range r.Targets {
			if have.Entry == t.Entry && have.Part != format.WholeEntry &&
				(t.Part == format.WholeEntry || t.Part == have.Part) {
				mark.Add("replaced %d %v", have.Part, r.id)
			}
		}
	}
	return mark.String()
}
