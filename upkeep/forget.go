package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session"
)

// ForgetOptions say what Forget forgets: one of the three.
type ForgetOptions struct {
	IDs  []format.ID // entries, clusters, summaries, blobs, epochs
	Text string      // what stands anywhere in a body
	Rule string      // a class of secrets, as the rules of today find them; AnyClass for all

	DryRun   bool // say what would go, and change nothing
	Progress Progress
}

// AnyClass is the rule that every secret is of.
const AnyClass = "all"

// ForgetReport is what Forget did, or with DryRun would do.
type ForgetReport struct {
	session.Forgot
	Kinds   map[format.ID]string // of Forgot.Objects: what each is
	Already int                  // of what was named: bodies that were gone before, or never there
	Sources []SourceName         // whose own transcripts have the words still
	Unread  []string             // files that could not be looked into when it was chosen what goes
}

// SourceName is a conversation as the agent that had it names it.
type SourceName struct{ Agent, Session string }

// Forget removes the bodies of what is named, and of all that was made of it, from every place of the store: reachable or not, loose or packed. Headers
// stay, and so do all ids. A message goes with its newer and older versions, a cluster or a tombstone stands for its members, a summary for itself.
//
// The lock is held until all is over. See session.Store.Forget for what a crash leaves.
func Forget(ctx context.Context, s *session.Store, o ForgetOptions) (ForgetReport, error) {
	var report ForgetReport
	plan := func() (*session.Forgetting, error) {
		c := &oblivion{s: s, o: o, report: &report, doomed: map[format.ID]bool{}}
		return c.plan(ctx)
	}
	var err error
	if o.DryRun {
		var p *session.Forgetting
		if p, err = plan(); err == nil {
			report.Objects = p.Objects
		}
	} else {
		if report.Forgot, err = s.Forget(ctx, plan); err == nil {
			err = dropAsides(s)
		}
	}
	if err != nil {
		return report, fmt.Errorf("cannot forget: %w", err)
	}
	return report, nil
}

// oblivion is the choice of what goes.
type oblivion struct {
	s      *session.Store
	o      ForgetOptions
	report *ForgetReport

	graph  *graph
	doomed map[format.ID]bool
	said   []format.ID // named, or holding a secret: their words are not to come back

	first  map[format.ID]format.ID   // of an amend, the message
	newer  map[format.ID][]format.ID // of a message, its amends
	edits  []format.ID               // masks and replacements
	notes  map[format.ID]bool
	epochs []epochAt
	made   []madeOf // summaries and tombstones
	srcs   map[format.ID]SourceName

	records map[format.ID]recordName   // of an entry, the record of a transcript that it comes from
	same    map[recordName][]format.ID // the entries that come from a record
	named   map[format.ID]bool         // entries that go since they, or others of their record, were named
}

// recordName names a record of a transcript. One record has several entries where it was imported again after an undo,
// or into another session.
type recordName struct{ agent, session, message string }

type epochAt struct {
	id format.ID
	*format.Epoch
}

// madeOf is a summary or a tombstone.
type madeOf struct {
	id   format.ID
	node format.ID
	of   []format.Input
}

