// Package page reads a store for people: the page of a session, the page of a project, and the
// entries that a page brings back into a store. internal/page/live writes the HTML. A session can
// also be a document of Markdown.
//
// Begin with Read and Take.
package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Branch is the branch that a page shows.
type Branch struct {
	Session, Branch string
	Tip             format.Value
}

// reader reads one page.
type reader struct {
	s      *session.Store
	c      context.Context
	view   *refs.View
	of     Branch
	out    *Session
	clean  *cleaner
	tools  map[string]string // of a call, by its id
	in     map[format.ID]uint64
	events map[format.ID]uint64 // entries of other kinds, with the number of messages before them
}

// Read reads the page of a branch. Every text is cleaned by the rules of this version, and what
// they take out is counted. It embeds the entries of the branch if embed is true.
func Read(
	c context.Context, s *session.Store, v *refs.View, of Branch, embed bool,
) (*Session, error) {
	r := &reader{
		s: s, c: c, view: v, of: of, clean: newCleaner(s), tools: map[string]string{},
		in: map[format.ID]uint64{}, events: map[format.ID]uint64{},
		out: &Session{Name: of.Session, Branch: of.Branch, Store: s.ID, Operation: v.Number},
	}
	for _, step := range []func() error{r.messages, r.overview, r.told, r.forest, r.seen} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if embed {
		if err := r.embed(); err != nil {
			return nil, err
		}
	}
	r.out.Left = r.clean.left
	return r.out, nil
}

func (r *reader) overview() error {
	list, err := r.s.Recall.Overviews(r.view)
	if err != nil {
		return err
	}
	for _, o := range list {
		if o.Name == r.of.Session {
			r.out.Agent = o.Agent
			if r.out.Title, err = r.clean.text(o.Title); err != nil {
				return err
			}
		}
	}
	return nil
}

// told reads the block that the branch tells its model first.
func (r *reader) told() error {
	in, err := r.s.Recall.RenderInput(r.view, r.of.Session, r.of.Branch, view.Options{Budget: 1})
	if err != nil {
		return err
	}
	for _, p := range in.Epoch {
		text, err := r.clean.text(p.Text)
		if err != nil {
			return err
		}
		r.out.Told = append(r.out.Told, Told{Key: p.Key, Text: text})
	}
	return nil
}

// messages reads the entries of the branch into turns.
func (r *reader) messages() error {
	out := r.out
	var turn Turn
	end := func() {
		if len(turn.Items) > 0 {
			out.Turns = append(out.Turns, turn)
			turn = Turn{}
		}
	}
	answered := false // the turn has more than the prompt
	err := r.s.Recall.LogEach(r.of.Tip.ID,
		recall.LogOptions{All: true}, func(shown *history.Shown) error {
			if err := r.c.Err(); err != nil {
				return err
			}
			it, show, err := r.item(shown)
			if err != nil || !show {
				return err
			}
			if it.Kind != format.KindMessage {
				r.events[shown.ID] = uint64(out.Messages)
				turn.Items = append(turn.Items, it)
				return nil
			}
			out.Messages++
			it.Seq = uint64(out.Messages)
			r.in[shown.ID] = it.Seq
			out.Tokens += it.Tokens
			if out.First.IsZero() {
				out.First = it.Time
			}
			out.Last = it.Time
			if it.Hole != "" {
				out.Holes++
			}
			if it.Role == "user" {
				if answered {
					end()
				}
				answered = false
			} else {
				answered = true
			}
			turn.Items = append(turn.Items, it)
			return nil
		})
	end()
	return err
}

// item returns an entry as a page shows it. show is false for what has no place of its own.
func (r *reader) item(shown *history.Shown) (it Item, show bool, err error) {
	e := shown.Entry
	it = Item{ID: shown.ID.String(), Kind: e.Kind, Role: e.Role, Author: e.Author,
		Time: e.Time, Seq: e.Seq}
	switch e.Kind {
	case format.KindMessage:
		return it, true, r.said(&it, shown)
	case format.KindAmend:
		return it, false, nil
	case format.KindRewind:
		if it.Left, err = r.left(e); err != nil {
			return it, false, err
		}
		it.Note = "the conversation went back to here"
		r.mark("rewind", fmt.Sprintf("rewind: %d messages taken back", len(it.Left)))
	case format.KindFork, format.KindJoin:
		it.Note = fmt.Sprint(e.Children)
		r.mark(e.Kind, e.Kind+" "+it.Note)
	case format.KindEpoch:
		it.Note = "the model was told"
		r.mark("epoch", "epoch: the model was told something new")
	case format.KindMask:
		it.Note = "outputs are shown shortened from here on"
	case format.KindReplace:
		it.Note = "a text stands for earlier messages"
	}
	if shown.Gone != "" {
		it.Note = r.gone(shown)
		return it, true, nil
	}
	if e.Kind == format.KindMask {
		return it, true, nil
	}
	it.Text, err = r.clean.text(shown.Text)
	return it, it.Text != "" || e.Kind != format.KindNote, err
}

