package unionfind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
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
	d, err := (&decoder{json: json.NewDecoder(in), in: in}).decode()
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

	taken []byte // what was read, from an offset on
	from  int64
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
	l.taken = append(l.taken, p[:n]...)
	l.left -= int64(n)
	l.element -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// cut returns what was read between two offsets, until the next call.
func (l *limited) cut(from, to int64) []byte {
	if gone := from - l.from; gone > int64(len(l.taken))/2 {
		l.taken, l.from = append(l.taken[:0], l.taken[gone:]...), from
	}
	return l.taken[from-l.from : to-l.from]
}

// decoder gathers the parts of a document, which may come in any order, and joins them at the end.
type decoder struct {
	json     *json.Decoder
	in       *limited
	seen     []string // keys of the document
	head     []byte   // the members that are no lists, each after a comma
	nodes    []nodeDoc
	clusters []clusterDoc
	lineage  []summaryDoc
}

func (d *decoder) decode() (*Document, error) {
	j := d.json
	if first, err := j.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	for j.More() {
		token, err := j.Token()
		if err != nil {
			return nil, syntax(err)
		}
		key, _ := token.(string)
		if slices.Contains(d.seen, key) {
			return nil, fmt.Errorf("key %.40q is there twice", key)
		}
		if d.seen = append(d.seen, key); len(d.seen) > maxKeys {
			return nil, fmt.Errorf("unknown key: %.40q", key)
		}
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
	for _, key := range []string{"nodes", "clusters", "lineage"} {
		if !slices.Contains(d.seen, key) {
			return nil, fmt.Errorf("%s: missing", key)
		}
	}
	return d.finish()
}

// maxKeys is more keys than a document has.
const maxKeys = 16

func syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends in the middle")
	}
	return fmt.Errorf("not JSON: %w", err)
}

// member reads the value of one key of the document.
func (d *decoder) member(key string) error {
	switch key {
	case "nodes":
		return each(d, key, &d.nodes)
	case "clusters":
		return each(d, key, &d.clusters)
	case "lineage":
		return each(d, key, &d.lineage)
	}
	var is json.RawMessage
	raw, err := d.value(&is)
	if err != nil {
		return fmt.Errorf("%.40q: %w", key, err)
	}
	d.head = append(append(append(append(d.head, ','), jsonvalue.Encode(key)...), ':'), raw...)
	return nil
}

// value reads a value into v, and returns its bytes until the next call.
func (d *decoder) value(v any) (json.RawMessage, error) {
	d.in.element = maxElement
	from := d.json.InputOffset()
	err := d.json.Decode(v)
	raw := bytes.TrimLeft(d.in.cut(from, d.json.InputOffset()), " \t\r\n,:")
	var bad *json.UnmarshalTypeError
	switch {
	case errors.As(err, &bad):
		return nil, badType(bad)
	case err != nil:
		return nil, syntax(err)
	case !utf8.Valid(raw):
		return nil, errors.New("not UTF-8")
	}
	return raw, nil
}

