// Package forget chooses which bodies a forget removes: those that are named or that hold a text or
// a secret, and all that was made of them. Store.Forget then removes them.
//
// Begin with Run; closure.go holds the rules of what was made of what.
package forget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Options say what Run forgets: one of the three.
type Options struct {
	IDs  []format.ID // entries, clusters, summaries, blobs, epochs
	Text string      // what stands anywhere in a body
	Rule string      // a class of secrets, as the rules of today find them; anyClass for all

	// Exact says that another store has forgotten IDs: each stands for itself alone. No other version
	// of a message goes, no member of a cluster, and nothing that was said or told here. What was made
	// of them goes: summaries, tombstones, masks and replacements.
	Exact bool

	// Elsewhere says that IDs of which nothing is here are noted as forgotten: a remote may have them,
	// though gc has removed them here. Else Run returns ErrNotFound.
	Elsewhere bool

	DryRun bool // say what would go, and change nothing
	// Agreed is told what would go, before anything changes. If it says no, Run changes nothing and
	// returns ErrNotAgreed with the report. The lock may be held, so it asks nobody. nil agrees.
	Agreed   func(*Report) bool
	Progress graph.Progress
}

// ErrNotAgreed is the error of Run where more would go than Options.Agreed accepts.
var ErrNotAgreed = errors.New("more would go than was agreed")

// anyClass is the rule that every secret is of.
const anyClass = "all"

// KindElsewhere is what an object is called of which nothing is here.
const KindElsewhere = "elsewhere"

// Report is what Run did, or with DryRun would do.
type Report struct {
	store.Forgot
	Kinds   map[format.ID]string // of Forgot.Objects: what each is
	Said    []OfSession          // the messages among them
	Already int                  // of what was named: bodies that were gone before, or never there
	Sources []SourceName         // whose own transcripts have the words still
	Unread  []string             // files that could not be looked into when it was chosen what goes
}

// OfSession is what goes of the messages that were first said in a session. The versions of a
// message count as one, and so do the entries of one record of a transcript.
type OfSession struct {
	Session  string
	Messages []format.ID // in the order of the session
}

// SourceName is a conversation as the agent that had it names it.
type SourceName struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
}

// Run removes the bodies of what is named, and of all that was made of it, from every place of the
// store: reachable or not. Headers stay, and so do all ids. A message goes with
// its newer and older versions, a cluster or a tombstone stands for its members, a summary for
// itself. With Exact each stands for itself.
//
// The lock is held until all is over. See store.Store.Forget for what a crash leaves.
func Run(ctx context.Context, s *store.Opened, o Options) (Report, error) {
	var report Report
	plan := func() (*store.Forgetting, error) {
		c := &selection{s: s, o: o, report: &report, selected: map[format.ID]bool{},
			noted: map[format.ID]bool{}}
		p, err := c.plan(ctx)
		if err != nil {
			return nil, err
		}
		report.Objects = p.Objects
		if o.Agreed != nil && !o.Agreed(&report) {
			return nil, ErrNotAgreed
		}
		return p, nil
	}
	var err error
	if o.DryRun {
		_, err = plan()
	} else {
		var done store.Forgot
		if done, err = s.Store.Forget(ctx, plan); err == nil {
			report.Forgot, err = done, store.DropAsides(s)
		}
	}
	if err != nil {
		return report, fmt.Errorf("cannot forget: %w", err)
	}
	return report, nil
}

// selection chooses the bodies to remove.
type selection struct {
	s      *store.Opened
	o      Options
	report *Report

	graph    *graph.Graph
	selected map[format.ID]bool
	noted    map[format.ID]bool // named, and not here
	said     []format.ID        // named, or holding a secret: their words are not to come back
	answers  map[format.ID]bool // of said, those that closeAnswers chose
	looked   int                // how many of said closeAnswers has looked at

	first map[format.ID]format.ID   // of an amend, the message
	newer map[format.ID][]format.ID // of a message, its amends
	edits []format.ID               // masks and replacements
	notes map[format.ID]bool
	// Notes that are outputs of messages: a message with such an output is one message
	outputs map[format.ID]bool
	epochs  []epochAt
	made    []madeOf // summaries and tombstones
	srcs    map[format.ID]SourceName

	sessions map[string][]uint32 // of a session, the places of its entries in the graph

	records map[format.ID]recordName   // of an entry, the record of a transcript that it comes from
	same    map[recordName][]format.ID // the entries that come from a record
	// Entries that go since they, or others of their record, were named
	named map[format.ID]bool
}

// recordName names a record of a transcript: the key of its source. One record has several entries
// if it was imported again after an undo, or into another session, or if the agent has copied it.
type recordName [16]byte

type epochAt struct {
	id format.ID
	*format.Epoch
}

// madeOf is a summary or a tombstone, and its inputs.
type madeOf struct {
	id   format.ID
	node format.ID
	of   []format.Input
}