func (r *reader) mark(kind, text string) {
	r.out.Marks = append(r.out.Marks,
		Mark{Seq: uint64(r.out.Messages), Kind: kind, Text: text})
}

// said reads the words of a message.
func (r *reader) said(it *Item, shown *history.Shown) (err error) {
	for _, c := range shown.Entry.Calls {
		r.tools[c.ID] = c.Tool
	}
	if shown.Version != shown.ID {
		it.Note = "amended by " + shown.Version.Short(8)
	}
	if body := shown.Entry.Body; body != nil {
		it.Digest = fmt.Sprintf("%x", body.Digest)
	}
	if shown.Gone != "" {
		it.Hole = r.gone(shown)
		return nil
	}
	if it.Pieces, it.Aside, err = r.clean.message(shown, r.tools); err != nil {
		return err
	}
	for i := range it.Pieces {
		it.Tokens += summarize.Tokens(it.Pieces[i].Text)
		it.Failed = it.Failed || it.Pieces[i].Failed
	}
	return nil
}

// gone says why an entry has no words, and since when.
func (r *reader) gone(shown *history.Shown) string {
	text := "The words of this message are gone: " + shown.Gone
	if when, err := r.s.Objects.GoneSince(shown.Version); err == nil && !when.IsZero() {
		text += ", " + when.UTC().Format(time.DateOnly)
	}
	return text + "."
}

// mostLeft is how many messages of a rewind a page shows.
const mostLeft = 500

// left reads the messages that a rewind has taken out of the branch, oldest first.
func (r *reader) left(e *format.Entry) (list []Item, err error) {
	for old, err := range r.s.History.Walk(e.Left, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(e.Parents, old.ID) || r.in[old.ID] > 0 || len(list) == mostLeft {
			break
		}
		if old.Kind != format.KindMessage {
			continue
		}
		shown, err := r.s.Recall.Current(r.view, old.ID)
		if err != nil {
			return nil, err
		}
		it, _, err := r.item(shown)
		if err != nil {
			return nil, err
		}
		list = append(list, it)
	}
	slices.Reverse(list)
	return list, nil
}

// shownTokens is how many tokens of an extract a page shows of each cluster: what fits beside the
// conversation.
const shownTokens = 260

// forest reads the clusters that have messages of the branch.
func (r *reader) forest() error {
	entries := map[format.ID]bool{}
	for id, seq := range r.in {
		if seq > 0 {
			entries[id] = true
		}
	}
	infos, members, all, err := r.s.Recall.ClustersWith(r.view, entries)
	if err != nil {
		return err
	}
	r.out.Others = all - len(members)
	// The label of a cluster depends on the other clusters of its session, and on no more. That of
	// one with messages of other sessions is not shown.
	if err := r.s.Summaries.SetLabels(infos); err != nil {
		return err
	}
	for _, info := range infos {
		c := Cluster{ID: info.ID.String(), Count: int(info.Count), First: info.First.Time,
			Last: info.Last.Time}
		for _, id := range members[info.Number] {
			c.Members = append(c.Members, Ref{ID: id.String(), Seq: r.in[id]})
		}
		if c.Label, err = r.clean.text(r.label(&info, len(c.Members))); err != nil {
			return err
		}
		if c.Summaries, err = r.summaries(&info, len(c.Members) < c.Count); err != nil {
			return err
		}
		c.State = stateOf(&info)
		r.out.Clusters = append(r.out.Clusters, c)
	}
	return nil
}

// sharedTopic is the label of a cluster whose own one may have words of other sessions. A page is
// made to be given away, and has nothing of a session that nobody chose.
const sharedTopic = "(a topic of several sessions)"

