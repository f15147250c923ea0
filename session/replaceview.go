package session

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/mask"
	"github.com/gemini-ctx/ctx/session/view"
)

// stretch is the end of a branch as it is shown, from before the oldest of some targets on.
type stretch struct {
	session, branch string
	edits           *edits
	list            []view.Message // oldest first
	at              map[format.ID]int
	ties            []int                   // groups of messages that call and answer each other
	open            []bool                  // messages that call what has not answered
	version         map[format.ID]format.ID // of messages that were amended
	through         uint64                  // of the branch: what comes before is shown by clusters
	seqs            map[format.ID]uint64    // of messages, replaced ones too
}

// stretchOf reads a branch back to before the oldest of targets.
func (s *Store) stretchOf(session, branch string, value format.Value, targets []format.Target) (*stretch, error) {
	st := &stretch{session: session, branch: branch, at: map[format.ID]int{}, version: map[format.ID]format.ID{}, seqs: map[format.ID]uint64{}, through: value.Through}
	wanted := map[format.ID]bool{}
	for _, t := range targets {
		wanted[t.Entry] = true
	}
	waiting := map[string]bool{} // calls whose results were met
	var controls, said []entryAt
	var failed error
	beyond, found := 0, 0
	err := s.backSides(value.ID, func(id format.ID, e *format.Entry, side bool) bool {
		if isEdit(e, side) {
			controls = append(controls, entryAt{id, e})
		}
		if e.Kind == format.KindReplace && !side && wanted[id] {
			// What it stands for is older, and so is its place.
			delete(wanted, id)
			failed = s.wantTargets(id, wanted)
		}
		if _, ok := st.version[e.Amends]; e.Kind == format.KindAmend && !ok {
			st.version[e.Amends] = id
		}
		if e.Kind == format.KindMessage {
			said = append(said, entryAt{id, e})
			if wanted[id] {
				found = len(said)
				delete(wanted, id)
			}
		}
		for _, r := range e.Results {
			waiting[r] = true
		}
		for _, c := range e.Calls {
			delete(waiting, c.ID)
		}
		if failed != nil || len(wanted) > 0 {
			return failed == nil
		}
		// A call lies before its result: as far as the next prompt, which no call goes across but one that has waited long.
		beyond++
		prompt := e.Kind == format.KindMessage && e.Role == "user" && len(e.Results) == 0
		return beyond < maxPairDistance && (len(waiting) > 0 || !prompt)
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	if len(wanted) > 0 {
		said = said[:min(len(said), found+maxPairDistance)] // what is not in the branch had it gone through to its beginning
	}
	slices.Reverse(controls)
	if st.edits, err = s.editsOf(controls); err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(said) {
		shown, err := s.Version(m.id, st.version[m.id])
		if err != nil {
			return nil, err
		}
		shown.Entry.Seq = m.e.Seq
		st.seqs[m.id] = m.e.Seq
		st.list = append(st.list, MessageOf(shown))
	}
	st.list = st.edits.edited(st.list)
	st.ties, st.open = view.Ties(st.list)
	for i, m := range st.list {
		st.at[m.ID] = i
	}
	return st, nil
}

// wantTargets adds what a replacement stands for.
func (s *Store) wantTargets(id format.ID, wanted map[format.ID]bool) error {
	r, err := s.replacementAt(id)
	if err != nil {
		return butGone(err) // what it stood for is not known any more
	}
	for _, t := range r.Targets {
		wanted[t.Entry] = true
	}
	return nil
}

// mark is that of a target that is shown.
func (st *stretch) mark(t format.Target) string {
	version, ok := st.version[t.Entry]
	if !ok {
		version = t.Entry
	}
	return targetMark(t, version, st.edits)
}

// missing says why a target that was claimed cannot be replaced as it was seen; "" where it can.
func (st *stretch) missing(c claimedTarget) string {
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
	case st.mark(c.Target) == c.mark:
		if _, err := st.input(c.Target); err != nil {
			return "cannot be replaced: " + err.Error() // nobody was given such a claim
		}
		return ""
	case st.version[c.Entry] != (format.ID{}):
		return "was amended, or is shown otherwise"
	}
	return "is shown otherwise"
}

// split returns the targets that would be parted from what they answer, or from their answers, if the entries among targets alone were replaced, and
// why.
func (st *stretch) split(targets []format.Target) (list []format.Target, why []string) {
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
			list, why = append(list, t), append(why, "calls a tool, or answers a call, and the other half stays")
		case st.open[i]:
			list, why = append(list, t), append(why, "calls a tool that has not answered yet")
		}
	}
	return list, why
}

// input is a target as it is shown, for whoever is to write a text for it.
func (st *stretch) input(t format.Target) (ReplaceInput, error) {
	m := st.list[st.at[t.Entry]]
	in := ReplaceInput{Target: t, Kind: "entry", Role: m.Role, Author: m.Author, Time: m.Time, Text: m.Text}
	if len(m.StandsFor) > 0 {
		in.Kind = "replacement"
	}
	if t.Part == format.WholeEntry {
		return in, nil
	}
	in.Kind = "part"
	if len(m.StandsFor) > 0 {
		return in, fmt.Errorf("%w: %v is a replacement, and has no parts", ErrInput, t.Entry)
	}
	if err := checkPart(t, m.Parts); err != nil || m.Parts == nil {
		return in, err
	}
	raw := mask.Split(m.Parts)[t.Part]
	kind, call, tool := mask.KindOf(raw)
	if kind == mask.Call {
		return in, fmt.Errorf("%w: %v is a call: a text in its place would part it from its result", ErrRefused, t)
	}
	in.Call, in.Tool = call, tool
	in.Text = Words([]byte("[" + string(raw) + "]"))
	return in, nil
}
