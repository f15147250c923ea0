package sharing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// ring is three stores, each of which has a remote with each of the others.
type ring struct {
	*testing.T
	*rand.Rand
	list    []*party
	remotes []string
	said    map[*party][]saying
	amended map[format.ID]bool
	did     map[string]int // what happened, for the log of the test
}

type saying struct {
	session string
	id      format.ID
}

// Three stores in a ring say, compact, fork, amend, rewind, join and forget, and push and pull in
// any order. Once all have pushed and pulled, all have the same sessions, members, forests and
// search results. CTX_RING=200 tries that many histories, which are longer.
func TestRing(t *testing.T) {
	histories, steps, many := 6, 80, os.Getenv("CTX_RING")
	if many != "" {
		var err error
		if histories, err = strconv.Atoi(many); err != nil {
			t.Fatal(err)
		}
		steps = 200
	}
	for seed := range histories {
		if many == "" && !thirds.Mine(t, seed) {
			continue
		}
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			w := &ring{
				T: t, Rand: rand.New(rand.NewPCG(uint64(seed), 3)),
				said: map[*party][]saying{}, amended: map[format.ID]bool{}, did: map[string]int{},
				list:    []*party{newParty(t, "one"), newParty(t, "two"), newParty(t, "three")},
				remotes: []string{place(t), place(t), place(t)},
			}
			for n := range steps {
				w.step(n)
			}
			w.settle()
			w.agree()
			t.Log(w.did)
		})
	}
}

// step lets one of the stores do something.
func (w *ring) step(n int) {
	i := w.IntN(3)
	p, r := w.list[i], w.remotes[(i+w.IntN(2))%3]
	var err error
	did := ""
	switch k := w.IntN(24); {
	case k < 8:
		did = "say"
		for j := range 1 + w.IntN(4) {
			w.say(p,
				conversation.Message{Role: "user",
					Text: fmt.Sprintf("%s says %d-%d: %s", p.label, n, j,
						storetest.Chatter(w.Rand))})
		}
	case k < 12:
		did = "push"
		pushAs(p, r)
	case k < 16:
		did = "pull"
		pullAs(p, r)
	case k < 18:
		did, err = "compact", w.compact(p)
	case k < 19:
		did, err = "amend", w.amend(p, n)
	case k < 20:
		did, err = "rewind", w.rewind(p)
	case k < 21:
		did, err = "undo", w.undo(p)
	case k < 22:
		did, err = "fork", w.goOnSomewhere(p, n)
	case k < 23:
		did, err = "join", w.joinSome(p)
	default:
		did, err = "forget", w.forget(p)
	}
	switch {
	case err == nil:
		w.did[did]++
	case errors.Is(err, history.ErrNotFound), errors.Is(err, history.ErrInput), errors.Is(err,
		history.ErrStale), errors.Is(err, history.ErrRefused), clusters.IsMissing(err):
		w.did["no "+did]++
	default:
		w.Fatalf("step %d: %s: %s: %v", n, p.label, did, err)
	}
}

// say appends a message to one of the party's own sessions.
func (w *ring) say(p *party, m conversation.Message) {
	w.Helper()
	session := "talk"
	if own := w.own(p); len(own) > 0 {
		session = own[w.IntN(len(own))]
	}
	done, _, err := p.Conversation.Append(w.Context(), session, history.MainBranch,
		[]conversation.Message{m}, conversation.AppendOptions{})
	if err != nil {
		w.Fatalf("%s: %v", p.label, err)
	}
	w.said[p] = append(w.said[p], saying{session, done[0].ID})
}

// own returns the names of a party's own sessions, and others those of others.
func (w *ring) own(p *party) []string    { return w.sessions(p, false) }
func (w *ring) others(p *party) []string { return w.sessions(p, true) }

func (w *ring) sessions(p *party, shared bool) (names []string) {
	w.Helper()
	view := storetest.View(w.T, p.Store)
	for _, ref := range view.Names("sessions/") {
		session, _, _ := history.BranchOfRef(ref)
		if _, is := history.Owner(view, session); is == shared && !slices.Contains(names, session) {
			names = append(names, session)
		}
	}
	return names
}

func (w *ring) compact(p *party) error {
	for _, session := range w.own(p) {
		storetest.Compact(w.T, p.Store, session)
	}
	return nil
}

// amend says something else in the place of what the party has said.
func (w *ring) amend(p *party, n int) error {
	if len(w.said[p]) == 0 {
		return history.ErrNotFound
	}
	at := w.said[p][w.IntN(len(w.said[p]))]
	w.amended[at.id] = true
	_, _, err := p.Conversation.Append(w.Context(), at.session,
		history.MainBranch, []conversation.Message{{
			Role:   "user",
			Text:   fmt.Sprintf("%s amends %d: %s", p.label, n, storetest.Chatter(w.Rand)),
			Amends: at.id,
			Source: &conversation.Source{Agent: "a test", Session: p.label,
				Message: at.id.String()},
		}}, conversation.AppendOptions{})
	return err
}

func (w *ring) rewind(p *party) error {
	own := w.own(p)
	if len(own) == 0 {
		return history.ErrNotFound
	}
	session := own[w.IntN(len(own))]
	target, err := p.Conversation.RewindTarget(storetest.View(w.T, p.Store), session,
		history.MainBranch, "@~"+strconv.Itoa(w.IntN(3)))
	if err == nil {
		_, err = p.Conversation.Rewind(w.Context(), session, history.MainBranch, target,
			conversation.RewindOptions{})
	}
	return err
}