// label returns the label of a cluster that has so many messages of the branch. If others have
// messages in it, too, it is the goal alone, and only where the branch said that.
func (r *reader) label(info *clusters.ClusterInfo, own int) string {
	whole := cmp.Or(info.Label, info.Line)
	if own == int(info.Count) {
		return whole
	}
	for _, id := range info.Opening {
		if r.in[id] == 0 {
			return sharedTopic
		}
	}
	if len(info.Opening) == 0 {
		return sharedTopic
	}
	goal, _, _ := strings.Cut(whole, " · ")
	return goal
}

func stateOf(c *clusters.ClusterInfo) string {
	switch {
	case !c.Tombstone.IsZero():
		return "tombstone"
	case len(c.Covers) == 0:
		return "live, no summary yet"
	case slices.ContainsFunc(c.Covers, func(v format.Cover) bool { return v.Interim }):
		return "live, interim"
	case c.Dirty:
		return "live, dirty"
	}
	return "live"
}

// summaries reads the summaries of a cluster, the sentences of extracts with what they come from.
// If the cluster is shared with other sessions, the text of a model is left out: it may have their
// words.
func (r *reader) summaries(
	info *clusters.ClusterInfo, shared bool,
) (list []Summary, err error) {
	for _, cover := range info.Covers {
		one := Summary{ID: cover.Summary.String()}
		sum, _, err := summaries.Stored(r.s.History, cover.Summary)
		if history.IsLost(err) {
			one.Sentences = []Sentence{{Text: "The words of this summary are gone."}}
			list = append(list, one)
			continue
		}
		if err != nil {
			return nil, err
		}
		one.By = sum.Summarizer
		parts, err := r.s.Summaries.Parts([]format.Cover{cover})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if p.Text != "" && shared {
				p.Text = "This summary is of other sessions, too, and is left out."
			}
			if err := r.sentences(&one, &p); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}

func (r *reader) sentences(one *Summary, p *view.Part) error {
	add := func(from, text string) error {
		text, err := r.clean.text(text)
		one.Sentences = append(one.Sentences, Sentence{From: from, Text: text})
		return err
	}
	if p.Text != "" {
		return add("", p.Text)
	}
	var best []summarize.Sentence
	used := 0
	for i, s := range p.Sentences {
		n := summarize.Tokens(s.Text) + 1
		if r.in[s.Entry] == 0 || i > 0 && used+n > shownTokens {
			one.More++
			continue
		}
		best = append(best, s)
		used += n
	}
	one.More += p.Unread
	for _, s := range summarize.Order(best) {
		if err := add(s.Entry.String(), s.Text); err != nil {
			return err
		}
	}
	return nil
}

// seen reads from the log what the branch showed at which message. The log may not reach back to
// the beginning.
func (r *reader) seen() error {
	ref := history.RefName(r.of.Session, r.of.Branch)
	var list []Seen
	var tips []format.ID
	err := r.s.Refs.Backward(r.view, func(rec refs.Record) bool {
		for _, u := range rec.Op.Refs {
			moved := u.Old.Pin != u.New.Pin || u.Old.Through != u.New.Through
			if u.Name != ref || !u.New.Exists() || !moved {
				continue
			}
			pin := ""
			if !u.New.Pin.IsZero() {
				pin = u.New.Pin.String()
			}
			list = append(list,
				Seen{Through: u.New.Through, Pin: pin, Operation: rec.Op.Number,
					Verb: rec.Op.Verb, Time: rec.Op.Time})
			tips = append(tips, u.New.ID)
		}
		return r.c.Err() == nil
	})
	if err != nil {
		return err
	}
	for i := range list {
		e, err := r.s.History.Header(tips[i])
		if err != nil {
			if errors.Is(err, objects.ErrNotFound) {
				continue // a tip that gc has removed
			}
			return err
		}
		list[i].Tip = min(e.Seq, uint64(r.out.Messages))
	}
	slices.Reverse(list)
	r.out.Seen = list
	for _, s := range list {
		kind := "leave"
		if s.Verb == refs.VerbCompact {
			kind = "compact"
		}
		text := fmt.Sprintf("%s: messages up to %d are in summaries (operation %d)", s.Verb,
			s.Through, s.Operation)
		r.out.Marks = append(r.out.Marks, Mark{Seq: s.Tip, Kind: kind, Text: text})
	}
	return r.c.Err()
}
