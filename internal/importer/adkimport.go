package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/sanitize"
)

// ImportedADK reports an ImportADK.
type ImportedADK struct {
	Tally
	Session string
	Stats   adk.Stats
	State   int // keys of the session's state with a new value
	// Other sessions with something new: those of isolation scopes
	Changed []string
}

// ImportADK imports a session of ADK into the session as, or, if as is "", into the session of its
// own id. The same events, or more of them, can be imported again: known messages are not added
// twice. The export of a store comes back as the messages that were exported. What was said in a
// branch of ADK is a child of a fork until the session goes on outside of branches. An isolation
// scope has a session of its own.
func (s *Writer) ImportADK(
	ctx context.Context, r io.Reader, as string, unit adk.Unit,
) (ImportedADK, error) {
	a := &adkImporter{importer: &importer{Writer: s, ctx: ctx}, lanes: map[string]*adkLane{}}
	a.main = a.lane(as, history.MainBranch, "", nil)
	var secrets conversation.Printed
	stats, err := adk.Read(r, adk.ReadOptions{Unit: unit, Session: as},
		func(st transcript.Step) error {
			see(&secrets, &st.Message)
			return a.step(st)
		})
	if err == nil {
		err = a.end()
	}
	im := a.main
	im.as = cmp.Or(im.as, stats.Session)
	done := ImportedADK{Session: im.as, Stats: stats}
	for _, lane := range a.order {
		if o := lane.out; o.Messages+o.Notes+o.Amended+o.Rewinds > 0 && lane.as != im.as {
			done.Changed = append(done.Changed, lane.as)
		}
		done.sum(lane.out)
	}
	if o := &done; err == nil && o.Messages+o.Notes+o.Amended > 0 {
		var found []sanitize.Finding
		done.State, found, err = im.takeState(stats)
		done.Redacted = sanitize.AddFindings(done.Redacted, found)
	}
	if errors.Is(err, adk.ErrForm) {
		err = fmt.Errorf("%w: %w", history.ErrInput, err)
	}
	return done, err
}

// takeState stores the state of a session of ADK, and returns the number of new values. An import
// calls it only if it added something, so the same events never overwrite a value that was set here
// since.
func (im *treeImporter) takeState(
	stats adk.Stats,
) (set int, found []sanitize.Finding, err error) {
	names := exporter.StateNames(im.as, stats.App, stats.User)
	var changes []state.Change
	for _, k := range stats.State {
		c := state.Change{Pair: state.Pair{Key: k.Key,
			Value: k.Value}}
		key := k.Key
		_, err := names.RefOf(&key)
		if err == nil {
			_, err = c.Clean()
		}
		if err != nil || len(k.Value) > state.MaxValue {
			stats.Skipped["state"]++
			continue
		}
		changes = append(changes,
			state.Change{Pair: state.Pair{Key: k.Key,
				Value: k.Value}})
	}
	if len(changes) == 0 {
		return 0, nil, nil
	}
	done, err := im.state.Set(im.ctx, names, changes)
	return done.Set, done.Found, err
}
