package session

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// amendsAgain copies amends that a transcript's rewind would take away onto the entry onto, which stands after seq
// messages. left are the entries that leave the branch, newest first; stays reports whether a message stays. Only
// amends of the agent's own messages that stay are copied, of each message the newest one: the transcript has gone
// back, and still says of these messages what it said last. It returns the copies, oldest first; the last one is the
// new tip. A rewind by hand is another matter: it restores what was said then.
func (t *tx) amendsAgain(left []entryAt, onto format.ID, seq uint64, agent string, stays func(format.ID) bool) ([]entryAt, error) {
	var amends []entryAt
	for _, at := range left {
		e := at.e
		if e.Kind != format.KindAmend || e.Source == nil || e.Source.Agent != agent || !stays(e.Amends) {
			continue
		}
		if !slices.ContainsFunc(amends, func(newer entryAt) bool { return newer.e.Amends == e.Amends }) {
			amends = append(amends, at)
		}
	}
	if len(amends) == 0 {
		return nil, nil
	}
	if err := t.flush(); err != nil { // what is copied may be of this operation
		return nil, err
	}
	var copies []entryAt
	for _, at := range slices.Backward(amends) {
		_, text, err := t.text(at.id)
		if err != nil {
			if err = butGone(err); err != nil {
				return nil, err
			}
			continue // its words were forgotten
		}
		e := *at.e
		e.Parents, e.Seq = []format.ID{onto}, seq
		raw, err := t.seal(text, e.Body.Media, func(b format.Body) ([]byte, error) {
			e.Body = &b
			return e.Encode()
		})
		if err != nil {
			return nil, err
		}
		onto = t.add(raw)
		copies = append(copies, entryAt{onto, &e})
	}
	return copies, nil
}
