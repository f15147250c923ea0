package search

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// simply ranks documents by examining each of them.
func simply(docs []Doc, q *Query, o Options) []Hit {
	docs = slices.DeleteFunc(slices.Clone(docs),
		func(d Doc) bool { return o.Session != "" && d.Session != o.Session })
	n := len(docs)
	count := make([][]float64, n) // by document and term of the query
	df := make([]int, len(q.terms))
	texts := make([]simpleText, n)
	for i, d := range docs {
		texts[i] = simplyAnalysed(d.Text)
		count[i] = make([]float64, len(q.terms))
		for t, term := range q.terms {
			for _, p := range texts[i].counts {
				if p.term == term.term {
					count[i][t] = float64(p.count) / 2
					df[t]++
				}
			}
		}
	}
	named := simplyNamed(docs, count, q)
	weights, all := make([]float64, len(q.terms)), 0.0
	for t, term := range q.terms {
		weights[t] = float64(term.weight * Ln(1+float64(n)/float64(max(df[t], 1))))
		for author := range named {
			if slices.Contains(strings.Fields(strings.ToLower(author)), term.word) {
				weights[t] = float64(
					term.weight*Ln(1+float64(n)/float64(max(df[t], 1)))) * nameWeight
			}
		}
		all += weights[t]
	}
	own := make([][]float64, n)
	for i := range docs {
		own[i] = make([]float64, len(q.terms))
		for t, c := range count[i] {
			if c > 0 {
				own[i][t] = float64(weights[t] * saturate(uint8(2*c), lengthOf(texts[i].length)))
			}
		}
	}
	score := make([]float64, n)
	heard := make([]bool, n)
	for i, d := range docs {
		sum, has := 0.0, 0.0
		near := make([]float64, len(q.terms))
		for k, other := range docs {
			if k != i && other.Session == d.Session && distance(other.Seq, d.Seq) <= window {
				for t := range near {
					gives, hears := simplyClass(other, texts[k]).gives,
						simplyClass(d, texts[i]).hears
					decay := float64(
						float64(nearWeight*(1-float64(distance(other.Seq, d.Seq))/(window+1))) *
							float64(gives*hears))
					near[t] = max(near[t], float64(decay*own[k][t]))
				}
			}
		}
		for t := range q.terms {
			if own[i][t] > 0 {
				sum += own[i][t]
				has += weights[t]
				heard[i] = true
				near[t] = max(0, near[t]-float64(ownCounts*own[i][t]))
			}
		}
		for _, v := range near {
			sum += v
		}
		score[i] = float64(
			float64(sum*simplyFactor(d, texts[i], q, named)) * (1 - coverPart +
				float64(coverPart*has)/all))
	}
	hits := simplyBest(docs, texts, q, score, heard, o)
	return append(hits, simplyWhole(docs, texts, q, own, score, hits, o)...)
}

// simplyWhole returns the spare hits: of the documents with every term those that are most like the
// query, and that no hit has the words of.
func simplyWhole(
	docs []Doc, texts []simpleText, q *Query, own [][]float64, score []float64, hits []Hit,
	o Options,
) []Hit {
	var order []int
	like, equal := make([]float64, len(docs)), make([]bool, len(docs))
	for i, d := range docs {
		if o.Whole == 0 || slices.Contains(own[i][:q.own()], 0) || !simplyAdmits(d, o) {
			continue
		}
		sum := 0.0
		for _, v := range own[i][:q.own()] {
			sum += v
		}
		like[i] = sum
		if equal[i] = texts[i].length == q.length && printOf(d.Text) == q.print; equal[i] {
			like[i] = math.Inf(1)
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(like[b], like[a]), cmp.Compare(docs[b].Seq, docs[a].Seq),
			bytes.Compare(docs[a].ID[:], docs[b].ID[:]))
	})
	known := map[uint64]bool{}
	for i := range hits {
		d := docs[slices.IndexFunc(docs,
			func(d Doc) bool { return d.ID == hits[i].ID && d.Version == hits[i].Version })]
		known[printOf(d.Text)] = true
		if i := slices.IndexFunc(docs,
			func(o Doc) bool { return o.ID == d.ID && o.Version == d.Version }); equal[i] {
			hits[slices.IndexFunc(hits,
				func(h Hit) bool { return h.ID == d.ID && h.Version == d.Version })].Equal = true
		}
	}
	var spare []Hit
	at := map[uint64]int{}
	for _, i := range order {
		d := docs[i]
		print := printOf(d.Text)
		k, copied := at[print]
		switch {
		case known[print]:
		case copied:
			spare[k].Copies = append(spare[k].Copies,
				Hit{ID: d.ID, Version: d.Version, Session: d.Session, Seq: d.Seq})
		case len(spare) < o.Whole:
			at[print] = len(spare)
			spare = append(spare,
				Hit{ID: d.ID, Version: d.Version, Session: d.Session, Seq: d.Seq, Score: score[i],
					Spare: true, Equal: equal[i]})
		}
	}
	return simplyNewest(docs, spare)
}

// simplyAdmits reports whether the options admit a document.
func simplyAdmits(d Doc, o Options) bool {
	return (o.Except == "" || d.Session != o.Except) && (o.Role == "" || d.Role == o.Role) &&
		!d.Time.Before(o.Since) && (o.Until.IsZero() || d.Time.Before(o.Until))
}

