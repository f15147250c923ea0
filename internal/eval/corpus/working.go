package corpus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The size of a conversation that Working makes.
const (
	workingMessages = 200
	workingFacts    = 40
)

// Working generates n conversations between a user and a model about everyday work, and one
// question for each planted fact. A conversation has 200 messages of one to three sentences. In 40
// of them one sentence states a fact: a port, a date, a person, a decision, a version, a path, a
// limit or a name. All other sentences are filler about the same things. An answer occurs in one
// message of its conversation, which is the evidence.
//
// The result depends on the arguments alone and is the same on every platform.
func Working(seed uint64, n int) ([]Message, []Fact) {
	var messages []Message
	var facts []Fact
	for i := range n {
		w := &worker{
			// the golden ratio: any constant would do
			r:    rand.New(rand.NewPCG(seed+uint64(i), 0x9e3779b97f4a7c15)),
			name: fmt.Sprintf("working/%d", seed+uint64(i)),
		}
		m, f := w.conversation()
		messages, facts = append(messages, m...), append(facts, f...)
	}
	return messages, facts
}

// worker generates one conversation.
type worker struct {
	r      *rand.Rand
	name   string
	things []string // what the conversation is about: the subjects of its facts
	used   []string // answers that were given out
	recent []int    // filler shapes that were used last, which are passed over
}

// planted is a fact that waits for its message.
type planted struct {
	query, answer, sentence string
}

func (w *worker) conversation() ([]Message, []Fact) {
	list := w.plant()
	w.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	at := map[int]planted{}
	for i, place := range w.r.Perm(workingMessages)[:len(list)] {
		at[place] = list[i]
	}
	var messages []Message
	var facts []Fact
	clock := time.Date(2026, 4, 6, 8, 30, 0, 0, time.UTC)
	role := roleUser
	for seq := range workingMessages {
		clock = clock.Add(time.Duration(20+w.r.IntN(220)) * time.Second)
		fact, ok := at[seq]
		var sentences []string
		for range 1 + w.r.IntN(3) {
			sentences = append(sentences, w.filler(role))
		}
		if ok {
			sentences[w.r.IntN(len(sentences))] = fact.sentence
			facts = append(facts, Fact{
				Conversation: w.name, Query: fact.query, Answer: fact.answer,
				Evidence: []int{seq}, Kind: Plain,
			})
		}
		messages = append(messages, Message{
			Conversation: w.name, Seq: seq, Role: role, Author: authorOf(role),
			Time: clock.Format(time.RFC3339), Text: strings.Join(sentences, " "),
		})
		if w.r.IntN(8) > 0 { // now and then somebody speaks twice
			role = other(role)
		}
	}
	return messages, facts
}

const (
	roleUser  = "user"
	roleModel = "model"
)

func other(role string) string {
	if role == roleUser {
		return roleModel
	}
	return roleUser
}

func authorOf(role string) string {
	if role == roleUser {
		return "ruben"
	}
	return roleModel
}

// plant chooses the facts: as many of every kind, each with a subject and a shape of its own.
func (w *worker) plant() []planted {
	kinds := factKinds()
	each := workingFacts / len(kinds)
	var list []planted
	for _, k := range kinds {
		subjects, shapes := w.r.Perm(len(k.subjects)), w.r.Perm(len(k.shapes))
		for i := range each {
			subject := "the " + pick1(w.r, modifiers()) + " " + k.subjects[subjects[i]]
			w.things = append(w.things, subject)
			answer := w.answer(k)
			fill := strings.NewReplacer("{s}", subject, "{v}", answer)
			list = append(list, planted{
				query: fill.Replace(k.query), answer: answer,
				sentence: sentence(fill.Replace(k.shapes[shapes[i]])),
			})
		}
	}
	return list
}

// answer draws a value that is no part of another fact's, and has none for a part.
func (w *worker) answer(k factKind) string {
	for {
		v := k.value(w.r)
		overlaps := func(u string) bool { return strings.Contains(u, v) || strings.Contains(v, u) }
		if slices.ContainsFunc(w.used, overlaps) {
			continue
		}
		w.used = append(w.used, v)
		return v
	}
}

// fillerMemory is how many shapes of filler go by before one comes again.
const fillerMemory = 24

// filler is a sentence that states nothing anybody would ask for.
func (w *worker) filler(role string) string {
	shapes, offset := userFiller(), 0
	if role == roleModel {
		shapes, offset = modelFiller(), 1000
	}
	at := w.r.IntN(len(shapes))
	for slices.Contains(w.recent, offset+at) {
		at = w.r.IntN(len(shapes))
	}
	w.recent = append(w.recent, offset+at)
	w.recent = w.recent[max(0, len(w.recent)-fillerMemory):]
	fill := strings.NewReplacer(
		"{s}", pick1(w.r, w.things), "{t}", pick1(w.r, w.things),
		"{a}", pick1(w.r, moods()), "{w}", pick1(w.r, moments()),
		"{n}", fmt.Sprint(2+w.r.IntN(17)),
	)
	return sentence(fill.Replace(shapes[at]))
}

// sentence gives a text its capital letter. Texts that begin with a path keep what they have.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s == "" || strings.ContainsAny(first, "/_-") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func pick1(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }
