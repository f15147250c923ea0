package importer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// This file finds what the store has of a message already.

// tookNote reports whether the session has taken the note of a source at some time. An agent that
// hands over what is new repeats the note of the session's title each time; it stands at the
// beginning, far from all else that is looked for.
func (im *treeImporter) tookNote(src *conversation.Source) (bool, error) {
	found, err := im.Imported(im.view, src.Agent, src.Session, src.Message)
	if err != nil ||
		!slices.ContainsFunc(found, func(e history.Entry) bool { return e.Session == im.as }) {
		return false, err
	}
	im.out.Known++
	return true, nil
}

// holds reports whether an entry is a message of this role and content. A forgotten entry is any.
func (im *treeImporter) holds(
	shown *history.Shown, role string, fresh *transcript.Message,
) (bool, error) {
	switch {
	case shown.Gone != "":
		return true, nil
	case shown.Entry.Role != role:
		return false, nil
	}
	return im.says(shown, fresh)
}

// says reports whether a message has the content of an entry, masked or not. The export may be
// older than the end of a mask, so the content that a mask would show counts as well. Fork branches
// that an export adds do not count.
func (im *treeImporter) says(shown *history.Shown, fresh *transcript.Message) (bool, error) {
	alone := adk.WithoutBranch(fresh)
	same := func(version *history.Shown) bool {
		old := exporter.MessageOf(version)
		said := adk.Normal(&old)
		return bytes.Equal(said, adk.Normal(fresh)) || bytes.Equal(said, adk.Normal(&alone))
	}
	if same(shown) || isRedacted(shown, fresh) {
		return true, nil // without a look for masks, which reads the whole session
	}
	held, err := im.edited()
	if err != nil {
		return false, err
	}
	versions := []*history.Shown{held.MaskedShown(shown)}
	if mask.Tagged(fresh.Text) || mask.Tagged(string(fresh.Parts)) {
		versions = append(versions, im.shortenedAs(shown, fresh))
	}
	return slices.ContainsFunc(versions, same), nil
}

// redaction is what Entire, and others that keep copies, write where they took a text out.
const redaction = "REDACTED"

// isRedacted reports whether a message has the redaction for words of an entry, and the others.
func isRedacted(shown *history.Shown, fresh *transcript.Message) bool {
	was := exporter.MessageOf(shown)
	was.Role = fresh.Role
	pieces := strings.Split(wordsOf(fresh), redaction)
	last := len(pieces) - 1
	if last == 0 {
		return false
	}
	said, begins := strings.CutPrefix(wordsOf(&was), pieces[0])
	said, ends := strings.CutSuffix(said, pieces[last])
	for _, piece := range pieces[1:last] {
		var found bool
		if _, said, found = strings.Cut(said, piece); !found {
			return false
		}
	}
	return begins && ends
}

// shortenedAs returns an entry with those outputs shortened that fresh shows shortened.
func (im *treeImporter) shortenedAs(
	shown *history.Shown, fresh *transcript.Message,
) *history.Shown {
	raws := mask.Split(fresh.Parts)
	return im.edits.Shortened(shown, im.toolsOf(shown.Entry), func(part int) bool {
		return fresh.Parts == nil || part < len(raws) && mask.Tagged(string(raws[part]))
	})
}

// toolsOf returns the tools of the calls that an entry answers, by call id, if the branch's history
// has the calls.
func (im *treeImporter) toolsOf(e *format.Entry) map[string]string {
	tools := map[string]string{}
	at := history.FirstParent(e)
	for range history.MaxPairDistance {
		if at.IsZero() || len(tools) == len(e.Results) {
			break
		}
		before, err := im.Header(at)
		if err != nil {
			break // an unknown call's output is shortened like any other
		}
		for _, c := range before.Calls {
			if _, known := tools[c.ID]; !known && slices.Contains(e.Results, c.ID) {
				tools[c.ID] = c.Tool
			}
		}
		at = history.FirstParent(before)
	}
	return tools
}

// look refreshes the view of the store.
func (im *treeImporter) look() (err error) {
	if im.view != nil {
		return nil
	}
	if im.view, err = im.refs(); err != nil || im.line != nil {
		return err
	}
	im.before = im.view.Get(history.RefName(im.as, im.branch)).ID
	im.line = im.Lineage(im.before)
	return nil
}

// edited returns the masks of the history before the import. To find them reads all of that
// history, so they are looked for when a message is there already.
func (im *treeImporter) edited() (held *edits.Edits, err error) {
	if im.changes == nil {
		im.changes, err = im.edits.EditsAt(im.before)
	}
	return im.changes, err
}

// find returns the first entry of a message in the session; the zero ID if there is none.
func (im *treeImporter) find(src *conversation.Source, o transcript.Origin) (format.ID, error) {
	if o.Agent == transcript.Own {
		if id, err := format.ParseID(o.Message); err == nil {
			if in, err := im.line.Has(id); err != nil || in {
				return id, err
			}
		}
	} // it may have come from another store
	ids, err := im.sourced(src)
	if err != nil || len(ids) == 0 {
		return format.ID{}, err
	}
	return ids[0], nil
}

// sourced returns the entries of a source in the session, rewound ones included, first versions
// only.
func (im *treeImporter) sourced(src *conversation.Source) (list []format.ID, err error) {
	found, err := im.Imported(im.view, src.Agent, src.Session, src.Message)
	for _, at := range found {
		in, err := im.line.Has(at.ID)
		if err != nil {
			return nil, err
		}
		if in && at.Amends.IsZero() {
			list = append(list, at.ID)
		}
	}
	return list, err
}

// HasMessage reports whether the main branch of an agent's session has an entry that was imported
// from a message, or had it before a rewind.
func (s *Reader) HasMessage(session, agent, message string) (bool, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return false, err
	}
	return s.has(view, history.FitSession(session), transcript.Origin{Agent: agent,
		Session: transcript.Fit(session), Message: transcript.Fit(message)})
}

// holder returns the session that has a message, the one with a name before others; "" for none.
func (s *Reader) holder(view *refs.View, name string, o transcript.Origin) (string, error) {
	found, err := s.CopiesOf(view, o.Agent, o.Session, o.Message)
	if err != nil {
		return "", err
	}
	list := []string{name}
	for _, e := range found {
		list = append(list, e.Session)
	}
	for _, session := range list {
		if in, err := s.has(view, session, o); err != nil {
			return "", err
		} else if in {
			return session, nil
		}
	}
	return "", nil
}

// has reports whether the main branch of a session has an entry that was imported from a message or
// is the message, or had it before a rewind.
func (s *Reader) has(view *refs.View, session string, o transcript.Origin) (bool, error) {
	found, err := s.CopiesOf(view, o.Agent, o.Session, o.Message)
	if err != nil {
		return false, err
	}
	if id, err := format.ParseID(o.Message); err == nil && o.Agent == transcript.Own {
		found = append(found, history.Entry{ID: id})
	}
	line := s.Lineage(view.Get(history.RefName(session, history.MainBranch)).ID)
	for _, e := range found {
		if in, err := line.Has(e.ID); in || err != nil {
			return in, err
		}
	}
	return false, nil
}
