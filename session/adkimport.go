package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/agent/adk"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// ImportedADK is what ImportADK reports.
type ImportedADK struct {
	Tally
	Session string
	Stats   adk.Stats
	State   int // keys of the session's state that have another value since
}

// importBytes is how much an import holds in memory before it records it.
const importBytes = 8 << 20

// ImportADK brings a session of ADK into the session named as, or where as is "" the one of its own id. It can be run again on the same events, or on
// more of them: what is known is not added again. What an export of this store has wrought comes back as what it was.
func (s *Store) ImportADK(ctx context.Context, r io.Reader, as string, unit adk.Unit) (ImportedADK, error) {
	im := &messageImporter{Store: s, ctx: ctx, as: as, ids: map[transcript.Origin]format.ID{}}
	stats, err := adk.Read(r, adk.ReadOptions{Unit: unit, Session: as}, im.step)
	if err == nil {
		err = im.flush()
	}
	im.out.Stats = stats
	if im.out.Session == "" {
		im.out.Session = stats.Session
	}
	if o := &im.out; err == nil && o.Messages+o.Notes+o.Amended > 0 {
		err = im.takeState(stats)
	}
	if errors.Is(err, adk.ErrForm) {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	return im.out, err
}

// takeState sets the state that a session of ADK has. It is called when something of the session is new: a state that was set here since is not taken back by
// the same events.
func (im *messageImporter) takeState(stats adk.Stats) error {
	names := adkNames(im.out.Session, stats.App, stats.User)
	var changes []StateChange
	for _, k := range stats.State {
		c := StateChange{StateValue: StateValue{k.Key, k.Value}}
		key := k.Key
		_, err := names.refOf(&key)
		if err == nil {
			_, err = c.clean()
		}
		if err != nil || len(k.Value) > MaxStateValue {
			stats.Skipped["state"]++
			continue
		}
		changes = append(changes, StateChange{StateValue: StateValue{k.Key, k.Value}})
	}
	if len(changes) == 0 {
		return nil
	}
	done, err := im.SetState(im.ctx, names, changes)
	im.out.State = done.Set
	im.out.Redacted = addFindings(im.out.Redacted, done.Found)
	return err
}

// adkNames are the session, app and user of a session of ADK.
func adkNames(session, app, user string) StateNames {
	n := StateNames{Session: session, App: app, User: user}
	if format.CheckName(n.App) != nil {
		n.App = adk.DefaultApp
	}
	if format.CheckName(n.User) != nil {
		n.User = adk.DefaultUser
	}
	return n
}

// adkState is the state of a session as ADK has it: an object; nil for none.
func (s *Store) adkState(v *refs.View, session string, o *ADKOptions) ([]byte, error) {
	app, user := adk.Owner(o.Kept)
	if o.App != "" {
		app = o.App
	}
	if o.User != "" {
		user = o.User
	}
	list, err := s.State(v, adkNames(session, app, user))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return EncodeState(list)
}
