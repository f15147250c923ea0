package sharing_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// goesOn is the note of a session that goes on from that of the laptop.
const goesOn = "goes on from work@laptop/main"

// goOn begins a session of the party's own where that of another one is.
func (p *party) goOn(from, session string) {
	p.Helper()
	if _, err := p.Conversation.GoOn(p.Context(), from, history.MainBranch, session); err != nil {
		p.Fatal(err)
	}
}

// join brings what a session of another store has said to one of the party's own.
func (p *party) join(session, other string) conversation.Joined {
	p.Helper()
	done, err := p.Conversation.Join(p.Context(), session, history.MainBranch, []string{other},
		conversation.JoinOptions{})
	if err != nil {
		p.Fatalf("%s joins %s: %v", p.label, other, err)
	}
	return done
}

// tip returns the tip of the main branch of a session.
func (p *party) tip(session string) format.ID {
	p.Helper()
	view, err := p.Refs.Read()
	if err != nil {
		p.Fatal(err)
	}
	return view.Get(history.RefName(session, history.MainBranch)).ID
}

// says fails unless the main branch of a session says these texts in this order.
func (p *party) says(session string, want ...string) {
	p.Helper()
	if got := p.texts()[session]; !slices.Equal(got, want) {
		p.Fatalf("%s: %s says %q, want %q", p.label, session, got, want)
	}
}

// Two stores go on with one session, and each joins what the other has said: both have every
// message once.
func TestJoinTwoTips(t *testing.T) {
	root := place(t)
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	laptop.say("work", "one")
	laptop.push(open(t, root))
	desk.pull(open(t, root))
	desk.goOn("work@laptop", "work")
	desk.say("work", "at the desk")
	laptop.say("work", "on the way")
	for _, p := range []*party{desk, laptop} {
		p.push(open(t, root))
	}
	laptop.pull(open(t, root))
	laptop.says("work", "one", "on the way")
	laptop.says("work@desk", "one", goesOn, "at the desk")

	if done := laptop.join("work", "work@desk"); done.Messages != 1 {
		t.Fatalf("the join brought %d messages, want 1", done.Messages)
	}
	laptop.says("work", "one", "on the way", goesOn, "at the desk")
	laptop.says("work@desk", "one", goesOn, "at the desk")
	before := laptop.tip("work")
	if again := laptop.join("work", "work@desk"); again.Messages != 0 || again.Entry != before ||
		laptop.tip("work") != before {
		t.Fatalf("a second join brought %+v", again)
	}

	desk.say("work", "still at the desk")
	desk.push(open(t, root))
	laptop.pull(open(t, root))
	laptop.join("work", "work@desk")
	laptop.says("work", "one", "on the way", goesOn, "at the desk", "still at the desk")

	laptop.push(open(t, root))
	desk.pull(open(t, root))
	desk.join("work", "work@laptop")
	desk.says("work", "one", goesOn, "at the desk", "still at the desk", "on the way")

	laptop.says("work@desk", "one", goesOn, "at the desk", "still at the desk")
	if _, err := laptop.Conversation.Undo(t.Context(), "work"); err != nil {
		t.Fatal(err)
	}
	laptop.says("work", "one", "on the way", goesOn, "at the desk")
	laptop.says("work@desk", "one", goesOn, "at the desk", "still at the desk")
	for _, p := range []*party{laptop, desk} {
		sound(t, p)
	}
}

// What is joined graduates, is summarized and goes on like what was said here.
func TestJoinedIsCompacted(t *testing.T) {
	root := place(t)
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	laptop.talk("work", 40)
	laptop.push(open(t, root))
	desk.pull(open(t, root))
	desk.goOn("work@laptop", "work")
	theirs := desk.talk("work", 80)
	desk.push(open(t, root))
	laptop.pull(open(t, root))
	laptop.join("work", "work@desk")
	laptop.talk("work", 60)
	sound(t, laptop)
	view, err := laptop.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	st, err := laptop.Recall.Forest(view)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[format.ID]bool{}
	for _, id := range theirs {
		asked[id] = true
	}
	found, err := st.Find(asked)
	if err != nil || len(found) == 0 {
		t.Fatalf("none of %d messages that were joined has graduated: %v", len(theirs), err)
	}
}

