package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// choice is one decision: the signs of the options, of which the first is the correct one.
type choice []vector

// The fit is a conditional logistic regression: the correct option is chosen with the probability
// exp(score) / sum of exp(score of each option). A penalty of ridge/2 for each weight squared keeps
// a sign that never matters at 0.
const (
	ridge    = 1.0
	maxSteps = 50
	settled  = 1e-6 // the largest change of a weight in the last step
)

// fit returns the weights that make the correct options of all choices most probable. It takes
// Newton's steps, halved where one would make things worse.
func fit(choices []choice) (w [numSigns]float64) {
	at := loss(choices, w)
	for range maxSteps {
		gradient, hessian := slopes(choices, w)
		step := solve(hessian, gradient)
		next, worth := w, math.Inf(1)
		for share := 1.0; share > 1e-9; share /= 2 {
			for i := range w {
				next[i] = w[i] - share*step[i]
			}
			if worth = loss(choices, next); worth <= at {
				break
			}
		}
		moved := 0.0
		for i := range w {
			moved = max(moved, math.Abs(next[i]-w[i]))
		}
		if worth > at || moved < settled {
			return w
		}
		w, at = next, worth
	}
	return w
}

// loss is the negative logarithm of the probability of all correct options, with the penalty.
func loss(choices []choice, w [numSigns]float64) float64 {
	sum := 0.0
	for _, x := range w {
		sum += ridge / 2 * x * x
	}
	for _, c := range choices {
		p := probabilities(c, w)
		sum -= math.Log(max(p[0], 1e-300))
	}
	return sum
}