func simplyNamed(docs []Doc, count [][]float64, q *Query) map[string]bool {
	most, named := minNamed, map[string]bool{}
	for i, d := range docs {
		share := q.shareOf(d.Author)
		if slices.Max(append([]float64{0}, count[i]...)) == 0 || share < most {
			continue
		}
		if share > most {
			most, named = share, map[string]bool{}
		}
		named[d.Author] = true
	}
	return named
}

func simplyFactor(d Doc, a simpleText, q *Query, named map[string]bool) float64 {
	length := lengthOf(a.length)
	factor := 1 + float64(longGain*min(length, enough))/enough
	if length < short {
		factor = float64(factor * (1 - float64(shortLoss*(1-length/short))))
	}
	if named[d.Author] {
		factor = float64(factor * (1 + authorGain))
	}
	if q.attr&attrNumber != 0 && a.number || q.attr&attrWhen != 0 && a.when {
		factor = float64(factor * (1 + wantGain))
	}
	if d.Role == "user" {
		factor = float64(factor * (1 + userGain))
		if q.asker {
			factor = float64(factor * (1 + askerGain*min(1, saidLength/max(length, 1))))
		}
	}
	if a.question {
		factor = float64(factor * (1 - questionLoss))
	}
	return float64(factor * simplyClass(d, a).factor)
}

func simplyClass(d Doc, a simpleText) class {
	attr := uint8(max(0, slices.Index(roles[:], d.Role)))
	if d.Note {
		attr |= attrNote
	}
	if d.Calls {
		attr |= attrCall
	}
	return classOf(attr, lengthOf(a.length))
}

func simplyBest(
	docs []Doc, texts []simpleText, q *Query, score []float64, heard []bool, o Options,
) []Hit {
	order := make([]int, len(docs))
	for i := range order {
		order[i] = i
	}
	sessionThenID := func(a, b int) int {
		return cmp.Or(strings.Compare(docs[a].Session, docs[b].Session),
			bytes.Compare(docs[a].ID[:], docs[b].ID[:]))
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(docs[b].Seq, docs[a].Seq),
			sessionThenID(a, b))
	})
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(docs[b].Seq, docs[a].Seq),
			bytes.Compare(docs[a].ID[:], docs[b].ID[:]))
	})
	var hits []Hit
	seen := map[uint64]int{}
	for _, i := range order {
		d := docs[i]
		if heard[i] && simplyAdmits(d, o) && score[i] > 0 {
			print := printOf(d.Text)
			if at, ok := seen[print]; ok && print != 0 {
				if has := slices.ContainsFunc(q.terms, func(t queryTerm) bool {
					return slices.ContainsFunc(texts[i].counts,
						func(p termCount) bool { return p.term == t.term })
				}); has {
					hits[at].Copies = append(hits[at].Copies,
						Hit{ID: d.ID, Version: d.Version, Session: d.Session, Seq: d.Seq})
				}
				continue
			}
			seen[print] = len(hits)
			hits = append(hits,
				Hit{ID: d.ID, Version: d.Version, Session: d.Session, Seq: d.Seq, Score: score[i]})
		}
	}
	return simplyNewest(docs, hits[:min(len(hits), o.Limit)])
}

// simplyNewest replaces each best hit by the newest of the documents with the same words.
func simplyNewest(docs []Doc, hits []Hit) []Hit {
	doc := func(h Hit) Doc {
		return docs[slices.IndexFunc(docs,
			func(d Doc) bool { return d.ID == h.ID && d.Version == h.Version })]
	}
	for i, h := range hits {
		all := append([]Hit{{ID: h.ID, Version: h.Version, Session: h.Session, Seq: h.Seq}},
			h.Copies...)
		slices.SortFunc(all, func(a, b Hit) int {
			x, y := doc(a), doc(b)
			return cmp.Or(compareBool(x.Note, y.Note), y.Time.Compare(x.Time),
				bytes.Compare(x.ID[:], y.ID[:]))
		})
		all[0].Score, all[0].Spare, all[0].Equal, all[0].Copies = h.Score, h.Spare, h.Equal, all[1:]
		hits[i] = all[0]
	}
	return hits
}

// simpleText is an analysed text with its terms, sorted.
type simpleText struct {
	analysed
	counts []termCount
}

// termCount is one term of a document, and its count as in posting.
type termCount struct {
	term  uint64
	count uint8
}

// simplyAnalysed is Builder.analyse for a single text.
func simplyAnalysed(text string) simpleText {
	text = cutText(text)
	var found []termCount
	var a simpleText
	length := 0
	scan(new(terms.Scanner), Fold(text), func(t terms.Token, word string) {
		n := uint8(2)
		if t.Kind == terms.Part {
			n = 1
		} else {
			length++
			a.number = a.number || t.Kind == terms.Number
			a.when = a.when || tellsTime(word)
		}
		found = append(found, termCount{term: t.Term, count: n})
	})
	slices.SortFunc(found, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	kept := found[:0]
	for _, p := range found {
		if n := len(kept); n > 0 && kept[n-1].term == p.term {
			kept[n-1].count = uint8(min(int(kept[n-1].count)+int(p.count), maxCount))
		} else {
			kept = append(kept, p)
		}
	}
	if len(kept) > maxTerms {
		slices.SortFunc(kept, func(a, b termCount) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.term, b.term))
		})
		kept = kept[:maxTerms]
		slices.SortFunc(kept, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	}
	a.counts, a.length = kept, lengthClass(length)
	a.question = isQuestion(text)
	return a
}
