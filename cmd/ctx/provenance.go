package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

func newProvenanceCmd(a *app) *cobra.Command {
	return a.newCmd("provenance ID",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			id, err := s.Clusters.Resolve(view, args[0])
			if err != nil {
				return err
			}
			p, err := s.Recall.Provenance(view, id)
			if err != nil {
				return err
			}
			origins, err := s.Summaries.Origins(view, summariesOf(p))
			if err != nil {
				return err
			}
			if a.json {
				return a.answer(provenanceDocOf(p, origins))
			}
			printProvenance(a, p, origins)
			return nil
		}))
}

type provenanceDoc struct {
	ID       format.ID          `json:"id"`
	Kind     string             `json:"kind"`
	Node     format.ID          `json:"node"`   // what it stands for
	Inputs   []inputDoc         `json:"inputs"` // of a summary
	Summary  *originDoc         `json:"summary,omitempty"`
	Clusters []clusterCoversDoc `json:"clusters"`

	StandsFor []string `json:"stands_for,omitempty"` // of a replacement
	// Of an entry: the replacements that stand for it
	ReplacedBy []format.ID `json:"replaced_by,omitempty"`
}

type inputDoc struct {
	Kind string    `json:"kind"` // summary or node
	ID   format.ID `json:"id"`
}

func inputDocs(inputs []format.Input) []inputDoc {
	return lists.Map(inputs, func(in format.Input) inputDoc {
		return inputDoc{inputKind(in.Summary), in.ID}
	})
}

// summaryHeadDoc says how a summary was made.
type summaryHeadDoc struct {
	Generation uint64    `json:"generation"`
	Interim    bool      `json:"interim"`
	Summarizer string    `json:"summarizer"`
	Version    string    `json:"version"`
	Prompt     format.ID `json:"prompt"` // the SHA-256 of the prompt; null where there is none
}

func summaryHeadOf(sum *format.Summary) summaryHeadDoc {
	return summaryHeadDoc{
		Generation: sum.Generation, Interim: sum.Interim, Summarizer: sum.Summarizer,
		Version: sum.Version, Prompt: sum.Prompt,
	}
}

// originDoc says how and when a summary was added to the store.
type originDoc struct {
	summaryHeadDoc
	// That brought it; null where the log does not reach back as far
	Operation *uint64 `json:"operation"`
	Time      *string `json:"time"` // of that operation
}

func originOf(o summaries.Origin) originDoc {
	d := originDoc{summaryHeadDoc: summaryHeadOf(o.Summary)}
	if o.Operation > 0 {
		when := document.TimeText(o.Time)
		d.Operation, d.Time = &o.Operation, &when
	}
	return d
}

// summariesOf returns the ids of all summaries in a provenance.
func summariesOf(p *clusters.Provenance) (ids []format.ID) {
	if p.Summary != nil {
		ids = append(ids, p.ID)
	}
	for _, c := range p.Clusters {
		for _, v := range c.Covers {
			ids = append(ids, v.Summary)
		}
	}
	return ids
}

// clusterCoversDoc is a cluster with its relevant summaries.
type clusterCoversDoc struct {
	ID        format.ID  `json:"id"`
	State     string     `json:"state"`
	Members   uint64     `json:"members"`
	Tombstone *string    `json:"tombstone,omitempty"`
	Covers    []coverDoc `json:"covers"`
}

type coverDoc struct {
	Summary format.ID `json:"summary"`
	From    uint64    `json:"from"` // the first member it stands for, from 1
	To      uint64    `json:"to"`
	originDoc
}

func provenanceDocOf(p *clusters.Provenance, origins map[format.ID]summaries.Origin) provenanceDoc {
	d := provenanceDoc{ID: p.ID, Kind: p.Kind, Node: p.Node, Inputs: inputDocs(p.Inputs),
		ReplacedBy: p.ReplacedBy, Clusters: []clusterCoversDoc{}}
	if p.Summary != nil {
		origin := originOf(origins[p.ID])
		d.Summary = &origin
	}
	for _, t := range p.Targets {
		d.StandsFor = append(d.StandsFor, t.String())
	}
	for _, c := range p.Clusters {
		d.Clusters = append(d.Clusters, clusterCoversDocOf(c, origins))
	}
	return d
}

func clusterCoversDocOf(
	c clusters.ClusterInfo, origins map[format.ID]summaries.Origin,
) clusterCoversDoc {
	d := clusterCoversDoc{ID: c.ID, State: document.StateOf(&c), Members: c.Count,
		Tombstone: document.IDText(c.Tombstone), Covers: []coverDoc{}}
	for _, v := range c.Covers {
		d.Covers = append(d.Covers, coverDoc{
			Summary: v.Summary, From: v.Offset + 1, To: v.Offset + v.Count,
			originDoc: originOf(origins[v.Summary]),
		})
	}
	return d
}

func inputKind(summary bool) string {
	if summary {
		return "summary"
	}
	return "node"
}

// madeBy describes in one line how a summary was made and which operation added it.
func madeBy(o summaries.Origin) string {
	d := originOf(o)
	text := fmt.Sprintf("made by %s %s, generation %d", oneLine(d.Summarizer),
		oneLine(d.Version), d.Generation)
	if !d.Prompt.IsZero() {
		text += ", prompt " + d.Prompt.Short(shortLen)
	}
	if d.Operation != nil {
		text += fmt.Sprintf(", operation %d at %s", *d.Operation, *d.Time)
	}
	return text
}

func printProvenance(a *app, p *clusters.Provenance, origins map[format.ID]summaries.Origin) {
	a.line("%s %v", p.Kind, p.ID)
	if p.Summary != nil {
		a.line("  %s", madeBy(origins[p.ID]))
	}
	if !p.Node.IsZero() && p.Node != p.ID {
		a.line("  stands for node %v", p.Node)
	}
	for _, in := range p.Inputs {
		a.line("  made of %s %v", inputKind(in.Summary), in.ID)
	}
	for _, t := range p.Targets {
		a.line("  stands for entry %v", t)
	}
	for _, id := range p.ReplacedBy {
		a.line("  replaced by %v", id)
	}
	for _, c := range p.Clusters {
		d := clusterCoversDocOf(c, origins)
		a.line("  in cluster %v (%s, %s)", c.ID, d.State,
			plural(int(c.Count), "message", "messages"))
		for i, v := range d.Covers {
			what := "summary"
			if v.Interim {
				what = "interim summary"
			}
			a.line("    %s %s of messages %d to %d, %s", what, v.Summary, v.From, v.To,
				madeBy(origins[c.Covers[i].Summary]))
		}
	}
}
