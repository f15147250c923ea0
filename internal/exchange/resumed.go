package exchange

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// resume finds the session that a transcript goes on with, by the id of its first message: some
// agents keep the ids of messages that they are handed, and give the session a new id. A transcript
// whose session is in the store is that session's.
func (im *transcriptImporter) resume(st *transcript.Step) error {
	from := st.Message.Origin
	if !catalog.TraitsOf(from.Agent).Resumes {
		return nil
	}
	if key, _, _ := strings.Cut(from.Message, "#"); transcript.IsEntryUUID(key) {
		if err := im.group.flush(); err != nil {
			return err // it may hold the entry
		}
	}
	view, err := im.refs()
	if err != nil || exists(view, im.out.Session) {
		return err
	}
	home, err := im.entryOf(view, "", from)
	if err != nil || home.ID.IsZero() {
		return err
	}
	im.out.Session, im.resumed = home.Session, true
	return nil
}

// isResumed reports whether a message is one of those that a resumed session began with. The first
// other message ends them.
func (im *messageImporter) isResumed(from transcript.Origin, role string) (bool, error) {
	if !im.resumed {
		return false, nil
	}
	view, err := im.Refs.Read()
	if err != nil {
		return false, err
	}
	at, err := im.entryOf(view, im.as, from)
	if err != nil {
		return false, err
	}
	if !at.ID.IsZero() {
		im.ids[from] = at.ID
	}
	if role == transcript.RoleTool {
		return true, nil // the result of a call that is a copy
	}
	im.resumed = !at.ID.IsZero()
	if im.resumed {
		im.began++
		im.out.Known++
	}
	return im.resumed, nil
}

// entryOf returns the entry that a record is a copy of: in one session, or, for "", in any. It is
// zero if there is none.
func (s *Reader) entryOf(
	view *refs.View, session string, from transcript.Origin,
) (history.Entry, error) {
	key, _, _ := strings.Cut(from.Message, "#") // a number that the reader added
	if transcript.IsUUID(key) {
		digits := strings.ReplaceAll(key, "-", "")[:transcript.EntryDigits]
		if id, err := s.clusters.ResolveObject(view, digits); err == nil &&
			transcript.EntryUUID(id.String()) == key {
			e, err := s.Header(id)
			if err == nil && (session == "" || e.Session == session) && exists(view, e.Session) {
				return history.Entry{ID: id, Entry: e}, nil
			}
		}
	} else if session == "" {
		return history.Entry{}, nil // another session may have such an id as well
	}
	sessions := []string{session}
	if session == "" {
		sessions = sessionNames(view)
	}
	for _, name := range sessions {
		found, err := s.imported(view, from.Agent, name, key)
		if err != nil {
			return history.Entry{}, err
		}
		for _, at := range found {
			if at.Session == name && at.Amends.IsZero() {
				return at, nil
			}
		}
	}
	return history.Entry{}, nil
}

// sessionNames are the sessions that have a branch main.
func sessionNames(view *refs.View) (list []string) {
	for _, name := range view.Names("sessions/") {
		if session, branch, ok := history.BranchOfRef(name); ok && branch == history.MainBranch {
			list = append(list, session)
		}
	}
	return list
}