func (c *oblivion) plan(ctx context.Context) (*session.Forgetting, error) {
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
func (c *oblivion) read(ctx context.Context) error {
	c.first, c.newer, c.notes = map[format.ID]format.ID{}, map[format.ID][]format.ID{}, map[format.ID]bool{}
	c.srcs = map[format.ID]SourceName{}
	c.records, c.same = map[format.ID]recordName{}, map[recordName][]format.ID{}
	c.named = map[format.ID]bool{}
	inv, err := takeInventory(c.s, func(path string, _ error) error { c.unread(path); return nil })
	if err != nil {
		return err
	}
	c.graph, err = readGraph(ctx, c.s, inv, c.header, c.o.Progress)
	return err
}

func (c *oblivion) unread(path string) {
	if !slices.Contains(c.report.Unread, path) {
		c.report.Unread = append(c.report.Unread, path)
	}
}

// header notes what the choice needs of an object.
func (c *oblivion) header(id format.ID, header []byte, p parsed) {
	switch p.kind {
	case entryKind:
		e, err := format.DecodeEntry(header)
		if err != nil {
			return
		}
		if e.Source != nil {
			c.srcs[id] = SourceName{e.Source.Agent, e.Source.Session}
			name := recordName{e.Source.Agent, e.Source.Session, e.Source.Message}
			c.records[id], c.same[name] = name, append(c.same[name], id)
		}
		switch {
		case !e.Amends.IsZero():
			c.first[id] = e.Amends
			c.newer[e.Amends] = append(c.newer[e.Amends], id)
		case e.Kind == format.KindMask || e.Kind == format.KindReplace:
			c.edits = append(c.edits, id)
		case e.Kind == format.KindNote:
			c.notes[id] = true
		}
	case summaryKind:
		if sum, err := format.DecodeSummary(header); err == nil {
			c.made = append(c.made, madeOf{id, sum.Node, sum.Inputs})
		}
	case tombstoneKind:
		if stone, err := format.DecodeTombstone(header); err == nil {
			c.made = append(c.made, madeOf{id, stone.Node, []format.Input{{Summary: true, ID: stone.Summary}}})
		}
	case epochKind:
		if e, err := format.DecodeEpoch(header); err == nil {
			c.epochs = append(c.epochs, epochAt{id, e})
		}
	}
}

// choose finds what was asked for.
func (c *oblivion) choose(ctx context.Context) error {
	switch {
	case c.o.Text != "":
		needles := Needles(c.o.Text)
		return c.search(ctx, func(kind, media string, body []byte) (bool, error) { return needles.In(body), nil }, false)
	case c.o.Rule != "":
		return c.search(ctx, func(_, media string, body []byte) (bool, error) {
			found, err := findSecrets(media, body)
			return slices.ContainsFunc(found, func(f secretAt) bool { return c.o.Rule == AnyClass || f.class == c.o.Rule }), err
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
		switch kind {
		case "entry":
			c.doomSaid(id)
		case "summary", "blob", "epoch":
			c.doomed[id] = true
		default:
			err := c.s.Members(view, id, func(e format.ID) error { c.doomSaid(e); return nil })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// doomSaid has a message go, with all its versions, and with the other entries of the record that it comes from.
func (c *oblivion) doomSaid(id format.ID) {
	c.doomed[id] = true
	for todo := []format.ID{id}; len(todo) > 0; todo = todo[1:] {
		id := todo[0]
		if first, ok := c.first[id]; ok {
			id = first
		}
		for _, v := range append([]format.ID{id}, c.newer[id]...) {
			if !c.named[v] {
				c.named[v], c.doomed[v] = true, true
				c.said = append(c.said, v)
				todo = append(todo, c.same[c.records[v]]...)
			}
		}
	}
}

// search reads every stored body.
func (c *oblivion) search(ctx context.Context, holds func(kind, media string, body []byte) (bool, error), said bool) error {
	n := 0
	return c.s.Objects.Contents(func(at objects.Place, raw format.Raw) error {
		if n++; n%4096 == 0 {
			c.o.Progress.tell(n, len(c.graph.objects), "searching")
		}
		if raw.Body == nil || c.doomed[at.ID] {
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
		c.doomed[at.ID] = true
		if kind == "entry" && said {
			c.said = append(c.said, at.ID)
		}
		return ctx.Err()
	}, func(path string, _ error) error { c.unread(path); return nil })
}

// settle leaves out what has no body any more, and says what goes.
func (c *oblivion) settle() (*session.Forgetting, error) {
	p := &session.Forgetting{}
	c.report.Kinds = map[format.ID]string{}
	sources := map[SourceName]bool{}
	for id := range c.doomed {
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
		kind, _, err := format.HeaderKind(raw.Header)
		if err != nil {
			return nil, err
		}
		if kind == "entry" {
			if e, err := format.DecodeEntry(raw.Header); err == nil {
				kind = e.Kind
			}
		}
		c.report.Kinds[id] = kind
		p.Objects = append(p.Objects, id)
		if src, ok := c.srcs[id]; ok {
			sources[src] = true
		}
	}
	sortedIDs(p.Objects)
	for _, id := range c.said {
		if c.report.Kinds[id] != "" {
			p.Said = append(p.Said, id)
		}
	}
	if c.o.Text != "" {
		p.Phrases = []string{c.o.Text}
	}
	for src := range sources {
		c.report.Sources = append(c.report.Sources, src)
	}
	slices.SortFunc(c.report.Sources, func(a, b SourceName) int {
		if n := strings.Compare(a.Agent, b.Agent); n != 0 {
			return n
		}
		return strings.Compare(a.Session, b.Session)
	})
	return p, nil
}
