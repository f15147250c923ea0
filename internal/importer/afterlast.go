package importer

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// afterLast notes what an agent has written after the last message of the main conversation: no
// message may ever follow that would keep it.
func (im *transcriptImporter) afterLast(stats *transcript.Stats) error {
	after := stats.After
	stats.After = nil
	if len(after) == 0 {
		return nil
	}
	last := im.last.Message.Origin
	tip, err := im.tipOf(stats)
	if err != nil {
		return err
	}
	if last.Message == "" { // nothing was said since the last reading
		if last, err = im.lastOrigin(tip); err != nil || last.Message == "" {
			return err
		}
	}
	note := func(kind, name string, records []json.RawMessage) error {
		st := im.last
		st.Kind, st.Session, st.Home, st.Loose = transcript.KindMessage, stats.Session, stats.Home,
			true
		st.Message = transcript.Message{
			Origin: transcript.Origin{Agent: last.Agent, Session: last.Session,
				Message: transcript.BesideID + kind + ":" + name},
			Note: true, Role: transcript.RoleSystem, Time: im.now,
			Parts: jsonvalue.Array([]json.RawMessage{transcript.Kept(last.Agent,
				jsonvalue.Object{transcript.BeforeName: jsonvalue.Array(records)})}),
		}
		return im.step(st)
	}
	if call, records := lastSpent(last.Agent, after); call != "" {
		if err := note("spent", transcript.Derive(16, call), records); err != nil {
			return err
		}
	}
	return im.lastTitle(tip, last, after, note)
}

// lastSpent returns the first record of each call that some records tell the tokens of, and the
// name of the last of these calls. An answer that was the last one has them behind it for good.
func lastSpent(agent string, after []json.RawMessage) (call string, records []json.RawMessage) {
	read := catalog.SpentOf(agent)
	if read == nil {
		return "", nil
	}
	for _, raw := range after {
		list := read(jsonvalue.NewObject(transcript.BeforeName, []json.RawMessage{raw}))
		if len(list) == 0 || list[0].Call == call || list[0].Input+list[0].CacheRead+
			list[0].CacheWrite+list[0].CacheHour+list[0].Output == 0 {
			continue
		}
		call, records = list[0].Call, append(records, raw)
	}
	return call, records
}

// lastTitle notes the title that some records after the last message tell. A title that is the
// session's already is not noted again.
func (im *transcriptImporter) lastTitle(
	tip format.ID, last transcript.Origin, after []json.RawMessage,
	note func(kind, name string, records []json.RawMessage) error,
) error {
	after = slices.DeleteFunc(after, func(raw json.RawMessage) bool {
		return transcript.SessionSaidAfter(last.Agent, []json.RawMessage{raw}) ==
			(transcript.SessionSaid{})
	})
	said := transcript.SessionSaidAfter(last.Agent, after)
	if said.Name == "" && said.Title == "" || tells(im.said, said) {
		return nil
	}
	if im.said.Name == "" && im.said.Title == "" {
		was, err := im.titleAt(tip, said)
		if err != nil || tells(was, said) {
			return err
		}
	}
	return note("title", transcript.Derive(16, said.Name, said.Title, last.Message), after)
}

// tells reports whether was has all that said has.
func tells(was, said transcript.SessionSaid) bool {
	return (said.Name == "" || was.Name == said.Name) &&
		(said.Title == "" || was.Title == said.Title)
}

// tipOf returns the tip of the session of a transcript in the store; zero for none.
func (im *transcriptImporter) tipOf(stats *transcript.Stats) (format.ID, error) {
	name := im.out.Session
	if name == "" {
		name = im.nameOf(stats.Session, stats.Home, transcript.Origin{})
	}
	view, err := im.refs()
	if err != nil || name == "" {
		return format.ID{}, err
	}
	return view.Get(history.RefName(name, history.MainBranch)).ID, nil
}

// lastOrigin returns the source of the newest message of a history that an agent wrote.
func (im *transcriptImporter) lastOrigin(tip format.ID) (o transcript.Origin, err error) {
	if tip.IsZero() {
		return o, nil
	}
	for e, err := range im.Walk(tip, history.WithJoined) {
		if err != nil {
			return o, err
		}
		if s := e.Source; s != nil && s.Agent != transcript.Own && !transcript.IsBeside(s.Message) {
			return transcript.Origin{Agent: s.Agent, Session: s.Session, Message: s.Message}, nil
		}
	}
	return o, nil
}

// titleAt returns the newest titles of a history, of the kinds that said has.
func (im *transcriptImporter) titleAt(
	tip format.ID, said transcript.SessionSaid,
) (was transcript.SessionSaid, err error) {
	if tip.IsZero() {
		return was, nil
	}
	for e, err := range im.Walk(tip, history.WithJoined) {
		if err != nil {
			return was, err
		}
		if e.Source == nil || e.Body == nil || e.Body.Media != format.MediaParts {
			continue
		}
		shown, err := im.Parts(e.ID)
		if err != nil {
			return was, err
		}
		was.Older(transcript.SessionSaidOf(e.Source.Agent, shown.Parts, false))
		if (said.Name == "" || was.Name != "") && (said.Title == "" || was.Title != "") {
			break
		}
	}
	return was, nil
}
