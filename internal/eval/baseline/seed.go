package baseline

import (
	"math"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/search"
)

// The seed is the union-find compaction that its authors built for Gemini CLI, and that ctx is
// compared with. A message has a TF-IDF vector, which never changes after the message has arrived.
// It joins the nearest cluster, and while there are too many clusters, the closest two are merged.
// This code behaves like the original, with its faults: testdata/seed.json holds a trace of that.

// seedOptions are the settings of the seed. seedDefaults returns those that it shipped with.
type seedOptions struct {
	GraduateAt      int     // messages that stay hot before the oldest graduates
	EvictAt         int     // messages that are shown verbatim; GraduateAt or more
	MaxColdClusters int     // more than that, and the closest two are merged
	MergeThreshold  float64 // cosine from which a message joins a cluster
}

func seedDefaults() seedOptions {
	return seedOptions{GraduateAt: 26, EvictAt: 30, MaxColdClusters: 10, MergeThreshold: 0.15}
}

// seedTerms returns the runs of ASCII letters and digits of a text, in lower case.
func seedTerms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// seedVectors makes TF-IDF vectors with the frequencies of the texts so far.
type seedVectors struct {
	terms map[string]int // places in a vector, in the order of first mention
	df    []int
	docs  int
}

// embed counts a text and returns its vector. It does not count a text without terms.
func (v *seedVectors) embed(text string) []float64 {
	words := seedTerms(text)
	if len(words) == 0 {
		return make([]float64, max(len(v.df), 1))
	}
	if v.terms == nil {
		v.terms = map[string]int{}
	}
	seen := map[string]bool{}
	v.docs++
	for _, w := range words {
		if _, ok := v.terms[w]; !ok {
			v.terms[w] = len(v.df)
			v.df = append(v.df, 0)
		}
		if !seen[w] {
			seen[w] = true
			v.df[v.terms[w]]++
		}
	}
	return v.query(text)
}

// query returns the vector of a text without counting it. Unknown terms have no place in the
// vector, but count in the length of the text.
func (v *seedVectors) query(text string) []float64 {
	words := seedTerms(text)
	out := make([]float64, max(len(v.df), 1))
	counts := map[int]int{}
	var places []int
	for _, w := range words {
		at, ok := v.terms[w]
		if !ok {
			continue
		}
		if counts[at] == 0 {
			places = append(places, at)
		}
		counts[at]++
	}
	sum := 0.0
	slices.Sort(places)
	for _, at := range places {
		tf := float64(counts[at]) / float64(len(words))
		out[at] = float64(tf * search.Ln(1+float64(v.docs)/float64(v.df[at])))
		sum += float64(out[at] * out[at])
	}
	if sum > 0 {
		norm := math.Sqrt(sum)
		for _, at := range places {
			out[at] /= norm
		}
	}
	return out
}

