package eval

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Report is all that was measured. Everything in it but Timing is the same in every run and on every platform.
type Report struct {
	V        int         `json:"v"`
	Version  string      `json:"version"` // of ctx
	Seed     uint64      `json:"seed"`
	Settings []string    `json:"settings"` // "key=value", by key
	Sets     []SetReport `json:"sets"`
}

// SetReport is what was measured on one set.
type SetReport struct {
	Set           string       `json:"set"`
	Conversations int          `json:"conversations"`
	Messages      int          `json:"messages"`
	Tokens        int          `json:"tokens"` // of the messages' texts
	Facts         int          `json:"facts"`
	Clustering    []Clustering `json:"clustering,omitempty"`
	Retention     []Retention  `json:"facts_kept,omitempty"`
}

// WriteText writes the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ctx %s, seed %d\nsettings: %s\n", r.Version, r.Seed, strings.Join(r.Settings, " "))
	for _, s := range r.Sets {
		s.text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *SetReport) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n== %s: %d conversations, %d messages, %d tokens, %d facts\n", s.Set, s.Conversations, s.Messages, s.Tokens, s.Facts)
	s.clusteringText(b)
	s.retentionText(b)
}

func (s *SetReport) clusteringText(b *strings.Builder) {
	if s.Clustering == nil {
		return
	}
	rows := [][]string{{"clustering", "B3 P", "R", "F", "pooled P", "R", "F", "1-1", "VI", "ARI", "exact F", "edge P", "R", "F", "Pk", "WD", "clusters", "gold", "ratio"}}
	for _, c := range s.Clustering {
		rows = append(rows, cells(c.Rule, c.P, c.R, c.F, c.PooledP, c.PooledR, c.PooledF, c.OneToOne, c.VI, c.ARI, c.ExactF,
			c.BoundaryP, c.BoundaryR, c.BoundaryF, c.Pk, c.WindowDiff, c.Clusters, c.Gold, c.Ratio))
	}
	writeTable(b, rows)
}

func (s *SetReport) retentionText(b *strings.Builder) {
	if s.Retention == nil {
		return
	}
	rows := [][]string{{"facts kept", "ratio", "budget", "tokens", "kept", "n", "share", "95% from", "to", "lost", "found", "p", "evidence", "n"}}
	for _, r := range s.Retention {
		rows = append(rows, cells(r.Way, fmt.Sprintf("%dx", r.Ratio), r.Budget, r.Tokens, r.Kept, r.N, r.Share, r.Low, r.High, r.Lost, r.Found, r.P, r.Evidence, r.Prose))
	}
	writeTable(b, rows)
}

// cells prints values as they stand in a table; a null is a dash.
func cells(values ...any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		if p, ok := v.(*Milli); ok {
			if p == nil {
				out[i] = "-"
				continue
			}
			v = *p
		}
		out[i] = fmt.Sprint(v)
	}
	return out
}

// writeTable writes rows in columns after an empty line: the first one to the left, numbers to the right.
func writeTable(b *strings.Builder, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	b.WriteByte('\n')
	for _, row := range rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0 && len(row) == 1:
				b.WriteString(cell)
			case i == 0:
				b.WriteString(cell + pad)
			default:
				b.WriteString("  " + pad + cell)
			}
		}
		b.WriteByte('\n')
	}
}
