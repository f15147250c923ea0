package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

func newProvenanceCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "provenance ID",
		Short: "Show what an object was made of, and what was made of it",
		Long: long(`For a summary, a cluster or a tombstone: what it stands for and what it was made of. For an entry: the clusters and summaries it
went into. Of each summary it says who made it, the digest of the prompt where there was one, and the operation that brought it, as
far back as the log goes.`, exitNoStore, exitCorrupt, exitGone, exitNotFound),
		Example:           "  ctx provenance 9d2f04c1 --json",
		Args:              between(1, 1),
		ValidArgsFunction: a.completeRevs(),
		RunE: func(_ *cobra.Command, args []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			id, err := s.Resolve(view, args[0])
			if err != nil {
				return err
			}
			p, err := s.Provenance(view, id)
			if err != nil {
				return err
			}
			origins, err := s.SummaryOrigins(view, summariesOf(p))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(provenanceDocOf(p, origins))
			}
			printProvenance(a, p, origins)
			return nil
		},
	}
}

type provenanceDoc struct {
	V        int                `json:"v"`
	ID       string             `json:"id"`
	Kind     string             `json:"kind"`
	Node     *string            `json:"node"`   // what it stands for
	Inputs   []inputDoc         `json:"inputs"` // of a summary
	Summary  *originDoc         `json:"summary,omitempty"`
	Clusters []clusterCoversDoc `json:"clusters"`

	StandsFor  []string `json:"stands_for,omitempty"`  // of a replacement
	ReplacedBy []string `json:"replaced_by,omitempty"` // of an entry: the replacements that stand for it
}

type inputDoc struct {
	Kind string `json:"kind"` // summary or node
	ID   string `json:"id"`
}

// summaryHeadDoc is how a summary was made.
type summaryHeadDoc struct {
	Generation uint64  `json:"generation"`
	Interim    bool    `json:"interim"`
	Summarizer string  `json:"summarizer"`
	Version    string  `json:"version"`
	Prompt     *string `json:"prompt"` // the SHA-256 of the prompt; null where there is none
}

func summaryHeadOf(sum *format.Summary) summaryHeadDoc {
	return summaryHeadDoc{
		Generation: sum.Generation, Interim: sum.Interim, Summarizer: sum.Summarizer, Version: sum.Version, Prompt: idText(sum.Prompt),
	}
}

// originDoc is how and when a summary came into the store.
type originDoc struct {
	summaryHeadDoc
	Operation *uint64 `json:"operation"` // that brought it; null where the log does not reach back as far
	Time      *string `json:"time"`      // of that operation
}

func originOf(o session.SummaryOrigin) originDoc {
	d := originDoc{summaryHeadDoc: summaryHeadOf(o.Summary)}
	if o.Operation > 0 {
		when := timeText(o.Time)
		d.Operation, d.Time = &o.Operation, &when
	}
	return d
}

// summariesOf are the summaries that an answer names.
func summariesOf(p *session.Provenance) (ids []format.ID) {
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

// clusterCoversDoc is a cluster, and the summaries in it that matter.
type clusterCoversDoc struct {
	ID        string     `json:"id"`
	State     string     `json:"state"`
	Members   uint64     `json:"members"`
	Tombstone *string    `json:"tombstone,omitempty"`
	Covers    []coverDoc `json:"covers"`
}

type coverDoc struct {
	Summary string `json:"summary"`
	From    uint64 `json:"from"` // the first member it stands for, from 1
	To      uint64 `json:"to"`
	originDoc
}

func provenanceDocOf(p *session.Provenance, origins map[format.ID]session.SummaryOrigin) provenanceDoc {
	d := provenanceDoc{V: 1, ID: p.ID.String(), Kind: p.Kind, Node: idText(p.Node), Inputs: []inputDoc{}, Clusters: []clusterCoversDoc{}}
	for _, in := range p.Inputs {
		d.Inputs = append(d.Inputs, inputDoc{Kind: inputKind(in.Summary), ID: in.ID.String()})
	}
	if p.Summary != nil {
		origin := originOf(origins[p.ID])
		d.Summary = &origin
	}
	for _, t := range p.Targets {
		d.StandsFor = append(d.StandsFor, t.String())
	}
	for _, id := range p.ReplacedBy {
		d.ReplacedBy = append(d.ReplacedBy, id.String())
	}
	for _, c := range p.Clusters {
		d.Clusters = append(d.Clusters, clusterCoversDocOf(c, origins))
	}
	return d
}

func clusterCoversDocOf(c session.ClusterInfo, origins map[format.ID]session.SummaryOrigin) clusterCoversDoc {
	d := clusterCoversDoc{ID: c.ID.String(), State: "live", Members: c.Count, Tombstone: idText(c.Tombstone), Covers: []coverDoc{}}
	if !c.Tombstone.IsZero() {
		d.State = "tombstone"
	}
	for _, v := range c.Covers {
		d.Covers = append(d.Covers, coverDoc{
			Summary: v.Summary.String(), From: v.Offset + 1, To: v.Offset + v.Count, originDoc: originOf(origins[v.Summary]),
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

// madeBy says how a summary was made and which operation brought it, in a line.
func madeBy(o session.SummaryOrigin) string {
	d := originOf(o)
	text := fmt.Sprintf("made by %s %s, generation %d", oneLine(d.Summarizer), oneLine(d.Version), d.Generation)
	if d.Prompt != nil {
		text += ", prompt " + (*d.Prompt)[:shortLen]
	}
	if d.Operation != nil {
		text += fmt.Sprintf(", operation %d at %s", *d.Operation, *d.Time)
	}
	return text
}

func printProvenance(a *app, p *session.Provenance, origins map[format.ID]session.SummaryOrigin) {
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
		a.line("  in cluster %v (%s, %s)", c.ID, d.State, plural(int(c.Count), "message", "messages"))
		for i, v := range d.Covers {
			what := "summary"
			if v.Interim {
				what = "interim summary"
			}
			a.line("    %s %s of messages %d to %d, %s", what, v.Summary, v.From, v.To, madeBy(origins[c.Covers[i].Summary]))
		}
	}
}
