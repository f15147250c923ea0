package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

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
		report.Forgot, err = s.Forget(ctx, plan)
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
}

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

func (c *oblivion) doomSaid(id format.ID) {
	c.doomed[id] = true
	if first, ok := c.first[id]; ok {
		id = first
	}
	for _, v := range append([]format.ID{id}, c.newer[id]...) {
		c.doomed[v] = true
		c.said = append(c.said, v)
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
		kind, _, err := format.HeaderKind(raw.Header)
		if err != nil {
			return err
		}
		body, _, err := format.HeaderBody(raw.Header)
		if err != nil {
			return err
		}
		text := raw.Body
		if format.HasNonce(kind) {
			text = text[min(format.NonceLen, len(text)):]
		}
		found, err := holds(kind, body.Media, text)
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

// close adds what was made of what goes, until there is nothing more.
func (c *oblivion) close() error {
	for {
		before := len(c.doomed)
		tainted := c.taintedNodes()
		for _, m := range c.made {
			if c.doomed[m.id] {
				continue
			}
			c.doomed[m.id] = tainted(m.node) || slices.ContainsFunc(m.of, func(in format.Input) bool {
				if in.Summary {
					return c.doomed[in.ID]
				}
				return tainted(in.ID)
			})
			if !c.doomed[m.id] {
				delete(c.doomed, m.id)
			}
		}
		for _, step := range []func() error{c.closeEdits, c.closeNotes, c.closeEpochs} {
			if err := step(); err != nil {
				return err
			}
		}
		if len(c.doomed) == before {
			return nil
		}
	}
}

// taintedNodes returns what tells whether some entry under a node goes. Nodes are looked at once a round.
func (c *oblivion) taintedNodes() func(format.ID) bool {
	g := c.graph
	known := make([]int8, len(g.objects)) // 1 goes, -1 does not
	type step struct {
		i    uint32
		done bool
	}
	look := func(root uint32) bool {
		stack := []step{{root, false}}
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if known[top.i] != 0 {
				continue
			}
			if g.objects[top.i].kind != nodeKind {
				known[top.i] = -1
				if c.doomed[g.objects[top.i].id] {
					known[top.i] = 1
				}
				continue
			}
			if !top.done {
				stack = append(stack, step{top.i, true})
				for _, e := range g.below(top.i) {
					if known[e.to()] == 0 {
						stack = append(stack, step{e.to(), false})
					}
				}
				continue
			}
			known[top.i] = -1
			if slices.ContainsFunc(g.below(top.i), func(e edge) bool { return known[e.to()] == 1 }) {
				known[top.i] = 1
			}
		}
		return known[root] == 1
	}
	return func(id format.ID) bool {
		i, ok := g.find(id)
		return ok && look(i)
	}
}

// body reads a body that is there; nil where it is gone, or cannot be read.
func (c *oblivion) body(id format.ID) ([]byte, error) {
	raw, err := c.s.Objects.Get(id)
	var gone *objects.GoneError
	var corrupt *objects.CorruptError
	switch {
	case errors.As(err, &gone), errors.Is(err, objects.ErrNotFound):
		return nil, nil
	case errors.As(err, &corrupt):
		c.unread(corrupt.Path)
		return nil, nil
	case err != nil:
		return nil, err
	}
	kind, _, err := format.HeaderKind(raw.Header)
	if err == nil && format.HasNonce(kind) {
		return raw.Body[min(format.NonceLen, len(raw.Body)):], nil
	}
	return raw.Body, err
}

// closeEdits adds masks and replacements that show, or stand for, something that goes.
func (c *oblivion) closeEdits() error {
	var rest []format.ID
	for _, id := range c.edits {
		if c.doomed[id] {
			continue
		}
		text, err := c.body(id)
		if err != nil {
			return err
		}
		if text == nil {
			continue
		}
		goes := false
		if m, err := format.DecodeMask(text); err == nil {
			goes = slices.ContainsFunc(m.Parts, func(p format.MaskedPart) bool { return c.doomed[p.Entry] })
		} else if r, err := format.DecodeReplacement(text); err == nil {
			goes = slices.ContainsFunc(r.Targets, func(t format.Target) bool { return c.doomed[t.Entry] })
		}
		if goes {
			c.doomed[id] = true
		} else {
			rest = append(rest, id)
		}
	}
	c.edits = rest
	return nil
}

// offloaded finds the note that a shortened output names.
var offloaded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`ctx expand ([0-9a-f]{64})` shows all of it") })

// closeNotes adds the notes that messages which go are the short form of, and the messages that are the short form of notes which go.
func (c *oblivion) closeNotes() error {
	if len(c.notes) == 0 {
		return nil
	}
	wanted := map[format.ID]bool{}
	for id := range c.doomed {
		if c.notes[id] {
			wanted[id] = true
			continue
		}
		if i, ok := c.graph.find(id); !ok || c.graph.objects[i].kind != entryKind {
			continue
		}
		text, err := c.body(id)
		if err != nil {
			return err
		}
		for _, note := range notesIn(text) {
			if c.notes[note] {
				wanted[note] = true
				c.said = append(c.said, note)
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for id := range wanted {
		c.doomed[id] = true
	}
	for i := range c.graph.objects {
		o := &c.graph.objects[i]
		if o.kind != entryKind || c.doomed[o.id] {
			continue
		}
		text, err := c.body(o.id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(notesIn(text), func(note format.ID) bool { return wanted[note] }) {
			c.doomSaid(o.id)
		}
	}
	return nil
}

func notesIn(text []byte) (ids []format.ID) {
	if !bytes.Contains(text, []byte("`ctx expand ")) {
		return nil
	}
	for _, m := range offloaded().FindAllSubmatch(text, -1) {
		if id, err := format.ParseID(string(m[1])); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// closeEpochs adds what goes with an observed value: the texts that say it, the value of a text, and the updates that told it.
func (c *oblivion) closeEpochs() error {
	for again := true; again; {
		again = false
		doom := func(line ...format.ID) {
			if !slices.ContainsFunc(line, func(id format.ID) bool { return c.doomed[id] }) {
				return
			}
			for _, id := range line {
				if !id.IsZero() && !c.doomed[id] {
					c.doomed[id], again = true, true
				}
			}
		}
		for _, e := range c.epochs {
			for _, t := range e.Initial {
				doom(t.Value, t.Text)
			}
			for _, b := range e.Current {
				doom(b.Value, b.First, b.Gone)
			}
		}
	}
	var told [][]byte
	for id := range c.doomed {
		if i, ok := c.graph.find(id); ok && c.graph.objects[i].kind == blobKind {
			text, err := c.body(id)
			if err != nil {
				return err
			}
			if text = bytes.Trim(text, `"`); len(text) >= leastTold {
				told = append(told, text)
			}
		}
	}
	for _, e := range c.epochs {
		if e.Body == nil || c.doomed[e.id] {
			continue
		}
		named := slices.ContainsFunc(e.Initial, func(t format.Told) bool { return c.doomed[t.Value] || c.doomed[t.Text] }) ||
			slices.ContainsFunc(e.Current, func(b format.Belief) bool { return c.doomed[b.Value] || c.doomed[b.First] || c.doomed[b.Gone] })
		if !named && len(told) > 0 {
			text, err := c.body(e.id)
			if err != nil {
				return err
			}
			// An update may say what a value was before.
			named = slices.ContainsFunc(told, func(t []byte) bool { return bytes.Contains(text, t) })
		}
		if named {
			c.doomed[e.id] = true
		}
	}
	return nil
}

// leastTold is how many bytes a value has by which an update is known to tell it: shorter ones stand in everything.
const leastTold = 4

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
