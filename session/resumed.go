package session

import (
	"strings"

	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// resume finds the session that a transcript of Gemini CLI goes on with, by the id of its first message: Gemini CLI keeps the ids of messages that it is handed,
// and gives the session a new one. A transcript whose session is in the store is that session's.
func (im *importer) resume(m *geminicli.Message) error {
	view, err := im.Refs.Read()
	if err != nil || im.copies == nil || exists(view, m.Session) {
		return err
	}
	home, err := im.entryOf(view, "", m.Key)
	if err != nil || home.id.IsZero() {
		return err
	}
	im.out.Session, im.resumed = home.e.Session, true
	return nil
}

// copied reports whether a message is one of those that a resumed session began with. The first one that is not ends them.
func (im *importer) copied(m *geminicli.Message) (bool, error) {
	if !im.resumed {
		return false, nil
	}
	if m.Role == geminicli.RoleTool {
		im.order = append(im.order, m.Key)
		return true, nil // of a call that is a copy
	}
	view, err := im.Refs.Read()
	if err != nil {
		return false, err
	}
	at, err := im.entryOf(view, im.out.Session, m.Key)
	if err != nil || at.id.IsZero() {
		im.resumed = false
		return false, err
	}
	im.copies[m.Key] = at.id
	im.order = append(im.order, m.Key)
	im.out.Known++
	return true, nil
}

// entryOf returns the entry that a record of Gemini CLI is a copy of, of a session, or of any for ""; none where there is none.
func (im *importer) entryOf(view *refs.View, session, key string) (entryAt, error) {
	if !transcript.IsUUID(key) {
		return entryAt{}, nil // an id that another session may have as well
	}
	digits := strings.ReplaceAll(key, "-", "")
	if id, err := im.ResolveObject(view, digits[:geminicli.KnownDigits]); err == nil && geminicli.EntryID(id.String()) == key {
		e, err := im.entry(id)
		if err == nil && (session == "" || e.Session == session) && exists(view, e.Session) {
			return entryAt{id, e}, nil
		}
	}
	sessions := []string{session}
	if session == "" {
		sessions = sessionNames(view)
	}
	for _, name := range sessions {
		key, err := (&format.Source{Agent: geminicli.Agent, Session: name, Message: key, Digest: strings.Repeat("0", 16)}).Key()
		if err != nil {
			continue
		}
		ids, err := im.bySource(view, key)
		if err != nil {
			return entryAt{}, err
		}
		for _, id := range ids {
			e, err := im.entry(id)
			if err != nil {
				return entryAt{}, err
			}
			if e.Session == name && e.Amends.IsZero() {
				return entryAt{id, e}, nil
			}
		}
	}
	return entryAt{}, nil
}

// sessionNames are the sessions that have a branch main.
func sessionNames(view *refs.View) (list []string) {
	for _, name := range view.Names("sessions/") {
		if session, branch, ok := branchOfRef(name); ok && branch == MainBranch {
			list = append(list, session)
		}
	}
	return list
}
