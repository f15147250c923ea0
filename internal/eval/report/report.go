// Package report is the result of the measures, as JSON and as tables.
package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// Report is the result of a run. It is the same in every run and on every platform.
type Report struct {
	V        int      `json:"v"`
	Version  string   `json:"version"` // of ctx
	Seed     uint64   `json:"seed"`
	Settings []string `json:"settings"` // "key=value", by key
	Sets     []Set    `json:"sets"`
}

// Set is the result for one set. A part that was not measured is empty.
type Set struct {
	Set           string `json:"set"`
	Conversations int    `json:"conversations"`
	Messages      int    `json:"messages"`
	Tokens        int    `json:"tokens"` // of the messages' texts
	Facts         int    `json:"facts"`
	// without evidence in the messages that were not rewound
	Unused     int          `json:"facts_unused"`
	Clustering []Clustering `json:"clustering,omitempty"`
	Retention  []Retention  `json:"facts_kept,omitempty"`
	// with a rendering for each question
	Asked      []Retention  `json:"facts_kept_with_query,omitempty"`
	Reach      []Reach      `json:"reach,omitempty"`
	Cases      []Cases      `json:"cases,omitempty"`
	Recovery   *Recovery    `json:"recovery,omitempty"`
	Artifacts  []Artifacts  `json:"artifacts,omitempty"`
	UserWords  []UserWords  `json:"user_words,omitempty"`
	Fidelity   *Fidelity    `json:"fidelity,omitempty"`
	Stability  []Stability  `json:"stability,omitempty"`
	Steadiness []Steadiness `json:"steadiness,omitempty"`

	Continuation []Continuation  `json:"continuation,omitempty"`
	Known        []Known         `json:"known,omitempty"`
	Sessions     []SessionSearch `json:"sessions,omitempty"`
	Recalled     []Recalled      `json:"recalled,omitempty"`
}

// WriteText writes the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ctx %s, seed %d\nsettings: %s\n", r.Version, r.Seed,
		strings.Join(r.Settings, " "))
	for _, s := range r.Sets {
		s.text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Set) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n== %s: %d conversations, %d messages, %d tokens, %d facts", s.Set,
		s.Conversations, s.Messages, s.Tokens, s.Facts)
	if s.Unused > 0 {
		fmt.Fprintf(b, ", %d of them without evidence", s.Unused)
	}
	b.WriteByte('\n')
	s.clusteringText(b)
	retentionText(b, "facts kept", s.Retention)
	retentionText(b, "for each question", s.Asked)
	s.reachText(b)
	s.casesText(b)
	s.recoveryText(b)
	s.artifactsText(b)
	s.wordsText(b)
	s.fidelityText(b)
	s.stabilityText(b)
	s.continuationText(b)
	s.knownText(b)
	s.recalledText(b)
}

func (s *Set) clusteringText(b *strings.Builder) {
	if s.Clustering == nil {
		return
	}
	rows := [][]string{{"clustering", "B3 P", "R", "F", "95% from", "to", "pooled P",
		"R", "F", "1-1",
		"VI", "ARI", "exact F", "clusters", "gold", "ratio"}}
	edges := [][]string{{"boundaries", "P", "R", "F", "Pk", "WindowDiff"}}
	for _, c := range s.Clustering {
		rows = append(rows,
			cells(c.Rule, c.P, c.R, c.F, c.Low, c.High, c.PooledP, c.PooledR, c.PooledF,
				c.OneToOne, c.VI, c.ARI, c.ExactF, c.Clusters, c.Gold, c.Ratio))
		edges = append(edges,
			cells(c.Rule, c.BoundaryP, c.BoundaryR, c.BoundaryF, c.Pk, c.WindowDiff))
	}
	writeTable(b, rows)
	writeTable(b, edges)
}

func retentionText(b *strings.Builder, title string, list []Retention) {
	if list == nil {
		return
	}
	rows := [][]string{{title, "ratio", "budget", "tokens", "kept", "n", "share", "95% from", "to",
		"lost", "found", "p", "stale", "leaked", "evidence", "n"}}
	for _, r := range list {
		rows = append(rows,
			cells(r.Way, fmt.Sprintf("%dx", r.Ratio), r.Budget, r.Tokens, r.Kept, r.N,
				r.Share, r.Low,
				r.High, r.Lost, r.Found, r.P,
				r.Stale, r.Leaked, r.Evidence, r.Prose))
	}
	writeTable(b, rows)
}

func (s *Set) reachText(b *strings.Builder) {
	if s.Reach == nil {
		return
	}
	rows := [][]string{{"evidence", "n", "hit@1", "95% from", "hit@5", "95% from", "MRR"}}
	for _, r := range s.Reach {
		rows = append(rows, cells(r.By, r.N, r.Hit1, r.Low1, r.Hit5, r.Low5, r.MRR))
	}
	writeTable(b, rows)
}

