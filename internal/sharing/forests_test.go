package sharing_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/sanitize"
)

// talk says n messages on some topics in a session.
func (p *party) talk(session string, n int) (ids []format.ID) {
	p.Helper()
	for i := range n {
		ids = append(ids,
			p.say(session,
				storetest.Chatter(rand.New(rand.NewPCG(uint64(i), uint64(len(session)))))))
	}
	return ids
}

// clusterIDs returns the nodes and summaries of clusters.
func clusterIDs(t *testing.T, list []clusters.ClusterInfo, err error) (ids []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		ids = append(ids, fmt.Sprint(c.ID, c.Number, c.Count, c.Covers, c.Tombstone))
	}
	slices.Sort(ids)
	return ids
}

// written returns the clusters of a party's own forest as it was last written.
func (p *party) written() []string {
	p.Helper()
	st, err := p.History.ReadForest(storetest.View(p.T, p.Store).Get(history.ForestRef).ID)
	if err != nil {
		p.Fatal(err)
	}
	list, err := p.Clusters.Infos(st)
	return clusterIDs(p.T, list, err)
}

// of returns the clusters that a store shares.
func (p *party) of(label string) []string {
	p.Helper()
	list, err := p.Recall.SharedClusters(storetest.View(p.T, p.Store), label)
	return clusterIDs(p.T, list, err)
}

// rendered returns what a session renders, without its name.
func (p *party) rendered(session string, budget int) (view.Input, string) {
	p.Helper()
	o := view.Options{Budget: budget}
	in, err := p.Recall.RenderInput(storetest.View(p.T, p.Store), session, history.MainBranch, o)
	if err != nil {
		p.Fatalf("%s: %s: %v", p.label, session, err)
	}
	out, err := view.Render(in, o)
	if err != nil {
		p.Fatal(err)
	}
	return in, strings.ReplaceAll(string(out.Bytes), session, "S")
}

func sound(t *testing.T, p *party) {
	t.Helper()
	r, err := fsck.Run(t.Context(), p.Opened, fsck.Options{})
	if err != nil || len(r.Faults) > 0 {
		t.Errorf("%s: fsck finds %v, error %v", p.label, r.Faults, err)
	}
	storetest.Check(t, p.Store)
}

// later lets a party's clock go on, so that gc spares nothing for its age.
func (p *party) later() {
	day := p.Now().AddDate(1, 0, 0)
	p.Now = func() time.Time { return day }
	p.Objects.Now = p.Now
}

// collect removes what a party has no more, also what only the log of long ago leads to.
func (p *party) collect() {
	p.Helper()
	p.later()
	if err := p.Store.Store.Locked(p.Context(), func(t *store.Tx) error {
		return t.CloseLog()
	}); err != nil {
		p.Fatal(err)
	}
	if _, err := gc.Run(p.Context(), p.Opened, gc.Options{}); err != nil {
		p.Fatal(err)
	}
}

// A forest comes as it is: the same clusters, and the same rendering as its owner's.
func TestForests(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.talk("work", 400)
	b.talk("mine", 3)
	a.push(r)
	b.pull(r)
	storetest.Compact(t, a.Store, "work")
	if got := a.push(r); got.Number != 2 || len(got.Sessions) != 0 {
		t.Errorf("the push of a forest: %+v", got)
	}
	if got := a.push(r); got.Number != 0 {
		t.Errorf("a push of nothing: %+v", got)
	}
	b.pull(r)
	if got, want := b.of("laptop"), a.written(); len(want) == 0 || !slices.Equal(got, want) {
		t.Fatalf("%d clusters came, want %d", len(got), len(want))
	}
	in, text := b.rendered("work@laptop", 0)
	if _, want := a.rendered("work", 0); text != want || len(in.Clusters) == 0 {
		t.Errorf("%d clusters; rendered is\n%.2000s\nwant\n%.2000s", len(in.Clusters), text, want)
	}
	p, err := b.Recall.Provenance(storetest.View(t, b.Store), in.Clusters[0].ID)
	if err != nil || len(p.Clusters) != 1 {
		t.Errorf("provenance %+v, error %v", p, err)
	}
	a.talk("work", 200)
	storetest.Compact(t, a.Store, "work")
	a.push(r)
	a.push(r) // the first one brings the messages, and its clusters wait
	b.pull(r)
	if got, want := b.of("laptop"), a.written(); !slices.Equal(got, want) {
		t.Errorf("%d clusters after the second compaction, want %d", len(got), len(want))
	}
	b.collect()
	if got, want := b.of("laptop"), a.written(); !slices.Equal(got, want) {
		t.Errorf("%d clusters after gc, want %d", len(got), len(want))
	}
	sound(t, a)
	sound(t, b)
}

