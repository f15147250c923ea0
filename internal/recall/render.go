package recall

import (
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// RenderInput reads what a branch renders: the clusters of its pin and the messages after it. Under
// a budget it also reads evicted clusters and lines of other sessions, among which view.Render
// chooses.
func (s *Reader) RenderInput(
	v *refs.View, session, branch string, o view.Options,
) (view.Input, error) {
	value, err := history.Tip(v, session, branch)
	if err != nil {
		return view.Input{Session: session, Branch: branch}, err
	}
	defer s.Nearby(cache.NearName(session, branch))()
	in, err := s.RenderInputOf(v, value, session, branch, o)
	if err != nil || in.Work == nil || o.Budget == 0 {
		return in, err
	}
	in.Work.Others, err = s.readOthers(v, &in, view.OthersRoom(o.Budget))
	return in, err
}

// RenderInputOf is RenderInput for a branch with the given value and with the epoch that v names,
// without lines of other sessions. If clusters are lost with a part of the log, all messages are in
// the tail: a repair makes the clusters again.
func (s *Reader) RenderInputOf(
	v *refs.View, value format.Value, session, branch string, o view.Options,
) (in view.Input, err error) {
	return s.renderInputWith(&keptFacts{}, v, value, session, branch, o)
}

// Tokens returns how many tokens a branch renders at each of some values, as text and without a
// budget, or why it cannot be rendered there. It reads what an agent did once.
func (s *Reader) Tokens(
	v *refs.View, session, branch string, values ...format.Value,
) (tokens []int, errs []error) {
	tokens, errs = make([]int, len(values)), make([]error, len(values))
	var kept keptFacts
	var wait sync.WaitGroup
	for i, value := range values {
		wait.Go(func() {
			in, err := s.renderInputWith(&kept, v, value, session, branch, view.Options{})
			var out view.Output
			if err == nil {
				out, err = view.Render(in, view.Options{})
			}
			tokens[i], errs[i] = out.Tokens, err
		})
	}
	wait.Wait()
	return tokens, errs
}

func (s *Reader) renderInputWith(
	kept *keptFacts, v *refs.View, value format.Value, session, branch string, o view.Options,
) (in view.Input, err error) {
	in, err = s.renderInput(kept, v, value, session, branch, o)
	if err != nil && s.PassedDamage() {
		value.Pin, value.Through = format.ID{}, 0
		return s.renderInput(kept, v, value, session, branch, o)
	}
	return in, err
}

func (s *Reader) renderInput(
	kept *keptFacts, v *refs.View, value format.Value, session, branch string, o view.Options,
) (in view.Input, err error) {
	value, st, err := s.withShared(v, session, value)
	if err != nil {
		return view.Input{Session: session, Branch: branch}, err
	}
	in = view.Input{Session: session, Branch: branch, Pin: value.Pin, Through: value.Through,
		EpochID: v.Get(epochs.EpochRef(session, branch)).ID}
	if in.Epoch, err = s.epochBlock(in.EpochID); err != nil {
		return in, err
	}
	if in.Work, err = s.readWork(kept, value, &in, o.Budget > 0); err != nil {
		return in, err
	}
	if err := s.readTail(value, &in, o.Budget); err != nil {
		return in, err
	}
	standing, err := s.readStanding(v, value, &in)
	if err == nil && (in.Work == nil || o.Budget == 0) { // else the block has the prompts of turns
		err = s.beginAtPrompt(v, value, &in, standing.hidden)
	}
	if err != nil || value.Pin.IsZero() {
		standing.toTail(&in)
		return in, err
	}
	if st == nil {
		if st, err = s.ReadForest(value.Pin); err != nil {
			return in, err
		}
	}
	lists := &summaries.ListReader{Reader: s.summaries, Hidden: standing.hidden}
	r := &clusterReader{Reader: s, lists: lists}
	if r.filter, err = s.newMemberFilter(v, value, &in); err != nil {
		return in, err
	}
	if in.Work != nil {
		if err := r.readWorkClusters(st, &in); err != nil {
			return in, err
		}
		return in, r.placeStanding(st, &in, standing)
	}
	live, left, err := r.candidates(st, value, o.Budget)
	if err != nil {
		return in, err
	}
	for _, c := range live {
		cluster, err := r.liveCluster(st, c)
		if err != nil {
			return in, err
		}
		if !cluster.ID.IsZero() {
			in.Clusters = append(in.Clusters, cluster)
		}
	}
	if err := r.readEvicted(st, &in, o.Budget > 0); err != nil {
		return in, err
	}
	r.limitOthers(st, &in, o.Budget)
	in.OlderTombstones += left
	if err := r.lists.Read(o.Reads()); err != nil {
		return in, err
	}
	return in, r.placeStanding(st, &in, standing)
}

// maxTail is the largest number of messages after the pin that a rendering under a budget reads,
// the newest. Older ones count as left out; a compaction or a search covers them.
const maxTail = 4096

// maxEarlier is the largest number of messages before the pin that are read when all facts leave
// room.
const maxEarlier = 64

// readTail reads the messages after in.Through, and some messages before it if the facts leave room
// in the budget.
func (s *Reader) readTail(v format.Value, in *view.Input, budget int) (err error) {
	from, most := in.Through, 0
	if budget > 0 {
		most = maxTail
	}
	if in.Work != nil && in.Work.Size() < 4*budget {
		from -= min(from, maxEarlier)
	}
	in.Tail, in.Unread, err = s.readMessages(v, from, most)
	n := 0
	for in.Work != nil && n < len(in.Tail) && in.Tail[n].Seq <= in.Through {
		n++
	}
	if n > 0 {
		in.Work.Earlier, in.Tail = in.Tail[:n:n], in.Tail[n:]
	}
	return err
}

// maxTurn is how many messages before the tail are looked through for its prompt.
const maxTurn = 512

// beginAtPrompt puts the prompt to which the oldest messages of the tail belong before them, if it
// is not among them: words of an agent say little without the task. The messages in between are
// told by the prefix, as before.
func (s *Reader) beginAtPrompt(
	v *refs.View, value format.Value, in *view.Input, hidden map[format.ID]bool,
) error {
	if len(in.Tail) == 0 || in.Unread > 0 || in.Through == 0 || in.Tail[0].Role == "user" {
		return nil
	}
	looked := 0
	for e, err := range s.Walk(value.ID, history.WithJoined) {
		if err != nil {
			return err
		}
		if e.Kind != format.KindMessage || e.Seq > in.Through {
			continue
		}
		if looked++; looked > maxTurn {
			return nil
		}
		if e.Role != "user" || len(e.Results) > 0 {
			continue
		}
		if hidden[e.ID] {
			return nil
		}
		shown, err := s.Current(v, e.ID)
		if err != nil {
			return err
		}
		shown.Entry.Seq = e.Seq
		in.Tail = append([]view.Message{edits.MessageOf(shown)}, in.Tail...)
		return nil
	}
	return nil
}

// readMessages reads the messages after through as a rendering shows them, oldest first: all of
// them, or the newest most if most is not 0. unread is the number of messages that it did not read.
// An amend of a message up to through belongs to the prefix.
func (s *Reader) readMessages(
	v format.Value, through uint64, most int,
) (list []view.Message, unread int, err error) {
	type said struct {
		id, version format.ID
		seq         uint64
	}
	var found []said
	var controls []history.Entry
	version := map[format.ID]format.ID{}
walk:
	for e, err := range s.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return nil, 0, err
		}
		switch e.Kind {
		case format.KindMessage:
			if e.Seq <= through {
				break walk
			}
			if most > 0 && len(found) == most {
				unread = int(e.Seq - through)
				break walk
			}
			found = append(found, said{e.ID, version[e.ID], e.Seq})
		case format.KindAmend:
			if _, newer := version[e.Amends]; !newer {
				version[e.Amends] = e.ID
			}
			controls = append(controls, e) // what was made of older words shows no more
		case format.KindMask, format.KindReplace, format.KindEpoch:
			if !e.Joined {
				controls = append(controls, e)
			}
		}
	}
	list = make([]view.Message, 0, len(found))
	for _, m := range slices.Backward(found) {
		shown, err := s.Version(m.id, m.version)
		if err != nil {
			return nil, 0, err
		}
		shown.Entry.Seq = m.seq
		list = append(list, edits.MessageOf(shown))
	}
	slices.Reverse(controls)
	list, err = s.edits.Overlay(list, controls)
	return list, unread, err
}