func (s *Set) casesText(b *strings.Builder) {
	if s.Cases == nil {
		return
	}
	rows := [][]string{{"cases", "n", "found", "first", "asked", "stale at 4x", "at 10x", "leaked"}}
	for _, c := range s.Cases {
		rows = append(rows,
			cells(c.Kind, c.N, c.Found, c.First, c.Asked, c.Stale4, c.Stale10, c.Leaked))
	}
	writeTable(b, rows)
}

func (s *Set) recoveryText(b *strings.Builder) {
	if r := s.Recovery; r != nil {
		writeTable(b, [][]string{
			{"recovery", "ids", "exact", "messages", "reachable", "share"},
			cells("", r.IDs, r.Exact, r.Messages, r.Reachable, r.Share),
		})
	}
}

func (s *Set) artifactsText(b *strings.Builder) {
	if s.Artifacts == nil {
		return
	}
	rows := [][]string{{"tool traffic", "n", "at 4x", "share", "at 10x", "share", "recoverable",
		"searched", "found"}}
	for _, r := range s.Artifacts {
		rows = append(rows,
			cells(r.Kind, r.N, r.At4, r.Share4, r.At10, r.Share10, r.Recoverable,
				r.Searched, r.Found))
	}
	writeTable(b, rows)
}

func (s *Set) wordsText(b *strings.Builder) {
	if s.UserWords == nil {
		return
	}
	rows := [][]string{{"user's words", "requests", "fit", "kept", "corrections", "fit", "kept"}}
	for _, r := range s.UserWords {
		rows = append(rows,
			cells(fmt.Sprintf("at %dx", r.Ratio), r.Requests, r.RequestsFit, r.RequestsKept,
				r.Corrections,
				r.CorrectionsFit, r.CorrectionsKept))
	}
	writeTable(b, rows)
}

func (s *Set) fidelityText(b *strings.Builder) {
	if r := s.Fidelity; r != nil {
		writeTable(b, [][]string{
			{"summaries", "sentences", "verbatim", "tombstones", "labels", "in cluster",
				"share", "hit@1",
				"MRR"},
			cells("", r.Sentences, r.Verbatim, r.Lines, r.Labels, r.InCluster, r.Share,
				r.First, r.MRR),
		})
	}
}

func (s *Set) stabilityText(b *strings.Builder) {
	if s.Stability == nil {
		return
	}
	rows := [][]string{{"turn to turn", "turns", "bytes kept", "all kept", "tokens", "without ctx"}}
	for _, r := range s.Stability {
		rows = append(rows, cells("budget "+r.Budget, r.Turns, r.Share, r.Kept, r.Tokens, r.Whole))
	}
	writeTable(b, rows)
	rows = [][]string{{"message to message", "messages", "bytes kept", "all kept"}}
	for _, r := range s.Steadiness {
		rows = append(rows, cells(r.Rule, r.Messages, r.Share, r.Kept))
	}
	writeTable(b, rows)
}

func (s *Set) continuationText(b *strings.Builder) {
	if s.Continuation == nil {
		return
	}
	rows := [][]string{{"going on", "at", "n", "budget", "tokens", "said", "called", "files",
		"lines of use", "junk lines"}}
	for _, c := range s.Continuation {
		rows = append(rows,
			cells(c.Way, c.At, c.N, c.Budget, c.Tokens, c.Said, c.Called, c.Files, c.Lines, c.Junk))
	}
	writeTable(b, rows)
}

func (s *Set) knownText(b *strings.Builder) {
	if s.Known != nil {
		rows := [][]string{{"prompts by their words", "n", "first", "share", "in ten", "share"}}
		for _, k := range s.Known {
			rows = append(rows, cells(k.By, k.N, k.First, k.FirstShare, k.Ten, k.TenShare))
		}
		writeTable(b, rows)
	}
	if s.Sessions != nil {
		rows := [][]string{{"session of", "by", "sessions", "n", "first", "share",
			"in three", "share"}}
		for _, r := range s.Sessions {
			rows = append(rows,
				cells(r.Of, r.By, r.Sessions, r.N, r.First, r.FirstShare, r.Three, r.ThreeShare))
		}
		writeTable(b, rows)
	}
}

func (s *Set) recalledText(b *strings.Builder) {
	rows := [][]string{{"recall at a prompt", "half", "n", "given", "share", "held", "by chance",
		"tokens", "most"}}
	for _, r := range s.Recalled {
		rows = append(rows, cells(r.Of, r.Half, r.N, r.Given, r.Share, r.Held, r.Chance, r.Tokens,
			r.Most))
	}
	writeTable(b, rows)
}

// cells returns values as they are in a table. A nil is a dash.
func cells(values ...any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		if p, ok := v.(*stats.Milli); ok {
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

// writeTable writes an empty line, and rows in columns. The first column is aligned to the left,
// the others to the right.
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
