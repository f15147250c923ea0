package unionfind

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ErrForm says that a file is not a forest in this form; the error's text says where.
var ErrForm = errors.New("not a union-find-json file")

// Decode reads a document and checks all of it. Unknown keys, keys that come twice, numbers that
// are no whole numbers or name nothing, parents that lead in a circle, ids that come twice, and
// members that contradict each other are errors that wrap ErrForm. An error of r is returned as it
// is.
func Decode(r io.Reader) (*Document, error) {
	in := &limited{r: r, left: MaxBytes, element: maxElement}
	d, err := decode(&decoder{json: json.NewDecoder(in), in: in})
	switch {
	case in.err != nil:
		return nil, in.err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return d, nil
}

// maxElement is how many bytes are read for one node, cluster or summary: as many as the longest
// text has when every byte of it is escaped, and more.
const maxElement = 8 * MaxText

// limited ends a reader with an error when the whole or an element is too long, and remembers its
// error.
type limited struct {
	r       io.Reader
	left    int64 // of the whole
	element int64 // of the element that is being read
	err     error
}

func (l *limited) Read(p []byte) (int, error) {
	switch {
	case l.left <= 0:
		l.err = fmt.Errorf("%w: it has more than %d bytes", ErrForm, MaxBytes)
	case l.element <= 0:
		l.err = fmt.Errorf("%w: a part of it, or space, has more than %d bytes",
			ErrForm, maxElement)
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left, l.element)])
	l.left -= int64(n)
	l.element -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

func decode(d *decoder) (*Document, error) {
	j := d.json
	if first, err := j.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for j.More() {
		token, err := j.Token()
		if err != nil {
			return nil, syntax(err)
		}
		key, _ := token.(string)
		if seen[key] {
			return nil, fmt.Errorf("key %.40q is there twice", key)
		}
		seen[key] = true
		if err := d.member(key); err != nil {
			return nil, err
		}
	}
	if _, err := j.Token(); err != nil {
		return nil, syntax(err)
	}
	if _, err := j.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	for _, key := range []string{"version", "store", "forest", "operation", "time", "nodes",
		"clusters", "lineage"} {
		if !seen[key] {
			return nil, fmt.Errorf("%s: missing", key)
		}
	}
	return d.finish()
}

func syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends in the middle")
	}
	return fmt.Errorf("not JSON: %w", err)
}

// decoder gathers the parts of a document, which may come in any order, and joins them at the end.
type decoder struct {
	json     *json.Decoder
	in       *limited
	doc      Document
	clusters []readCluster
	lineage  []readSummary
}

// readCluster is a cluster with what it says of other parts.
type readCluster struct {
	Cluster
	covers      []format.ID
	first, last string
	dirty       bool
	summary     *string
}

// readSummary is a summary with what it says of other parts.
type readSummary struct {
	Summary
	root    int
	parents []format.ID
}

// member reads the value of one key of the document.
func (d *decoder) member(key string) error {
	switch key {
	case "nodes":
		return d.each(key, MaxNodes, d.node)
	case "clusters":
		return d.each(key, MaxNodes, d.cluster)
	case "lineage":
		return d.each(key, MaxNodes, d.summary)
	}
	raw, err := d.value()
	if err != nil {
		return fmt.Errorf("%.40q: %w", key, err)
	}
	o := &object{values: map[string]json.RawMessage{key: raw}}
	switch key {
	case "version":
		if n := o.uint(key); o.err == nil && n != version {
			return fmt.Errorf("version %d is not known here: this build reads version %d", n,
				version)
		}
	case "store":
		d.doc.Store = o.text(key)
	case "forest":
		d.doc.Forest = o.text(key)
	case "operation":
		d.doc.Operation = o.uint(key)
	case "time":
		if raw, ok := o.orNull(key); ok {
			d.doc.Time = o.time(key, raw)
		}
	}
	return o.done()
}