// cosine returns the cosine of two vectors. Missing dimensions are zero.
func cosine(a, b []float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		aa += float64(a[i] * a[i])
		if i < len(b) {
			dot += float64(a[i] * b[i])
		}
	}
	for i := range b {
		bb += float64(b[i] * b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / float64(math.Sqrt(aa)*math.Sqrt(bb))
}

// seedWindow is the original's context window: hot messages in front of a forest.
type seedWindow struct {
	o         seedOptions
	vectors   seedVectors
	texts     []string
	embedded  [][]float64 // of the messages that are hot
	hot       int         // the oldest message that is hot
	graduated int         // messages that graduated: the first so many

	parent    []int
	rank      []int
	children  [][]int // of each root, its members in order of arrival at the root
	centroids [][]float64
	roots     []int // in the order the original keeps them: of insertion
}

func newSeedWindow(o seedOptions) *seedWindow { return &seedWindow{o: o} }

// append adds a message. Its id is its place, from 0.
func (w *seedWindow) append(text string) {
	w.texts = append(w.texts, text)
	w.embedded = append(w.embedded, w.vectors.embed(text))
	for len(w.texts)-w.graduated > w.o.GraduateAt {
		w.graduate()
	}
	w.hot = max(w.hot, len(w.texts)-w.o.EvictAt)
}

// graduateRest graduates all hot messages.
func (w *seedWindow) graduateRest() {
	for w.graduated < len(w.texts) {
		w.graduate()
	}
}

// graduate inserts the oldest hot message, joins it to the nearest cluster, and merges the closest
// clusters above the cap.
func (w *seedWindow) graduate() {
	id := w.graduated
	w.graduated++
	w.parent = append(w.parent, id)
	w.rank = append(w.rank, 0)
	w.children = append(w.children, []int{id})
	vector := w.embedded[id]
	w.embedded[id] = nil // its cluster has it, or a mean of it
	w.centroids = append(w.centroids, vector)
	w.roots = append(w.roots, id)
	if len(w.roots) > 1 {
		for _, near := range w.nearest(vector, 2, math.Inf(-1)) {
			if near == id {
				continue
			}
			if cosine(vector, w.centroids[near]) >= w.o.MergeThreshold {
				w.union(id, near)
			}
			break
		}
	}
	for len(w.roots) > w.o.MaxColdClusters {
		a, b := w.closest()
		w.union(a, b)
	}
}

// find returns the root of a message, and shortens the path to it.
func (w *seedWindow) find(id int) int {
	for w.parent[id] != id {
		w.parent[id] = w.parent[w.parent[id]]
		id = w.parent[id]
	}
	return id
}

// union merges two clusters by rank. At equal ranks the root of the first one stays.
func (w *seedWindow) union(a, b int) {
	a, b = w.find(a), w.find(b)
	if a == b {
		return
	}
	members := append(slices.Clone(w.children[a]), w.children[b]...)
	na, nb := float64(len(w.children[a])), float64(len(w.children[b]))
	center := make([]float64, max(len(w.centroids[a]), len(w.centroids[b])))
	for i := range center {
		center[i] = (float64(at(w.centroids[a], i)*na) + float64(at(w.centroids[b], i)*nb)) / (na +
			nb)
	}
	root, lost := a, b
	if w.rank[a] < w.rank[b] {
		root, lost = b, a
	} else if w.rank[a] == w.rank[b] {
		w.rank[a]++
	}
	w.parent[lost] = root
	w.children[lost], w.centroids[lost] = nil, nil
	w.children[root], w.centroids[root] = members, center
	w.roots = slices.DeleteFunc(w.roots, func(r int) bool { return r == lost })
}

func at(v []float64, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// nearest returns up to k roots whose cosine with a vector is at least least, the highest first.
func (w *seedWindow) nearest(to []float64, k int, least float64) []int {
	type near struct {
		root  int
		score float64
	}
	var list []near
	for _, r := range w.roots {
		if s := cosine(to, w.centroids[r]); s >= least {
			list = append(list, near{r, s})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var out []int
	for _, n := range list[:min(k, len(list))] {
		out = append(out, n.root)
	}
	return out
}

// closest returns the two clusters with the highest cosine, and of equal pairs the first.
func (w *seedWindow) closest() (a, b int) {
	best := math.Inf(-1)
	for i, r := range w.roots {
		for _, s := range w.roots[i+1:] {
			if like := cosine(w.centroids[r], w.centroids[s]); like > best {
				best, a, b = like, r, s
			}
		}
	}
	return a, b
}

// cold returns the roots of the clusters that stand for their messages in a rendering: those with a
// member that is not hot. They are in the order of their newest members.
func (w *seedWindow) cold() []int {
	oldest := func(root int) int { return slices.Min(w.children[root]) }
	newest := func(root int) int { return slices.Max(w.children[root]) }
	roots := slices.DeleteFunc(slices.Clone(w.roots),
		func(r int) bool { return oldest(r) >= w.hot })
	slices.SortFunc(roots, func(a, b int) int { return newest(a) - newest(b) })
	return roots
}

// SeedResult is a conversation as the seed renders it.
type SeedResult struct {
	Clusters  [][]int // the places of their messages, in order
	Graduated int     // number of messages in clusters; they are the first ones
	Hot       int     // place from which on messages are shown in full
}

// Seed runs the seed on the messages of a conversation.
func Seed(texts []string) SeedResult {
	w := newSeedWindow(seedDefaults())
	for _, text := range texts {
		w.append(text)
	}
	out := SeedResult{Graduated: w.graduated, Hot: w.hot}
	for _, r := range w.cold() {
		out.Clusters = append(out.Clusters, slices.Sorted(slices.Values(w.children[r])))
	}
	return out
}

// seedClusters returns the clusters of the seed after all messages have graduated.
func seedClusters(m []corpus.Message) []int {
	w := newSeedWindow(seedDefaults())
	for i := range m {
		w.append(m[i].Text)
	}
	w.graduateRest()
	out := make([]int, len(m))
	for i := range out {
		out[i] = w.find(i)
	}
	return out
}
