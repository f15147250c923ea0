package sharing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// pushRule pushes to a remote on which what fits a rule is shared.
func pushRule(p *party, root, rule string) {
	p.Helper()
	o := p.options(rule)
	o.Name = filepath.Base(filepath.Dir(root))
	x, err := sharing.Open(p.Context(), p.Opened, open(p.T, root), o)
	if err == nil {
		_, err = x.Push(p.Context(), sharing.PushOptions{})
	}
	if err != nil {
		p.Fatalf("%s pushes: %v", p.label, err)
	}
}

// has says what a party has of the laptop: sessions with their titles, and what they say.
func (p *party) has() (list []string) {
	p.Helper()
	view := storetest.View(p.T, p.Store)
	for session, texts := range p.texts() {
		name, of, foreign := strings.Cut(session, "@")
		if foreign != (p.label != "laptop") || foreign && of != "laptop" {
			continue
		}
		about, err := p.History.AboutOf(view, session)
		if err != nil {
			p.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %q: %q", name, about.Title, texts))
	}
	slices.Sort(list)
	return list
}

// A store that shares through two remotes is one store to who pulls both. What it says in its
// latest push counts, whichever remote is pulled last, and whatever a cache had of the others.
func TestTwoRemotes(t *testing.T) {
	undo := func(p *party) {
		if _, err := p.Conversation.Undo(p.Context(), "work"); err != nil {
			p.Fatal(err)
		}
	}
	remove := func(p *party) {
		if _, err := p.Conversation.RemoveSession(p.Context(), "work"); err != nil {
			p.Fatal(err)
		}
	}
	title := func(text string) func(*party) {
		return func(p *party) {
			if _, _, err := p.Conversation.SetAbout(p.Context(), "work",
				func(about *history.About) { about.Title = text }); err != nil {
				p.Fatal(err)
			}
		}
	}
	say := func(text string) func(*party) { return func(p *party) { p.say("work", text) } }
	nothing := func(*party) {}
	type deed struct {
		do    func(*party)
		rules [2]string // what is pushed to each remote then; "" for no push
	}
	first := deed{say("a slip"), [2]string{"all", "all"}}
	for _, c := range []struct {
		name  string
		deeds []deed
		want  []string // of the session work; nil for what the owner has
	}{
		{"one is behind", []deed{first, {say("more"), [2]string{"all", ""}}}, nil},
		{"the other is ahead", []deed{first, {say("more"), [2]string{"all", ""}},
			{say("most"), [2]string{"", "all"}}}, nil},
		{"undone", []deed{first, {undo, [2]string{"all", ""}}}, nil},
		{"undone, and gone on", []deed{first, {undo, [2]string{"", "all"}},
			{say("right"), [2]string{"all", ""}}}, nil},
		{"undone on both", []deed{first, {undo, [2]string{"all", "all"}}}, nil},
		{"removed", []deed{first, {remove, [2]string{"all", ""}}}, nil},
		{"removed on both", []deed{first, {remove, [2]string{"all", "all"}}}, nil},
		{"removed, and never told to the other", []deed{{say("a slip"), [2]string{"all", "none"}},
			{remove, [2]string{"all", "none"}}}, nil},
		{"removed, and begun again", []deed{first, {remove, [2]string{"all", ""}},
			{say("anew"), [2]string{"", "all"}}}, nil},
		{"undone, and told to the remote that had not heard of it", []deed{
			{nothing, [2]string{"all", "all"}}, {say("a slip"), [2]string{"all", ""}},
			{undo, [2]string{"", "all"}}}, nil},
		{"removed and brought back, and told to the remote that had not heard of it", []deed{first,
			{remove, [2]string{"all", ""}}, {undo, [2]string{"", "all"}}}, nil},
		{"named as before", []deed{first, {title("one"), [2]string{"all", "all"}},
			{title("two"), [2]string{"all", ""}}, {title("one"), [2]string{"", "all"}}}, nil},
		{"named", []deed{first, {title("one"), [2]string{"all", "all"}},
			{title("two"), [2]string{"", "all"}}}, nil},
		{"shared no more on one", []deed{first, {nothing, [2]string{"none", ""}}}, nil},
		{"on one alone", []deed{{say("a slip"), [2]string{"none", "all"}},
			{say("more"), [2]string{"", "all"}}}, nil},
		{"shared no more on both", []deed{first, {nothing, [2]string{"none", "none"}}},
			[]string{}},
		{"shared no more on one, which was the latest", []deed{first,
			{say("more"), [2]string{"all", ""}}, {nothing, [2]string{"none", "all"}}}, nil},
	} {
		for n := range 8 {
			t.Run(fmt.Sprint(c.name, " ", n), func(t *testing.T) {
				roots := [2]string{place(t), place(t)}
				a, b := newParty(t, "laptop"), newParty(t, "desk")
				a.say("other", "stays")
				a.say("work", "first")
				for _, d := range c.deeds {
					d.do(a)
					for i, rule := range d.rules {
						if rule != "" {
							rule = strings.ReplaceAll(rule, "none", "!work")
							pushRule(a, roots[i], "other,"+rule)
						}
						if n&1 != 0 {
							pullAll(b, roots, n)
						}
						if n&4 != 0 {
							if err := os.RemoveAll(filepath.Join(b.Dir, "cache")); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				pullAll(b, roots, n)
				pullAll(b, roots, n)
				want := a.has()
				if c.want != nil {
					want = append(c.want, `other "": ["stays"]`)
				}
				if got := b.has(); !slices.Equal(got, want) {
					t.Errorf("%q\nwant %q", got, want)
				}
				storetest.Check(t, b.Store)
			})
		}
	}
}

// pullAll pulls from both remotes, in an order that follows from a number.
func pullAll(p *party, roots [2]string, n int) {
	p.Helper()
	for i := range roots {
		root := roots[(i+n>>1&1)%2]
		if _, err := os.Stat(root); err != nil {
			continue // nothing was pushed there yet
		}
		o := p.options("all")
		o.Name = filepath.Base(filepath.Dir(root))
		x, err := sharing.Open(p.Context(), p.Opened, open(p.T, root), o)
		if err == nil {
			_, err = x.Pull(p.Context())
		}
		if err != nil {
			p.Fatalf("%s pulls: %v", p.label, err)
		}
	}
}

// What a store has forgotten does not come by a remote to which it has not pushed since, also where
// the session was on that one alone.
func TestTwoRemotesForget(t *testing.T) {
	for _, rule := range []string{"all", "other"} {
		for n := range 4 {
			roots := [2]string{place(t), place(t)}
			a, b := newParty(t, "laptop"), newParty(t, "desk")
			a.say("other", "stays")
			id := a.say("work", "the door code is 1234")
			pushRule(a, roots[0], rule)
			pushRule(a, roots[1], "all")
			if n&1 != 0 {
				pullAll(b, roots, n)
			}
			if _, err := forget.Run(t.Context(), a.Opened, forget.Options{
				IDs: []format.ID{id}, Exact: true}); err != nil {
				t.Fatal(err)
			}
			a.say("other", "goes on")
			pushRule(a, roots[0], rule)
			pullAll(b, roots, n)
			pullAll(b, roots, n)
			if gone, err := b.Objects.Forgotten(id); err != nil || !gone {
				t.Errorf("rule %s, order %d: the forgotten text is here: %v", rule, n, err)
			}
			storetest.Check(t, b.Store)
		}
	}
}

// What was forgotten does not come with what another store says: not the same record of a
// transcript, and not the same words. The other one is told of what it has said itself, once it
// comes to be known.
func TestForgottenSaidByAnother(t *testing.T) {
	const secret = "the door code of the heron house is 1234"
	of := &conversation.Source{Agent: "agent", Session: "s", Message: "m1"}
	for name, c := range map[string]struct {
		said   conversation.Message
		phrase string // "" where the message is forgotten by its id
		gone   bool
	}{
		"the same record":    {conversation.Message{Text: "another version", Source: of}, "", true},
		"the same words":     {conversation.Message{Text: secret}, "", true},
		"a phrase":           {conversation.Message{Text: "I said: " + secret}, secret, true},
		"other words":        {conversation.Message{Text: "the door is open"}, "", false},
		"words within words": {conversation.Message{Text: "I said: " + secret}, "", false},
	} {
		r := open(t, place(t))
		a, b := newParty(t, "laptop"), newParty(t, "desk")
		tell := func(p *party, m conversation.Message) format.ID {
			m.Role = "user"
			done, _, err := p.Conversation.Append(t.Context(), "work", history.MainBranch,
				[]conversation.Message{m}, conversation.AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return done[0].ID
		}
		id := tell(a, conversation.Message{Text: secret, Source: of})
		o := forget.Options{Text: c.phrase}
		if c.phrase == "" {
			o.IDs = []format.ID{id}
		}
		if _, err := forget.Run(t.Context(), a.Opened, o); err != nil {
			t.Fatal(err)
		}
		said := tell(b, c.said)
		b.push(r)
		a.pull(r)
		if gone, err := a.Objects.Forgotten(said); err != nil || gone != c.gone {
			t.Errorf("%s: forgotten %v, error %v", name, gone, err)
		}
		a.push(r)
		for _, one := range b.pull(r).Stores {
			if asked := slices.Equal(one.Asked, []format.ID{said}); asked != c.gone {
				t.Errorf("%s: desk is asked for %v", name, one.Asked)
			}
		}
		if b.texts()["work"][0] != c.said.Text {
			t.Errorf("%s: desk has %q", name, b.texts())
		}
		storetest.Check(t, a.Store)
	}
}
