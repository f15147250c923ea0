package importer

import (
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// resumed says that a transcript goes on with a session of the store, under another name: some
// agents give a session that they are handed an id of their own, and keep the ids of its messages.
// The copies of these messages are not new.
type resumed struct {
	own   bool            // the agent's own messages may be copies: no new one has come
	calls map[string]bool // calls of the copies
	// The agent's sessions that the history of the session names; nil until needed
	sources []string
}

// resume finds the session that a transcript goes on with, by the id of its first message. A
// transcript whose session is in the store is that session's.
func (im *transcriptImporter) resume(st *transcript.Step) error {
	from := st.Message.Origin
	if !catalog.TraitsOf(from.Agent).Resumes {
		return nil
	}
	key := recordID(from)
	if transcript.IsEntryUUID(key) {
		if err := im.group.flush(); err != nil {
			return err // it may hold the entry
		}
	}
	view, err := im.refs()
	if err != nil || exists(view, im.out.Session) {
		return err
	}
	if !format.IsUUID(key) {
		return nil // another session may have such an id as well
	}
	home, err := im.homeOf(view, from.Agent, key)
	if err == nil && home != "" {
		im.out.Session, im.resumed = home, true
	}
	return err
}

// recordID returns the id of the record of a message, without a number that the reader added.
func recordID(from transcript.Origin) string {
	key, _, _ := strings.Cut(from.Message, "#")
	return key
}

// homeOf returns the session that has the message of a record: the one of which an export wrote it,
// or one of the agent's own; "" for none. An agent's id of a session that it was handed is as good
// as that of a record.
func (s *Reader) homeOf(view *refs.View, agent, key string) (string, error) {
	exported := transcript.IsEntryUUID(key)
	id, ok := format.ID{}, true
	if exported {
		id, ok = s.entryOf(view, key)
	}
	for _, name := range sessionNames(view) {
		if !ok || exported && !transcript.IsOf(key, id.String(), name) {
			continue
		}
		at := id
		if !exported {
			list, err := s.Imported(view, agent, name, key)
			if err != nil {
				return "", err
			}
			if len(list) == 0 {
				continue
			}
			at = list[0].ID
		}
		line := s.Lineage(view.Get(history.RefName(name, history.MainBranch)).ID)
		if in, err := line.Has(at); err != nil || in {
			return name, err
		}
	}
	return "", nil
}

// entryOf returns the entry whose first digits a record has in its id.
func (s *Reader) entryOf(view *refs.View, key string) (id format.ID, ok bool) {
	digits := strings.ReplaceAll(key, "-", "")[:transcript.EntryDigits]
	id, err := s.clusters.ResolveObject(view, digits)
	return id, err == nil
}

// isCopy reports whether a message is one that a resumed session was handed with, and notes its
// entry.
func (im *treeImporter) isCopy(m *transcript.Message) (bool, error) {
	r := im.resumed
	if r == nil {
		return false, nil
	}
	if m.Role == transcript.RoleTool {
		for _, id := range m.Results {
			if !r.calls[id] {
				return false, nil
			}
		}
		return len(m.Results) > 0, nil
	}
	id, err := im.copyOf(m.Origin)
	if err != nil || id.IsZero() {
		return false, err
	}
	im.ids[m.Origin] = id
	for _, c := range m.Calls {
		r.calls[c.ID] = true
	}
	im.out.Known++
	return true, nil
}

// copyOf returns the entry that a message is a copy of; the zero ID for none.
func (im *treeImporter) copyOf(from transcript.Origin) (format.ID, error) {
	r, key := im.resumed, recordID(from)
	exported := transcript.IsEntryUUID(key)
	if !exported && !r.own {
		return format.ID{}, nil
	}
	if err := im.look(); err != nil {
		return format.ID{}, err
	}
	if exported {
		id, ok := im.entryOf(im.view, key)
		if !ok || transcript.EntryUUID(id.String(), im.as) != key {
			return format.ID{}, nil
		}
		if in, err := im.line.Has(id); err != nil || !in {
			return format.ID{}, err
		}
		return id, nil
	}
	if err := im.nameSources(from.Agent); err != nil {
		return format.ID{}, err
	}
	for _, session := range r.sources {
		ids, err := im.sourced(&conversation.Source{Agent: from.Agent, Session: session,
			Message: key})
		if err != nil {
			return format.ID{}, err
		}
		if len(ids) > 0 {
			return ids[0], nil
		}
	}
	r.own = false
	return format.ID{}, nil
}

// nameSources notes which sessions of an agent the history of the session has messages of.
func (im *treeImporter) nameSources(agent string) error {
	if im.resumed.sources != nil {
		return nil
	}
	names := map[string]bool{}
	for e, err := range im.Walk(im.before, history.WithRewound) {
		if err != nil {
			return err
		}
		if e.Source != nil && e.Source.Agent == agent {
			names[e.Source.Session] = true
		}
	}
	im.resumed.sources = slices.AppendSeq([]string{}, maps.Keys(names))
	return nil
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