// each reads the elements of an array one after the other.
func each[T any](d *decoder, key string, list *[]T) error {
	if first, err := d.json.Token(); err != nil || first != json.Delim('[') {
		return fmt.Errorf("%s: not an array", key)
	}
	for d.json.More() {
		i := len(*list)
		if i == MaxNodes {
			return fmt.Errorf("%s: more than %d", key, MaxNodes)
		}
		var element T
		raw, err := d.value(&element)
		if err == nil {
			err = strict(raw, &element)
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		*list = append(*list, element)
	}
	if _, err := d.json.Token(); err != nil {
		return syntax(err)
	}
	return nil
}

// strict refuses an object that would be written with other members, once it was read into v.
func strict(raw json.RawMessage, v any) error {
	written := jsonvalue.Encode(v)
	if bytes.Equal(raw, written) {
		return nil
	}
	members, err := jsonvalue.Members(raw)
	if err != nil {
		return errors.New("not an object")
	}
	want := jsonvalue.AsObject(written).Without()
	seen := map[string]bool{}
	for _, m := range members {
		value, known := want[m.Name]
		switch {
		case seen[m.Name]:
			return fmt.Errorf("key %.40q is there twice", m.Name)
		case known && !jsonvalue.Same(m.Value, value):
			return fmt.Errorf("%s: not as this form has it: %.80q", m.Name, m.Value)
		case known:
		case string(m.Value) == "[]" && (m.Name == "calls" || m.Name == "results"):
		case string(m.Value) == `""` || string(m.Value) == "0":
			return fmt.Errorf("%s: an empty one is left out", m.Name)
		default:
			return fmt.Errorf("unknown key: %.40q", m.Name)
		}
		seen[m.Name] = true
		delete(want, m.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return fmt.Errorf("%s: missing", name)
	}
	return nil
}

// badType says which member is not of its type.
func badType(bad *json.UnmarshalTypeError) error {
	if bad.Field == "" {
		return errors.New("not an object")
	}
	should := "not an object"
	switch bad.Type.Kind() {
	case reflect.String:
		should = "not a string"
	case reflect.Bool:
		should = "neither true nor false"
	case reflect.Slice:
		should = "not an array"
	case reflect.Int, reflect.Uint64:
		should = fmt.Sprintf("not a whole number: %.40q", strings.TrimPrefix(bad.Value, "number "))
	}
	return fmt.Errorf("%s: %s", bad.Field, should)
}

// finish joins the parts and checks the whole.
func (d *decoder) finish() (*Document, error) {
	object := append(append([]byte("{"), d.head[min(1, len(d.head)):]...), '}')
	if v := jsonvalue.AsObject(object)["version"]; v != nil && string(v) != "1" {
		return nil, fmt.Errorf("version %s is not known here: this build reads version %d", v,
			version)
	}
	var head headDoc
	var bad *json.UnmarshalTypeError
	if err := json.Unmarshal(object, &head); errors.As(err, &bad) {
		return nil, badType(bad)
	}
	if err := strict(object, &head); err != nil {
		return nil, err
	}
	var p parser
	doc := &Document{Store: head.Store, Forest: head.Forest, Operation: head.Operation,
		Time: p.optTime("time", head.Time)}
	if p.err != nil {
		return nil, p.err
	}
	for i := range d.nodes {
		n := p.node(i, &d.nodes[i])
		if p.err != nil {
			return nil, fmt.Errorf("nodes[%d]: %w", i, p.err)
		}
		doc.Nodes = append(doc.Nodes, n)
	}
	byRoot := make(map[int]int, len(d.clusters))
	for i, c := range d.clusters {
		if other, there := byRoot[c.Root]; there {
			return nil,
				fmt.Errorf("clusters[%d]: root %d is that of clusters[%d] too", i, c.Root, other)
		}
		byRoot[c.Root] = i
	}
	byStable := make(map[string]int, len(d.lineage))
	for i := range d.lineage {
		said := &d.lineage[i]
		s := p.summary(said)
		var there bool
		if s.Cluster, there = byRoot[said.Root]; !there {
			p.fail("root", fmt.Sprintf("%d is no root of a cluster", said.Root))
		}
		for _, id := range said.Parents {
			at, there := byStable[id]
			if !there {
				p.fail("parents", fmt.Sprintf("%.80q does not stand before it", id))
			}
			s.Parents = append(s.Parents, at)
		}
		if p.err != nil {
			return nil, fmt.Errorf("lineage[%d]: %w", i, p.err)
		}
		byStable[said.Stable] = i
		doc.Lineage = append(doc.Lineage, s)
	}
	for i := range d.clusters {
		said := &d.clusters[i]
		c := p.cluster(said)
		for _, id := range said.Covers {
			at, there := byStable[id]
			if !there {
				p.fail("covers", fmt.Sprintf("%.80q is not in the lineage", id))
			}
			c.Covers = append(c.Covers, at)
		}
		if p.err != nil {
			return nil, fmt.Errorf("clusters[%d]: %w", i, p.err)
		}
		doc.Clusters = append(doc.Clusters, c)
	}
	if err := doc.check(); err != nil {
		return nil, err
	}
	return doc, d.agree(doc)
}

// agree compares the derived members of each cluster (dirty, first, last, summary) with what they
// are derived from.
func (d *decoder) agree(doc *Document) error {
	for i := range d.clusters {
		said, is := &d.clusters[i], doc.clusterDoc(&doc.Clusters[i])
		switch {
		case said.Dirty != is.Dirty:
			return fmt.Errorf("clusters[%d]: dirty: its covers say otherwise", i)
		case said.First != is.First || said.Last != is.Last:
			return fmt.Errorf(
				"clusters[%d]: first or last: not the time of its first or last member", i)
		case !reflect.DeepEqual(said.Summary, is.Summary):
			return fmt.Errorf("clusters[%d]: summary: not the text of its covers", i)
		}
	}
	return nil
}

// parser makes values of the strings of a file. The first error sticks.
type parser struct{ err error }

func (p *parser) fail(key, why string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: %s", key, why)
	}
}

func (p *parser) id(key, s string) format.ID {
	id, err := format.ParseID(s)
	if err != nil || id.IsZero() {
		p.fail(key, fmt.Sprintf("not an id: %.80q", s))
	}
	return id
}

func (p *parser) optTime(key string, s *string) time.Time {
	if s == nil {
		return time.Time{}
	}
	t, err := format.ParseTime(*s)
	if err != nil {
		p.fail(key, fmt.Sprintf("not a time: %.40q", *s))
	}
	return t
}

func (p *parser) moment(operation *uint64, when *string) (m Moment) {
	if m.Time = p.optTime("time", when); operation != nil {
		if m.Operation = *operation; m.Operation == 0 {
			p.fail("operation", "operations are numbered from 1")
		}
	}
	return m
}

func (p *parser) node(i int, n *nodeDoc) Node {
	if n.ID != i {
		p.fail(fmt.Sprint("id ", n.ID), "ids count from 0, without gaps")
	}
	node := Node{Stable: p.id("stable", n.Stable), Parent: n.Parent, Session: n.Session, Seq: n.Seq,
		Role: n.Role, Author: n.Author, Time: p.optTime("time", &n.Time), Invocation: n.Invocation,
		Tokens: n.Tokens, Calls: n.Calls, Results: n.Results, Source: n.Source, Gone: n.Gone}
	said := 0
	if n.Text != nil {
		node.Text, said = *n.Text, said+1
	}
	if n.Parts != nil {
		node.Parts, said = jsonvalue.Compact(n.Parts), said+1
	}
	if n.Gone != "" {
		said++
	}
	if said != 1 {
		p.fail("text", "one of text, parts and gone belongs there")
	}
	return node
}

func (p *parser) cluster(c *clusterDoc) Cluster {
	out := Cluster{Root: c.Root, Stable: p.id("stable", c.Stable), Number: c.Number,
		Members: c.Members, Arrival: c.Arrival}
	if t := c.Tombstone; t != nil {
		out.Tombstone = &Tombstone{Stable: p.id("tombstone", t.Stable), Line: t.Line,
			Eviction: t.Eviction, Made: p.moment(t.Operation, t.Time)}
	}
	return out
}

func (p *parser) summary(s *summaryDoc) Summary {
	out := Summary{Stable: p.id("stable", s.Stable), Members: s.Members, Generation: s.Generation,
		Interim: s.Interim, Summarizer: s.Summarizer, Version: s.Version,
		Made: p.moment(s.Operation, s.Time), Gone: s.Gone}
	if s.Prompt != nil {
		out.Prompt = p.id("prompt", *s.Prompt)
	}
	if s.Text != nil {
		out.Text = *s.Text
	}
	if (s.Text == nil) == (s.Gone == "") {
		p.fail("text", "one of text and gone belongs there")
	}
	return out
}
