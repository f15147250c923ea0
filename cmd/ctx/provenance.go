package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
)

func newProvenanceCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "provenance ID",
		Short: "Show what an object was made of, and what was made of it",
		Long: long(`For a summary, a cluster or a tombstone: what it stands for and what it was made of. For an entry: the clusters and summaries it
went into.`, exitNoStore, exitCorrupt, exitGone, exitNotFound),
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
			if a.json {
				return a.printJSON(provenanceDocOf(p))
			}
			printProvenance(a, p)
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
	Summary  *summaryHeadDoc    `json:"summary,omitempty"`
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
	Generation uint64 `json:"generation"`
	Interim    bool   `json:"interim"`
	Summarizer string `json:"summarizer"`
	Version    string `json:"version"`
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
	Interim bool   `json:"interim"`
}

func provenanceDocOf(p *session.Provenance) provenanceDoc {
	d := provenanceDoc{V: 1, ID: p.ID.String(), Kind: p.Kind, Node: idText(p.Node), Inputs: []inputDoc{}, Clusters: []clusterCoversDoc{}}
	for _, in := range p.Inputs {
		d.Inputs = append(d.Inputs, inputDoc{Kind: inputKind(in.Summary), ID: in.ID.String()})
	}
	if sum := p.Summary; sum != nil {
		d.Summary = &summaryHeadDoc{Generation: sum.Generation, Interim: sum.Interim, Summarizer: sum.Summarizer, Version: sum.Version}
	}
	for _, t := range p.Targets {
		d.StandsFor = append(d.StandsFor, t.String())
	}
	for _, id := range p.ReplacedBy {
		d.ReplacedBy = append(d.ReplacedBy, id.String())
	}
	for _, c := range p.Clusters {
		d.Clusters = append(d.Clusters, clusterCoversDocOf(c))
	}
	return d
}

func clusterCoversDocOf(c session.ClusterInfo) clusterCoversDoc {
	d := clusterCoversDoc{ID: c.ID.String(), State: "live", Members: c.Count, Tombstone: idText(c.Tombstone), Covers: []coverDoc{}}
	if !c.Tombstone.IsZero() {
		d.State = "tombstone"
	}
	for _, v := range c.Covers {
		d.Covers = append(d.Covers, coverDoc{Summary: v.Summary.String(), From: v.Offset + 1, To: v.Offset + v.Count, Interim: v.Interim})
	}
	return d
}

func inputKind(summary bool) string {
	if summary {
		return "summary"
	}
	return "node"
}

func printProvenance(a *app, p *session.Provenance) {
	a.line("%s %v", p.Kind, p.ID)
	if sum := p.Summary; sum != nil {
		a.line("  made by %s %s, generation %d", sum.Summarizer, sum.Version, sum.Generation)
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
		d := clusterCoversDocOf(c)
		a.line("  in cluster %v (%s, %s)", c.ID, d.State, plural(int(c.Count), "message", "messages"))
		for _, v := range d.Covers {
			what := "summary"
			if v.Interim {
				what = "interim summary"
			}
			a.line("    %s %s of messages %s to %s", what, v.Summary, strconv.FormatUint(v.From, 10), strconv.FormatUint(v.To, 10))
		}
	}
}
