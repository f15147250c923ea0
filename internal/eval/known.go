package eval

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/eval/baseline"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/report"
)

// knownHits is the number of hits in which a prompt is looked for.
const knownHits = 10

// known searches for the sampled prompts by their own words.
func (b *library) known() ([]report.Known, error) {
	texts := make([]string, len(b.said))
	for i, m := range b.said {
		texts[i] = m.text
	}
	index := baseline.NewBM25(texts)
	rows := []report.Known{{By: bySearch}, {By: byBM25}}
	for _, p := range b.asked {
		hits, err := b.find(p.text, knownHits)
		if err != nil {
			return nil, err
		}
		var found, ranked []string
		for _, h := range hits {
			found = append(found, h.Text)
		}
		for _, i := range index.Rank(p.text) {
			ranked = append(ranked, texts[i])
		}
		rows[0].Add(slices.Index(found, p.text))
		rows[1].Add(slices.Index(ranked[:min(len(ranked), knownHits)], p.text))
	}
	if rows[0].N == 0 {
		return nil, nil
	}
	return rows, nil
}

// What is searched for.
const (
	ofPrompts   = "prompts"   // by their exact words
	ofQuestions = "questions" // of facts
)

// bySessionBM25 ranks sessions as one text each.
const bySessionBM25 = "BM25 of sessions"

// sessionSearch searches for the sessions of the sampled prompts and of facts. With fewer than two
// sessions it returns nil.
func (b *library) sessionSearch(facts []corpus.Fact) ([]report.SessionSearch, error) {
	if len(b.sessions) < 2 {
		return nil, nil
	}
	whole := make([]string, len(b.sessions))
	for i, name := range b.sessions {
		var texts []string
		for _, m := range b.said {
			if m.session == name {
				texts = append(texts, m.text)
			}
		}
		whole[i] = strings.Join(texts, "\n")
	}
	index := baseline.NewBM25(whole)
	var list []report.SessionSearch
	for _, of := range []string{ofPrompts, ofQuestions} {
		rows := []report.SessionSearch{
			{Of: of, By: bySearch, Sessions: len(b.sessions)},
			{Of: of, By: bySessionBM25, Sessions: len(b.sessions)},
		}
		for _, q := range b.sessionQueries(of, facts) {
			names, err := b.sessionsFor(q.text)
			if err != nil {
				return nil, err
			}
			var ranked []string
			for _, i := range index.Rank(q.text) {
				ranked = append(ranked, b.sessions[i])
			}
			rows[0].Add(b.rankOf(names, q, of))
			rows[1].Add(b.rankOf(ranked, q, of))
		}
		if rows[0].N > 0 {
			list = append(list, rows...)
		}
	}
	return list, nil
}

// sessionQueries returns the texts to search for, each with its session.
func (b *library) sessionQueries(of string, facts []corpus.Fact) []shelved {
	if of == ofPrompts {
		return b.asked
	}
	var list []shelved
	for _, f := range facts {
		if name, ok := b.of[f.Conversation]; ok {
			list = append(list, shelved{name, f.Query})
		}
	}
	return list
}

// sessionsFor returns the sessions that a search finds, in the order of their best hits.
func (b *library) sessionsFor(text string) ([]string, error) {
	hits, err := b.find(text, deepest)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, h := range hits {
		if !slices.Contains(names, h.Session) {
			names = append(names, h.Session)
		}
	}
	return names, nil
}

// rankOf returns the place of the first right session, or -1. For a prompt, each session in which
// it was said is right.
func (b *library) rankOf(names []string, q shelved, of string) int {
	return slices.IndexFunc(names, func(name string) bool {
		return name == q.session ||
			of == ofPrompts && slices.Contains(b.said, shelved{name, q.text})
	})
}