// A push that only goes on leaves the forest out, and one in sixteen brings it. One after a branch
// went back brings it at once: a new reader refuses a forest with entries that nobody shares.
func TestForestWaits(t *testing.T) {
	r := open(t, place(t))
	a := newParty(t, "laptop")
	a.talk("work", 400)
	storetest.Compact(t, a.Store, "work")
	a.push(r)
	shared := a.written()
	for n := 2; n < 16; n++ {
		a.talk("work", 40)
		storetest.Compact(t, a.Store, "work")
		if got := a.push(r); got.Objects != 40 {
			t.Errorf("push %d brings %d objects, want 40 messages", n, got.Objects)
		}
	}
	b := newParty(t, "desk")
	b.pull(r)
	if got := b.of("laptop"); !slices.Equal(got, shared) {
		t.Errorf("%d clusters came, want the %d of the first push", len(got), len(shared))
	}
	a.talk("work", 40)
	storetest.Compact(t, a.Store, "work")
	a.push(r)
	b.pull(r)
	if got, want := b.of("laptop"), a.written(); !slices.Equal(got, want) {
		t.Errorf("%d clusters came with push 16, want %d", len(got), len(want))
	}
	for range 40 {
		if _, err := a.Conversation.Undo(t.Context(), "work"); err != nil {
			t.Fatal(err)
		}
	}
	a.say("work", "in another way")
	a.push(r)
	for _, p := range []*party{b, newParty(t, "third")} {
		p.pull(r)
		same(t, a, "work", p)
		sound(t, p)
	}
}