func (d *decoder) value() (json.RawMessage, error) {
	var raw json.RawMessage
	d.in.element = maxElement
	if err := d.json.Decode(&raw); err != nil {
		return nil, syntax(err)
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	return raw, nil
}

// each reads the elements of an array one after the other.
func (d *decoder) each(key string, most int, read func(int, *object) error) error {
	if first, err := d.json.Token(); err != nil || first != json.Delim('[') {
		return fmt.Errorf("%s: not an array", key)
	}
	for i := 0; d.json.More(); i++ {
		if i == most {
			return fmt.Errorf("%s: more than %d", key, most)
		}
		raw, err := d.value()
		if err == nil {
			err = read(i, openObject(raw))
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
	}
	if _, err := d.json.Token(); err != nil {
		return syntax(err)
	}
	return nil
}

func (d *decoder) node(i int, o *object) error {
	if id := o.uint("id"); o.err == nil && id != uint64(i) {
		return fmt.Errorf("id %d: ids count from 0, without gaps", id)
	}
	n := Node{
		Stable: o.stable("stable"), Parent: o.index("parent"), Session: o.text("session"),
		Seq: o.uint("seq"), Role: o.text("role"),
		Author: o.optText("author"), Invocation: o.optText("invocation"), Gone: o.optText("gone"),
	}
	n.Time = o.time("time", o.take("time"))
	if raw, there := o.maybe("tokens"); there {
		if n.Tokens = o.number("tokens", raw); n.Tokens == 0 {
			o.fail("tokens", "0 is written by leaving it out")
		}
	}
	text, said := o.maybe("text")
	if said {
		n.Text = o.string("text", text)
	}
	parts, there := o.maybe("parts")
	if there {
		if o.array("parts", parts); o.err == nil {
			n.Parts = jsonvalue.Compact(parts)
		}
	}
	if !said && !there && n.Gone == "" || said && n.Text == "" && (there || n.Gone != "") {
		o.fail("text", "one of text, parts and gone belongs")
	}
	o.links(&n)
	d.doc.Nodes = append(d.doc.Nodes, n)
	return o.done()
}

// links reads the calls, results and source of a node.
func (o *object) links(n *Node) {
	if raw, there := o.maybe("calls"); there {
		for _, r := range o.array("calls", raw) {
			c := openObject(r)
			n.Calls = append(n.Calls, format.Call{ID: c.text("id"), Tool: c.text("tool")})
			o.join("calls", c)
		}
	}
	if raw, there := o.maybe("results"); there {
		for _, r := range o.array("results", raw) {
			n.Results = append(n.Results, o.string("results", r))
		}
	}
	if raw, there := o.maybe("source"); there {
		s := openObject(raw)
		n.Source = &Source{Agent: s.text("agent"), Session: s.text("session"),
			Message: s.text("message")}
		o.join("source", s)
	}
}

// join takes over the error of an object inside this one.
func (o *object) join(key string, inner *object) {
	if err := inner.done(); err != nil {
		o.fail(key, err.Error())
	}
}

func (d *decoder) cluster(_ int, o *object) error {
	c := readCluster{Cluster: Cluster{
		Root: o.index("root"), Stable: o.stable("stable"), Number: o.uint("number"),
		Members: o.indexes("members"), Arrival: o.uint("arrival"),
	}}
	c.first, c.last, c.dirty, c.covers = o.text("first"), o.text("last"), o.bool("dirty"),
		o.ids("covers")
	if raw, ok := o.orNull("summary"); ok {
		text := o.string("summary", raw)
		c.summary = &text
	}
	if raw, ok := o.orNull("tombstone"); ok {
		t := openObject(raw)
		c.Tombstone = &Tombstone{Stable: t.stable("stable"), Line: t.text("line"),
			Eviction: t.uint("eviction"), Made: t.moment()}
		o.join("tombstone", t)
	}
	d.clusters = append(d.clusters, c)
	return o.done()
}

func (d *decoder) summary(_ int, o *object) error {
	s := readSummary{root: o.index("root"), Summary: Summary{
		Stable: o.stable("stable"), Members: o.indexes("members"), Generation: o.uint("generation"),
		Interim:    o.bool("interim"),
		Summarizer: o.text("summarizer"), Version: o.text("version"), Gone: o.optText("gone"),
	}}
	s.parents, s.Made = o.ids("parents"), o.moment()
	if raw, ok := o.orNull("prompt"); ok {
		s.Prompt = o.id("prompt", raw)
	}
	text, said := o.maybe("text")
	if said {
		s.Text = o.string("text", text)
	}
	if said == (s.Gone != "") {
		o.fail("text", "one of text and gone belongs")
	}
	d.lineage = append(d.lineage, s)
	return o.done()
}

// finish joins the parts and checks the whole.
func (d *decoder) finish() (*Document, error) {
	doc := &d.doc
	byRoot := make(map[int]int, len(d.clusters))
	for i, c := range d.clusters {
		if other, there := byRoot[c.Root]; there {
			return nil,
				fmt.Errorf("clusters[%d]: root %d is that of clusters[%d] too", i, c.Root, other)
		}
		byRoot[c.Root] = i
	}
	byStable := make(map[format.ID]int, len(d.lineage))
	for i, s := range d.lineage {
		cluster, there := byRoot[s.root]
		if !there {
			return nil, fmt.Errorf("lineage[%d]: %d is no root of a cluster", i, s.root)
		}
		s.Cluster = cluster
		for _, p := range s.parents {
			at, there := byStable[p]
			if !there {
				return nil, fmt.Errorf("lineage[%d]: parent %v does not stand before it", i, p)
			}
			s.Parents = append(s.Parents, at)
		}
		byStable[s.Stable] = i
		doc.Lineage = append(doc.Lineage, s.Summary)
	}
	for i, c := range d.clusters {
		for _, id := range c.covers {
			at, there := byStable[id]
			if !there {
				return nil, fmt.Errorf("clusters[%d]: cover %v is not in the lineage", i, id)
			}
			c.Covers = append(c.Covers, at)
		}
		doc.Clusters = append(doc.Clusters, c.Cluster)
	}
	if err := doc.check(); err != nil {
		return nil, err
	}
	return doc, d.agree()
}

// agree compares the derived members of each cluster (dirty, first, last, summary) with what they
// are derived from.
func (d *decoder) agree() error {
	for i := range d.clusters {
		said, is := &d.clusters[i], d.doc.clusterDoc(&d.doc.Clusters[i])
		switch {
		case said.dirty != is.Dirty:
			return fmt.Errorf("clusters[%d]: dirty: its covers say otherwise", i)
		case said.first != is.First || said.last != is.Last:
			return fmt.Errorf(
				"clusters[%d]: first or last: not the time of its first or last member", i)
		case (said.summary == nil) != (is.Summary == nil) ||
			said.summary != nil && *said.summary != *is.Summary:
			return fmt.Errorf("clusters[%d]: summary: not the text of its covers", i)
		}
	}
	return nil
}
