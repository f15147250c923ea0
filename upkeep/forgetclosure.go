package upkeep

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

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