// A cluster with a message that is not shared stays, and so do its summaries.
func TestForestOfSomeSessions(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.talk("work", 200)
	for i := range 200 {
		a.say("private", fmt.Sprintf("The landlord wants rent %d and the contract of the flat", i))
	}
	storetest.Compact(t, a.Store, "work", "private")
	x, err := sharing.Open(t.Context(), a.Opened, open(t, root), a.options("work"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Push(t.Context(), sharing.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	b.pull(open(t, root))
	v := storetest.View(t, b.Store)
	list, err := b.Recall.SharedClusters(v, "laptop")
	if err != nil || len(list) == 0 || len(list) >= len(a.written()) {
		t.Fatalf("%d clusters of %d came, error %v", len(list), len(a.written()), err)
	}
	for _, c := range list {
		err := b.Clusters.Members(v, c.ID, func(id format.ID) error {
			if e, err := b.History.Header(id); err != nil || e.Session != "work" {
				t.Errorf("cluster %v has entry %v, error %v", c.ID, id, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	// Nothing is lost from the rendering: what no summary says stands there word for word.
	in, _ := b.rendered("work@laptop", 0)
	said := map[format.ID]bool{}
	for _, m := range in.Tail {
		said[m.ID] = true
	}
	for _, c := range list {
		if err := b.Clusters.Members(v, c.ID,
			func(id format.ID) error { said[id] = true; return nil }); err != nil {
			t.Error(err)
		}
	}
	if len(said) != 200 {
		t.Errorf("%d of 200 messages are rendered", len(said))
	}
	sound(t, b)
}

// What is found in a summary holds its cluster back, and nothing else.
func TestForestWithFindings(t *testing.T) {
	root := place(t)
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.talk("work", 400)
	storetest.CompactBy(t, a.Store,
		&storetest.Summarizer{Most: 20000,
			Say: func(summarize.Request) (summarize.Response, error) {
				return storetest.Told("the word is ZEBRA-012345678912"), nil
			}}, "work")
	if err := sanitize.UsePatterns([]string{"ZEBRA-{n12}"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sanitize.UsePatterns(nil) })
	got := a.push(open(t, root))
	if len(got.Findings) == 0 || len(got.Sessions) != 1 || got.Sessions[0].Held() {
		t.Fatalf("%+v", got)
	}
	o := a.options("all")
	for _, f := range got.Findings {
		o.Allow = append(o.Allow, f.ID.String())
	}
	b.pull(open(t, root))
	if n := len(b.of("laptop")); n > 0 && n >= len(a.written()) {
		t.Errorf("%d clusters came", n)
	}
	x, err := sharing.Open(t.Context(), a.Opened, open(t, root), o)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := x.Push(t.Context(), sharing.PushOptions{}); err != nil || len(r.Findings) > 0 ||
		r.Number != 2 {
		t.Errorf("%+v, error %v", r, err)
	}
	b.pull(open(t, root))
	if got, want := b.of("laptop"), a.written(); !slices.Equal(got, want) {
		t.Errorf("%d clusters came, want %d", len(got), len(want))
	}
}

// What is forgotten goes from the summaries of others as well, wherever it was forgotten.
func TestForgetReachesForests(t *testing.T) {
	for _, owner := range []bool{true, false} {
		root := place(t)
		r := open(t, root)
		a, b := newParty(t, "laptop"), newParty(t, "desk")
		a.talk("work", 20)
		secret := a.say("work", "The spare key lies under the third flowerpot of the terrace.")
		a.talk("work", 300)
		storetest.CompactBy(t, a.Store,
			&storetest.Summarizer{Most: 20000,
				Say: func(ask summarize.Request) (summarize.Response, error) {
					text := "Nothing of note was said."
					for _, in := range ask.Inputs {
						if strings.Contains(in.Text, "flowerpot") {
							text = "Somebody keeps a key under the third flowerpot."
						}
					}
					return storetest.Told(text), nil
				}}, "work")
		a.push(r)
		b.pull(r)
		if _, text := b.rendered("work@laptop", 0); !strings.Contains(text,
			"under the third flowerpot") {
			t.Fatalf("the words are nowhere: %.2000s", text)
		}
		who := b
		if owner {
			who = a
		}
		if _, err := forget.Run(t.Context(), who.Opened,
			forget.Options{IDs: []format.ID{secret}}); err != nil {
			t.Fatal(err)
		}
		if owner {
			a.push(r)
			b.pull(r)
		}
		if _, text := b.rendered("work@laptop", 0); strings.Contains(text, "flowerpot") {
			t.Errorf("rendered still: %.2000s", text)
		}
		b.collect()
		if err := b.Objects.Contents(func(at objects.Place, raw format.Raw) error {
			if bytes.Contains(raw.Body, []byte("flowerpot")) {
				t.Errorf("%v has the words", at.ID)
			}
			return nil
		}, func(path string, err error) error { return err }); err != nil {
			t.Error(err)
		}
		if owner {
			for _, path := range glob(t, root, "stores", a.ID, "pack", "*") {
				_, f, err := share.ParseFileName("pack/" + filepath.Base(path))
				if err == nil {
					err = a.Objects.ReadPack(read(t, path), f.Digest, func(raw format.Raw) error {
						if bytes.Contains(raw.Body, []byte("flowerpot")) {
							t.Errorf("%s has the words", path)
						}
						return nil
					})
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
		sound(t, b)
	}
}

// A session that is removed goes with the summaries of its words, and comes back whole.
func TestForestOfRemovedSession(t *testing.T) {
	r := open(t, place(t))
	a, b := newParty(t, "laptop"), newParty(t, "desk")
	a.talk("work", 200)
	a.talk("another", 200)
	storetest.Compact(t, a.Store, "work", "another")
	a.push(r)
	b.pull(r)
	all := b.of("laptop")
	if _, err := b.Conversation.RemoveSession(t.Context(), "work@laptop"); err != nil {
		t.Fatal(err)
	}
	b.collect()
	if rest := b.of("laptop"); len(rest) == 0 || len(rest) >= len(all) {
		t.Errorf("%d of %d clusters are there still", len(rest), len(all))
	}
	sound(t, b)
	a.talk("another", 100)
	storetest.Compact(t, a.Store, "another")
	a.push(r)
	b.pull(r)
	if b.texts()["work@laptop"] != nil {
		t.Error("the session came back with another one")
	}
	sound(t, b)
	a.say("work", "go on")
	storetest.Compact(t, a.Store, "work")
	a.push(r)
	if _, err := b.at(r).Pull(t.Context(), "work@laptop"); err != nil {
		t.Fatal(err)
	}
	same(t, a, "work", b)
	a.push(r)
	b.pull(r)
	if got, want := b.of("laptop"), a.written(); !slices.Equal(got, want) {
		t.Errorf("%d clusters came back, want %d", len(got), len(want))
	}
	b.collect()
	sound(t, b)
}
