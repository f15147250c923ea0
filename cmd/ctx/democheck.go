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
func (d *demo) sizes() error {
	history, err := d.run("log", "-s", "work", "--json")
	if err != nil {
		return err
	}
	whole := 0
	err = eachEntry(history, func(e document.Entry) error {
		whole += summarize.Tokens(*e.Text)
		return nil
	})
	if err != nil {
		return err
	}
	d.tell(
		"This is what a model is given now: clusters, tombstones, and the newest " +
			"messages word for word.")
	out, err := d.show(14, "render", "-s", "work")
	if err != nil {
		return err
	}
	d.compare("rendered", summarize.Tokens(out), whole)
	d.tell("Smaller still, within a budget of tokens that ctx never exceeds.")
	if out, err = d.show(5, "render", "-s", "work", "--budget", "2000"); err != nil {
		return err
	}
	d.compare("with --budget 2000", summarize.Tokens(out), whole)
	return nil
}

func (d *demo) compare(what string, tokens, whole int) {
	d.result("the whole conversation: %d tokens; %s: %d, %.1f times smaller", whole, what, tokens,
		float64(whole)/float64(max(1, tokens)))
}

// oneCluster expands the smallest cluster.
func (d *demo) oneCluster() error {
	clusters, err := d.clusters()
	if err != nil || len(clusters) == 0 {
		return err
	}
	small := clusters[0]
	for _, c := range clusters {
		if c.Members < small.Members {
			small = c
		}
	}
	d.tell("Every cluster expands to the exact messages behind its summary.")
	_, err = d.show(16, "expand", small.ID[:shortLen])
	return err
}

func (d *demo) clusters() ([]document.Cluster, error) {
	out, err := d.run("forest", "--json")
	if err != nil {
		return nil, err
	}
	var list []document.Cluster
	for line := range strings.Lines(out) {
		var c document.Cluster
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// verify expands every cluster, adds the messages of the window, and compares each message with its
// line in the input.
func (d *demo) verify(ids []string) error {
	d.tell(
		"Is anything lost? ctx expands every cluster and tombstone, and compares every " +
			"message with its line.")
	clusters, err := d.clusters()
	if err != nil {
		return err
	}
	found := map[string]document.Entry{}
	for _, c := range clusters {
		out, err := d.run("expand", "--json", c.ID)
		if err != nil {
			return err
		}
		err = eachEntry(out, func(e document.Entry) error {
			if _, twice := found[e.ID]; twice {
				return fmt.Errorf("message %s is in two clusters", e.ID)
			}
			found[e.ID] = e
			return nil
		})
		if err != nil {
			return err
		}
	}
	inClusters := len(found)
	history, err := d.run("log", "-s", "work", "--json")
	if err != nil {
		return err
	}
	err = eachEntry(history, func(e document.Entry) error {
		if _, known := found[e.ID]; !known {
			found[e.ID] = e
		}
		return nil
	})
	if err != nil {
		return err
	}
	same := 0
	lines := bytes.Split(bytes.TrimSpace(demoConversation), []byte("\n"))
	for i, line := range lines {
		if i < len(ids) && sameMessage(line, found[ids[i]]) {
			same++
		}
	}
	d.result(
		"%d of %d messages come back byte for byte: %d from clusters and tombstones, %d "+
			"from the window",
		same, len(lines), inClusters, len(found)-inClusters)
	if same != len(lines) || len(found) != len(lines) {
		return fmt.Errorf("%d of %d messages do not come back as they were",
			len(lines)-same, len(lines))
	}
	return nil
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

// eachEntry calls each for the entries that log or expand printed with --json.
func eachEntry(lines string, each func(document.Entry) error) error {
	for line := range strings.Lines(lines) {
		var e document.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		if e.Text == nil {
			e.Text = new(string)
		}
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}