// Sessions that were never one are not joined.
func TestJoinOfStrangers(t *testing.T) {
	root := place(t)
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	laptop.say("work", "one")
	desk.say("work", "two")
	desk.push(open(t, root))
	laptop.pull(open(t, root))
	for name, want := range map[string]error{"work@desk": history.ErrInput,
		"work@nobody": history.ErrNotFound} {
		_, err := laptop.Conversation.Join(t.Context(), "work", history.MainBranch, []string{name},
			conversation.JoinOptions{})
		if !errors.Is(err, want) {
			t.Errorf("a join of %s: %v, want %v", name, err, want)
		}
	}
	laptop.says("work", "one")
}

// Another store's version of a message that is in a session of one's own counts once it is joined.
func TestAmendOfAnotherStore(t *testing.T) {
	root := place(t)
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	first := laptop.say("work", "the port is 5432")
	laptop.push(open(t, root))
	desk.pull(open(t, root))
	desk.goOn("work@laptop", "work")
	_, _, err := desk.Conversation.Append(t.Context(), "work", history.MainBranch,
		[]conversation.Message{{Role: "user", Text: "the port is 6000", Amends: first,
			Source: &conversation.Source{Agent: "claude-code", Session: "work", Message: "m1"}}},
		conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	desk.push(open(t, root))
	laptop.pull(open(t, root))
	latest := func() string {
		view, err := laptop.Refs.Read()
		if err != nil {
			t.Fatal(err)
		}
		shown, err := laptop.Recall.Latest(view, first)
		if err != nil {
			t.Fatal(err)
		}
		return shown.Text
	}
	if got := latest(); got != "the port is 5432" {
		t.Fatalf("before the join the laptop says %q", got)
	}
	laptop.join("work", "work@desk")
	if got := latest(); got != "the port is 6000" {
		t.Fatalf("after the join the laptop says %q", got)
	}
	if got := storetest.Texts(t, laptop.Store)[history.RefName("work",
		history.MainBranch)]; !slices.Equal(got, []string{"the port is 6000", goesOn}) {
		t.Fatalf("the session says %q", got)
	}
	sound(t, laptop)
}

// What is said in the place of a message once that was forgotten stays with the others, who hear of
// both at once.
func TestAmendAfterForget(t *testing.T) {
	root := place(t)
	laptop, desk := newParty(t, "laptop"), newParty(t, "desk")
	first := laptop.say("work", "the key is under the mat")
	laptop.push(open(t, root))
	desk.pull(open(t, root))
	if _, err := forget.Run(t.Context(), laptop.Opened,
		forget.Options{IDs: []format.ID{first}}); err != nil {
		t.Fatal(err)
	}
	_, _, err := laptop.Conversation.Append(t.Context(), "work", history.MainBranch,
		[]conversation.Message{{Role: "user", Text: "the port is 6000", Amends: first,
			Source: &conversation.Source{Agent: "claude-code", Session: "work", Message: "m1"}}},
		conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	laptop.push(open(t, root))
	desk.pull(open(t, root))
	same(t, laptop, "work", desk)
	desk.says("work@laptop", "the port is 6000")
	sound(t, desk)
}

// A session that goes on with another one shares its messages: a push of it brings what is new, and
// it stays whole for others when the first one ends.
func TestPushOfAForkBringsWhatIsNew(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	for i := range 20 {
		a.say("work", fmt.Sprint("message ", i))
	}
	a.push(open(t, root))
	b.pull(open(t, root))
	a.goOn("work", "other")
	a.say("other", "another way")
	if done := a.push(open(t, root)); done.Objects > 4 {
		t.Errorf("%d objects were pushed for a note and a message", done.Objects)
	}
	b.pull(open(t, root))
	same(t, a, "other", b)
	if _, err := a.Conversation.RemoveSession(t.Context(), "work"); err != nil {
		t.Fatal(err)
	}
	a.push(open(t, root))
	b.pull(open(t, root))
	same(t, a, "other", b)
	c := newParty(t, "late")
	c.pull(open(t, root))
	same(t, a, "other", c)
	for _, p := range []*party{a, b, c} {
		storetest.CheckEpochs(t, p.Store)
	}
}