func (c *selection) plan(ctx context.Context) (*store.Forgetting, error) {
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	if err := c.choose(ctx); err != nil {
		return nil, err
	}
	if err := c.close(); err != nil {
		return nil, err
	}
	return c.settle()
}

// read reads every header.
func (c *selection) read(ctx context.Context) error {
	c.first, c.newer, c.notes = map[format.ID]format.ID{}, map[format.ID][]format.ID{},
		map[format.ID]bool{}
	c.srcs = map[format.ID]SourceName{}
	c.records, c.same = map[format.ID]recordName{}, map[recordName][]format.ID{}
	c.named, c.outputs = map[format.ID]bool{}, map[format.ID]bool{}
	c.answers, c.sessions = map[format.ID]bool{}, map[string][]uint32{}
	inv, err := graph.TakeInventory(c.s,
		func(path string, _ error) error { c.unread(path); return nil })
	if err != nil {
		return err
	}
	c.graph, err = graph.Read(ctx, c.s, inv, graph.Eye{Tell: c.header}, c.o.Progress)
	return err
}

func (c *selection) unread(path string) {
	if !slices.Contains(c.report.Unread, path) {
		c.report.Unread = append(c.report.Unread, path)
	}
}

// header notes what the selection needs of an object.
func (c *selection) header(at uint32, id format.ID, read format.Object) {
	switch o := read.(type) {
	case *format.Entry:
		c.sessions[o.Session] = append(c.sessions[o.Session], at)
		if o.Source != nil {
			c.srcs[id] = SourceName{o.Source.Agent, o.Source.Session}
			if key, err := o.Source.Key(); err == nil {
				c.records[id], c.same[key] = key, append(c.same[key], id)
			}
		}
		switch {
		case !o.Amends.IsZero():
			c.first[id] = o.Amends
			c.newer[o.Amends] = append(c.newer[o.Amends], id)
		case o.Kind == format.KindMask || o.Kind == format.KindReplace:
			c.edits = append(c.edits, id)
		case o.Kind == format.KindNote:
			c.notes[id] = true
		}
	case *format.Summary:
		c.made = append(c.made, madeOf{id, o.Node, o.Inputs})
	case *format.Tombstone:
		c.made = append(c.made, madeOf{id, o.Node, []format.Input{{Summary: true, ID: o.Summary}}})
	case *format.Epoch:
		c.epochs = append(c.epochs, epochAt{id, o})
	}
}