func (w *ring) undo(p *party) error {
	own := w.own(p)
	if len(own) == 0 {
		return history.ErrNotFound
	}
	_, err := p.Conversation.Undo(w.Context(), own[w.IntN(len(own))])
	return err
}

// goOnSomewhere begins a session of the party's own where one of another party is.
func (w *ring) goOnSomewhere(p *party, n int) error {
	others := w.others(p)
	if len(others) == 0 || len(w.own(p)) > 3 {
		return history.ErrNotFound
	}
	from := others[w.IntN(len(others))]
	_, err := p.Conversation.GoOn(w.Context(), from, history.MainBranch, fmt.Sprintf("from-%d", n))
	return err
}

func (w *ring) joinSome(p *party) error {
	own, others := w.own(p), w.others(p)
	if len(own) == 0 || len(others) == 0 {
		return history.ErrNotFound
	}
	_, err := p.Conversation.Join(w.Context(), own[w.IntN(len(own))], history.MainBranch,
		[]string{others[w.IntN(len(others))]}, conversation.JoinOptions{})
	return err
}

// forget forgets something that the party has said itself: what others have said stays with them.
func (w *ring) forget(p *party) error {
	if len(w.said[p]) == 0 {
		return history.ErrNotFound
	}
	at := w.said[p][w.IntN(len(w.said[p]))]
	_, err := forget.Run(w.Context(), p.Opened, forget.Options{IDs: []format.ID{at.id}})
	return err
}

// settle lets all push and pull, in an order of chance, until everybody has heard of everything: of
// what one forgets, another hears, and tells that it has forgotten it.
func (w *ring) settle() {
	for range 4 {
		for _, do := range []func(*party, string){pushAs, pullAs} {
			for _, i := range w.Perm(3) {
				for _, k := range w.Perm(2) {
					do(w.list[i], w.remotes[(i+k)%3])
				}
			}
		}
	}
}

// agree fails unless all have the same of each.
func (w *ring) agree() {
	for _, p := range w.list {
		r, err := fsck.Run(w.Context(), p.Opened, fsck.Options{})
		if err != nil || len(r.Faults) > 0 {
			w.Errorf("%s: fsck finds %v, error %v", p.label, r.Faults, err)
		}
	}
	for _, owner := range w.list {
		want := w.seen(owner, owner)
		for _, p := range w.list {
			got := w.seen(p, owner)
			for what := range want {
				if !slices.Equal(got[what], want[what]) {
					w.Errorf("%s has of %s another %s: %d, want %d:\n%s", p.label, owner.label,
						what, len(got[what]), len(want[what]),
						firstDifference(got[what], want[what]))
				}
			}
			if len(got) != len(want) {
				w.Errorf("%s has %d things of %s, want %d", p.label, len(got),
					owner.label, len(want))
			}
		}
	}
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		a, b := "nothing", "nothing"
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			return fmt.Sprintf("got  %.300s\nwant %.300s", a, b)
		}
	}
	return ""
}

// seen returns all that a party has of an owner, by what it is, with the names that the owner uses.
func (w *ring) seen(p, owner *party) map[string][]string {
	w.Helper()
	suffix, all := "@"+owner.label, map[string][]string{}
	if p == owner {
		suffix = ""
	}
	view := storetest.View(w.T, p.Store)
	for _, ref := range view.Names("sessions/") {
		session, branch, _ := history.BranchOfRef(ref)
		label, _ := history.Owner(view, session)
		if name := strings.TrimSuffix(session, suffix); label == strings.TrimPrefix(suffix, "@") {
			at := "session " + name + "/" + branch
			for _, shown := range storetest.Must[[]*history.Shown](w.T)(
				p.Recall.Log(view.Get(ref).ID, recall.LogOptions{})) {
				all[at] = append(all[at],
					fmt.Sprintf("%v %s %s", shown.ID, shown.Entry.Kind, shown.Text))
			}
			for _, topic := range storetest.Topics {
				all["search in "+name] = append(all["search in "+name],
					w.found(p, topic, session)...)
			}
		}
	}
	if p == owner {
		all["forest"] = p.written()
	} else {
		all["forest"] = p.of(owner.label)
	}
	for _, topic := range storetest.Topics {
		all["search"] = append(all["search"], w.found(p, topic, "")...)
	}
	return all
}

// found returns the messages that a search finds, by their ids.
func (w *ring) found(p *party, topic, session string) (ids []string) {
	w.Helper()
	query := strings.ReplaceAll(topic, "%d", "")
	hits, err := p.Recall.Search(storetest.View(w.T, p.Store),
		find.SearchQuery{Text: query, Session: session, Limit: 10000})
	if err != nil && !errors.Is(err, search.ErrNoTerms) {
		w.Fatalf("%s: %v", p.label, err)
	}
	for _, h := range hits {
		if w.did["fork"] > 0 && w.amended[h.ID] {
			// Whoever goes on with a message finds it as it was there until they join the amend, in
			// all sessions: a store finds a message by one text.
			continue
		}
		ids = append(ids, fmt.Sprintf("%v %s", h.ID, h.Text))
	}
	slices.Sort(ids)
	return ids
}
