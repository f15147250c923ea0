package summaries

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// Compaction is what Compact reports.
type Compaction struct {
	Settled int `json:"settled"` // summaries that cover a whole cluster
	// Summaries that cover a part of a cluster, which has grown since or is summarized in pieces
	Carried int `json:"carried"`
	// Summaries that came too late: the cluster was retracted, evicted or summarized meanwhile
	Lost    int       `json:"lost"`
	Known   int       `json:"known"`   // summaries that were there already
	Evicted int       `json:"evicted"` // clusters that became tombstones
	Dirty   int       `json:"dirty"`   // clusters that still want a summary
	Roots   int       `json:"roots"`   // live clusters
	Forest  format.ID `json:"forest"`
	// Claims without a summary that could be used; their clusters are as they were
	Failed int `json:"failed"`
	// Sentences of extracts that come first because they are about the focus
	Focused int `json:"focused,omitempty"`
	// Bytes of the messages that were summarized, and of what stands for them now: summaries, or the
	// lines of those that were evicted at once
	Before, After int64 `json:"-"`
	// Strategy is the strategy that was used. It is Flat if the main forest cannot be read,
	// whatever was requested.
	Strategy string   `json:"strategy"`
	Reasons  []Reason `json:"-"` // why some were lost or failed, by outcome and kind
}

// Reason is why answers were not used.
type Reason struct {
	Outcome string // lost or failed
	Kind    string // what is counted together
	Why     string // of the first of them, a line
	Count   int
}

func (d *Compaction) CountLost(why string) {
	d.Lost++
	d.because("lost", why, why)
}

// CountFailed counts an error of a summarizer. Errors that can say their kind are counted by it.
func (d *Compaction) CountFailed(err error) {
	d.Failed++
	kind := err.Error()
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		kind = r.Reason()
	}
	d.because("failed", kind, err.Error())
}

func (d *Compaction) because(outcome, kind, why string) {
	at, ok := slices.BinarySearchFunc(d.Reasons,
		Reason{Outcome: outcome, Kind: kind}, func(a, b Reason) int {
			return cmp.Or(strings.Compare(a.Outcome, b.Outcome), strings.Compare(a.Kind, b.Kind))
		})
	if !ok {
		d.Reasons = slices.Insert(d.Reasons, at, Reason{Outcome: outcome, Kind: kind, Why: why})
	}
	d.Reasons[at].Count++
}