// choose finds what was asked for.
func (c *selection) choose(ctx context.Context) error {
	switch {
	case c.o.Text != "":
		needles := needles(c.o.Text)
		return c.search(ctx,
			func(kind, media string, body []byte) (bool, error) { return needles.in(body), nil },
			false)
	case c.o.Rule != "":
		return c.search(ctx, func(_, media string, body []byte) (bool, error) {
			found, err := findSecrets(media, body)
			return slices.ContainsFunc(found,
				func(f sanitize.Found) bool {
					return c.o.Rule == anyClass || f.Class == c.o.Rule
				}), err
		}, true)
	}
	view, err := c.s.Refs.Read()
	if err != nil {
		return err
	}
	for _, id := range c.o.IDs {
		header, err := c.s.Objects.Header(id)
		if err != nil && !errors.Is(err, objects.ErrNotFound) {
			return err
		}
		kind := ""
		if err == nil {
			if kind, _, err = format.HeaderKind(header); err != nil {
				return err
			}
		}
		switch {
		case c.o.Exact:
			c.selected[id] = true
			if kind == "entry" {
				c.named[id], c.said = true, append(c.said, id)
			}
		case kind == "entry":
			c.selectEntry(id)
		case kind == "summary", kind == "blob", kind == "epoch":
			c.selected[id] = true
		default:
			err := clusters.New(c.s.Store).Members(view, id,
				func(e format.ID) error { c.selectEntry(e); return nil })
			if c.o.Elsewhere && kind == "" && errors.Is(err, history.ErrNotFound) {
				c.selected[id], c.noted[id], err = true, true, nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// selectEntry selects a message, all its versions, and the other entries of its transcript
// record.
func (c *selection) selectEntry(id format.ID) {
	c.selected[id] = true
	for todo := []format.ID{id}; len(todo) > 0; todo = todo[1:] {
		id := todo[0]
		if first, ok := c.first[id]; ok {
			id = first
		}
		for _, v := range append([]format.ID{id}, c.newer[id]...) {
			if !c.named[v] {
				c.named[v], c.selected[v] = true, true
				c.said = append(c.said, v)
				todo = append(todo, c.same[c.records[v]]...)
			}
		}
	}
}

// search reads every stored body.
func (c *selection) search(
	ctx context.Context, holds func(kind, media string, body []byte) (bool, error), said bool,
) error {
	n := 0
	return c.s.Objects.Contents(func(at objects.Place, raw format.Raw) error {
		if n++; n%4096 == 0 {
			c.o.Progress.Tell(n, c.graph.Len(), "searching")
		}
		if raw.Body == nil || c.selected[at.ID] {
			return ctx.Err()
		}
		kind, media, text, err := storedText(raw)
		if err != nil {
			return err
		}
		found, err := holds(kind, media, text)
		if err != nil || !found {
			return errors.Join(err, ctx.Err())
		}
		c.selected[at.ID] = true
		if kind == "entry" && said {
			c.said = append(c.said, at.ID)
		}
		return ctx.Err()
	}, func(path string, _ error) error { c.unread(path); return nil })
}

// settle drops the objects whose bodies are gone already, and returns the others.
func (c *selection) settle() (*store.Forgetting, error) {
	p := &store.Forgetting{}
	c.report.Kinds = map[format.ID]string{}
	sources := map[SourceName]bool{}
	for id := range c.selected {
		if forgotten, err := c.s.Objects.Forgotten(id); err != nil {
			return nil, err
		} else if c.noted[id] && !forgotten {
			c.report.Kinds[id] = KindElsewhere
			p.Objects = append(p.Objects, id)
			continue
		}
		raw, err := c.s.Objects.Get(id)
		var gone *objects.GoneError
		var corrupt *objects.CorruptError
		switch {
		case errors.As(err, &gone) && gone.Reason == format.ReasonLost:
			// What is left of it is to go as well, and it is not to be found again.
		case errors.As(err, &gone), errors.Is(err, objects.ErrNotFound):
			c.report.Already++
			continue
		case errors.As(err, &corrupt):
			c.unread(corrupt.Path)
			continue
		case err != nil:
			return nil, err
		case raw.Body == nil:
			c.report.Already++
			continue
		}
		if c.report.Kinds[id], err = kindOf(raw.Header); err != nil {
			return nil, err
		}
		p.Objects = append(p.Objects, id)
		if src, ok := c.srcs[id]; ok {
			sources[src] = true
		}
	}
	if err := c.addCopies(sources, p.Objects); err != nil {
		return nil, err
	}
	graph.SortedIDs(p.Objects)
	for _, id := range c.said {
		switch {
		case c.report.Kinds[id] == "":
		case c.answers[id]:
			p.Answers = append(p.Answers, id)
		default:
			p.Said = append(p.Said, id)
		}
	}
	if c.o.Text != "" {
		p.Phrases = needles(c.o.Text)
	}
	if err := c.countSaid(p.Objects); err != nil {
		return nil, err
	}
	c.report.Sources = slices.SortedFunc(maps.Keys(sources), func(a, b SourceName) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(a.Session, b.Session))
	})
	return p, nil
}

// addCopies adds the sessions that share some of the entries, since the agent has copied them into
// the transcripts of these.
func (c *selection) addCopies(sources map[SourceName]bool, going []format.ID) error {
	view, err := c.s.Refs.Read()
	if err != nil {
		return err
	}
	lines := map[string]*history.Lineage{}
	for _, id := range going {
		src, ok := c.srcs[id]
		if !ok {
			continue
		}
		for _, name := range history.Relatives(view, src.Session) {
			if lines[name] == nil {
				lines[name] = c.s.History.Lineage(
					view.Get(history.RefName(name, history.MainBranch)).ID)
			}
			has, err := lines[name].Has(id)
			if err != nil {
				return err
			}
			if has {
				sources[SourceName{src.Agent, name}] = true
			}
		}
	}
	return nil
}

// countSaid notes in the report which messages go, by the session in which each was first said.
func (c *selection) countSaid(going []format.ID) error {
	type message struct {
		id  format.ID
		seq uint64
	}
	sessions := map[string][]message{}
	counted, records := map[format.ID]bool{}, map[recordName]bool{}
	for _, id := range going {
		switch c.report.Kinds[id] {
		case format.KindMessage, format.KindAmend:
		case format.KindNote:
			if c.outputs[id] {
				continue
			}
		default:
			continue
		}
		e, err := c.s.History.Header(id)
		if err != nil {
			return err
		}
		if first, ok := c.first[id]; ok {
			id = first
		}
		record, ok := c.records[id]
		if counted[id] || ok && records[record] {
			continue
		}
		counted[id], records[record] = true, ok
		sessions[e.Session] = append(sessions[e.Session], message{id, e.Seq})
	}
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		list := sessions[name]
		slices.SortFunc(list, func(a, b message) int {
			return cmp.Or(cmp.Compare(a.seq, b.seq), a.id.Compare(b.id))
		})
		of := OfSession{name, lists.Map(list, func(m message) format.ID { return m.id })}
		c.report.Said = append(c.report.Said, of)
	}
	return nil
}
