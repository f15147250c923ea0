package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
	"github.com/gemini-ctx/ctx/sanitize"
)

// sizes prints how much smaller the rendered context is than the conversation.
func (d *demo) sizes() {
	whole := 0
	for _, e := range d.entries("log", "-s", "work", "--json") {
		whole += summarize.Tokens(*e.Text)
	}
	compare := func(what, out string) {
		n := summarize.Tokens(out)
		d.result("the whole conversation: %d tokens; %s: %d, %.1f times smaller", whole, what, n,
			float64(whole)/float64(max(1, n)))
	}
	d.tell("This is what a model is given now: clusters, tombstones, and the newest " +
		"messages word for word.")
	compare("rendered", d.show(14, "render", "-s", "work"))
	d.tell("Smaller still, within a budget of tokens that ctx never exceeds.")
	compare("with --budget 2000", d.show(5, "render", "-s", "work", "--budget", "2000"))
}

// verify expands every cluster, adds the messages of the window, and compares each message with its
// line in the input.
func (d *demo) verify(ids []string) {
	d.tell("Is anything lost? ctx expands every cluster and tombstone, and compares every " +
		"message with its line.")
	found := map[string]document.Entry{}
	for _, c := range d.clusters() {
		for _, e := range d.entries("expand", "--json", c.ID) {
			if _, twice := found[e.ID]; twice {
				d.err = fmt.Errorf("message %s is in two clusters", e.ID)
			}
			found[e.ID] = e
		}
	}
	inClusters := len(found)
	for _, e := range d.entries("log", "-s", "work", "--json") {
		if _, known := found[e.ID]; !known {
			found[e.ID] = e
		}
	}
	same := 0
	lines := bytes.Split(bytes.TrimSpace(demoConversation), []byte("\n"))
	for i, line := range lines {
		if i < len(ids) && sameMessage(line, found[ids[i]]) {
			same++
		}
	}
	d.result("%d of %d messages come back byte for byte: %d from clusters and tombstones, %d "+
		"from the window", same, len(lines), inClusters, len(found)-inClusters)
	if d.err == nil && (same != len(lines) || len(found) != len(lines)) {
		d.err = fmt.Errorf("%d of %d messages do not come back as they were", len(lines)-same,
			len(lines))
	}
}

func (d *demo) clusters() []document.Cluster {
	return demoLines[document.Cluster](d, "forest", "--json")
}

// entries returns the entries that log or expand prints with --json.
func (d *demo) entries(args ...string) []document.Entry {
	list := demoLines[document.Entry](d, args...)
	for i := range list {
		if list[i].Text == nil {
			list[i].Text = new(string)
		}
	}
	return list
}

// demoLines returns what a command prints, a document on each line.
func demoLines[T any](d *demo, args ...string) (list []T) {
	for line := range strings.Lines(d.run(args...)) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil && d.err == nil {
			d.err = err
		}
		list = append(list, one)
	}
	return list
}

// sameMessage reports whether an entry has the sanitized content of an input line.
func sameMessage(line []byte, e document.Entry) bool {
	r := &jsonl.MessageReader{Unknown: map[string]int{}}
	m := r.Read(1, line).Message
	if m.Parts != nil {
		want, _, err := sanitize.JSON(m.Parts)
		return err == nil && bytes.Equal(want, e.Parts)
	}
	want, _, err := sanitize.Text([]byte(m.Text))
	return err == nil && e.Text != nil && e.Parts == nil && string(want) == *e.Text
}