func probabilities(c choice, w [numSigns]float64) []float64 {
	p, most := make([]float64, len(c)), math.Inf(-1)
	for i := range c {
		for s, x := range c[i] {
			if x != 0 {
				p[i] += w[s] * float64(x) / one
			}
		}
		most = max(most, p[i])
	}
	sum := 0.0
	for i := range p {
		p[i] = math.Exp(p[i] - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// slopes returns the first and second derivatives of the loss.
func slopes(choices []choice, w [numSigns]float64) (g [numSigns]float64, h [][]float64) {
	h = make([][]float64, numSigns)
	for i := range h {
		h[i] = make([]float64, numSigns)
		h[i][i], g[i] = ridge, ridge*w[i]
	}
	for _, c := range choices {
		p := probabilities(c, w)
		var mean [numSigns]float64
		for i := range c {
			for s, x := range c[i] {
				mean[s] += p[i] * float64(x) / one
			}
		}
		for s := range g {
			g[s] += mean[s] - float64(c[0][s])/one
		}
		for i := range c {
			for a, x := range c[i] {
				d := float64(x)/one - mean[a]
				for b := range a + 1 {
					h[a][b] += p[i] * d * (float64(c[i][b])/one - mean[b])
				}
			}
		}
	}
	for a := range h {
		for b := range a {
			h[b][a] = h[a][b]
		}
	}
	return g, h
}

// solve returns x with h x = g, by Gauss with pivots. The penalty makes h regular.
func solve(h [][]float64, g [numSigns]float64) [numSigns]float64 {
	for col := range h {
		pivot := col
		for row := col; row < len(h); row++ {
			if math.Abs(h[row][col]) > math.Abs(h[pivot][col]) {
				pivot = row
			}
		}
		h[col], h[pivot] = h[pivot], h[col]
		g[col], g[pivot] = g[pivot], g[col]
		for row := col + 1; row < len(h); row++ {
			f := h[row][col] / h[col][col]
			for i := col; i < len(h); i++ {
				h[row][i] -= f * h[col][i]
			}
			g[row] -= f * g[col]
		}
	}
	for row := len(h) - 1; row >= 0; row-- {
		for i := row + 1; i < len(h); i++ {
			g[row] -= h[row][i] * g[i]
		}
		g[row] /= h[row][row]
	}
	return g
}

// TestFitFindsWeights draws choices by known weights, and wants them back.
func TestFitFindsWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	var want [numSigns]float64
	for i := range want {
		want[i] = float64(r.IntN(9)-4) / 2
	}
	var choices []choice
	for range 4000 {
		c := make(choice, 2+r.IntN(5))
		for i := range c {
			for s := range c[i] {
				if r.IntN(3) == 0 {
					c[i][s] = r.IntN(2 * one)
				}
			}
		}
		p, dice := probabilities(c, want), r.Float64()
		for i := range p {
			if dice -= p[i]; dice < 0 {
				c[0], c[i] = c[i], c[0]
				break
			}
		}
		choices = append(choices, c)
	}
	for i, got := range fit(choices) {
		if math.Abs(got-want[i]) > 0.35 {
			t.Errorf("sign %d: %.2f, drawn by %.2f", i, got, want[i])
		}
	}
}

// labelled is a conversation as units.
type labelled struct {
	name   string
	said   []Features
	topics []int // of the messages; -1 has no label
	units  [][2]int
	size   map[int]int // messages of a topic
}

// labelledOf reads a conversation. An exchange begins with what a user says; without a model every
// message is a unit, as in a store.
func labelledOf(name string, m []corpus.Message) labelled {
	t := labelled{name: name, size: map[int]int{}}
	topics, exchanges := map[string]int{}, false
	for i := range m {
		exchanges = exchanges || m[i].Role != "user" || m[i].Author == ""
		when, _ := m[i].When()
		f := Message{Conversation: m[i].Conversation, Role: m[i].Role, Author: m[i].Author,
			Time: when, Text: m[i].Text}
		for _, c := range m[i].Calls {
			f.Calls = append(f.Calls, c.Name)
		}
		topic := -1
		if m[i].Topic != "" {
			if _, ok := topics[m[i].Topic]; !ok {
				topics[m[i].Topic] = len(topics)
			}
			topic = topics[m[i].Topic]
			t.size[topic]++
		}
		t.said, t.topics = append(t.said, Of(f)), append(t.topics, topic)
	}
	for i := range m {
		if i == 0 || !exchanges || m[i].Role == "user" {
			t.units = append(t.units, [2]int{i, i})
		}
		t.units[len(t.units)-1][1] = i + 1
	}
	return t
}

// ahead is how many later messages a store shows to Place.
const aheadOfPlace = 26

// replay walks through the talk. Each unit goes to its correct cluster, or with own where the
// weights put it. It returns a choice for each unit that has a label and more than one option, and
// the B-cubed F of the clusters.
func (t labelled) replay(own bool) (choices []choice, f float64) {
	c, counts, placed := &Candidates{}, map[uint64]map[int]int{}, make([]int, len(t.said))
	topicHome := map[int]uint64{}
	next := uint64(1)
	for _, u := range t.units {
		unit := t.said[u[0]:u[1]]
		ahead := t.said[u[1]:min(u[1]+aheadOfPlace, len(t.said))]
		topic := t.topics[u[0]]
		s := c.scene(unit, ahead)
		right := t.best(c, counts, topic, u[1]-u[0])
		if !own {
			right = topicHome[topic]
		}
		if topic >= 0 && len(c.clusters) > 0 && !s.meeting(ahead) {
			if k := options(c, s, right); k != nil {
				choices = append(choices, k)
			}
		}
		to := topicHome[topic]
		if own {
			to = 0
			if n, joined := c.Place(unit, ahead, 0.5); joined {
				to = n
			}
		}
		if to == 0 {
			to, next = next, next+1
		}
		if topic >= 0 {
			topicHome[topic] = to
		}
		c.Touch(to, unit)
		if counts[to] == nil {
			counts[to] = map[int]int{}
		}
		for i := u[0]; i < u[1]; i++ {
			placed[i] = int(to)
			if t.topics[i] >= 0 {
				counts[to][t.topics[i]]++
			}
		}
	}
	var gold, pred []int
	for i, topic := range t.topics {
		if topic >= 0 {
			gold, pred = append(gold, topic), append(pred, placed[i])
		}
	}
	return choices, stats.BCubed(gold, pred).F
}

// best returns the candidate that is best for B-cubed, or 0 for a new cluster. It compares what a
// unit of so many messages that joins adds to the sums of precision and recall.
func (t labelled) best(
	c *Candidates, counts map[uint64]map[int]int, topic, messages int,
) uint64 {
	if topic < 0 {
		return 0
	}
	of, m := float64(t.size[topic]), float64(messages)
	best, most := uint64(0), m+m*m/of
	for _, k := range c.clusters {
		n, squares := 0, 0
		for _, x := range counts[k.number] {
			n, squares = n+x, squares+x*x
		}
		if n == 0 {
			continue
		}
		more := 2*float64(counts[k.number][topic])*m + m*m
		gain := (float64(squares)+more)/(float64(n)+m) - float64(squares)/float64(n) + more/of
		if gain > most {
			best, most = k.number, gain
		}
	}
	return best
}

// options returns the signs of a new cluster and of each candidate, the correct one first. It is
// nil if the correct cluster is no candidate any more.
func options(c *Candidates, s *scene, right uint64) choice {
	list := choice{s.open()}
	at := 0
	for i := range c.clusters {
		if c.clusters[i].number == right {
			at = len(list)
		}
		list = append(list, s.join(i))
	}
	if right != 0 && at == 0 {
		return nil
	}
	list[0], list[at] = list[at], list[0]
	return list
}

// sets reads the planted and the spliced talk, and *-dev.messages.jsonl of a folder.
func sets(t *testing.T, dir string) map[string][]labelled {
	planted, _ := corpus.Planted()
	all := map[string][]corpus.Message{"planted": planted}
	agents := corpus.Conversations(corpus.Agents())
	for seed := range uint64(6) {
		all["spliced"] = append(all["spliced"], corpus.Splice(agents, 1+seed, 6)...)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*-dev.messages.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no *-dev.messages.jsonl: %v", dir, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		if all[name[:len(name)-len(".messages.jsonl")]], err = corpus.Read(f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = f.Close()
	}
	out := map[string][]labelled{}
	for name, messages := range all {
		for _, m := range corpus.Conversations(messages) {
			if one := labelledOf(name, corpus.Live(m)); len(one.size) > 0 {
				out[name] = append(out[name], one)
			}
		}
	}
	return out
}

// setNames fixes an order: the sum of floating-point numbers depends on it.
var setNames = []string{"planted", "spliced", "irc-dev", "gitter-dev", "qmsum-dev", "threads-dev"}

// TestFitWeights fits the weights anew on the labelled talk in the folder CTX_FIT, as the package
// comment says: on correct clusters, then twice on clusters of the fit before. It prints them
// beside those in use, and the B-cubed F of both on each set. Somebody who changes a sign begins
// here.
//
//	CTX_FIT=DIR go test ./forest/score -run TestFitWeights -v
func TestFitWeights(t *testing.T) {
	dir := os.Getenv("CTX_FIT")
	if dir == "" {
		t.Skip("CTX_FIT names no folder with labelled talk")
	}
	all, inUse := sets(t, dir), weights
	defer func() { weights = inUse }()
	before := measure(all)
	var fitted [numSigns]float64
	var choices []choice
	for stage := range 3 {
		for _, name := range setNames {
			for _, one := range all[name] {
				more, _ := one.replay(stage > 0)
				choices = append(choices, more...)
			}
		}
		fitted = fit(choices)
		for i, w := range fitted {
			weights[i] = int(math.Round(w * one))
		}
		t.Logf("stage %d: %d choices, loss %.1f; %v", stage+1, len(choices), loss(choices, fitted),
			measure(all))
	}
	t.Logf("in use: %v", before)
	for i := range fitted {
		t.Logf("sign %2d: in use %6.2f, fitted %6.2f", i, float64(inUse[i])/one, fitted[i])
	}
}

// measure returns the mean B-cubed F of each set under the weights of now.
func measure(all map[string][]labelled) string {
	out := ""
	for _, name := range setNames {
		sum := 0.0
		for _, one := range all[name] {
			_, f := one.replay(true)
			sum += f
		}
		if n := len(all[name]); n > 0 {
			out += fmt.Sprintf("%s %.3f ", name, sum/float64(n))
		}
	}
	return out
}
