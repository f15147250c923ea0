package conversation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// B9: an open call does not hold the window for ever; its late result joins its cluster.
func TestB9OpenCallGraduatesAlone(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	storetest.Say(t, s, "talk", "user", "look into the kernel scheduler please")
	call := conversation.Message{Role: "model",
		Parts: []byte(
			`[{"functionCall":{"id":"slow","name":"bisect","args":{"what":"kernel scheduler"}}}]`)}
	done, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch,
		[]conversation.Message{call}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 14 {
		storetest.Say(t, s, "talk", "user", fmt.Sprintf("meanwhile invoice %d amounts", i))
	}
	storetest.Check(t, s)
	v := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	if v.Frontier < 3 {
		t.Fatalf("the window is blocked: frontier %d", v.Frontier)
	}
	result := conversation.Message{Role: "tool",
		Parts: []byte(
			`[{"functionResponse":{"id":"slow","name":"bisect","response":{"output":"bad commit found"}}}]`)}
	late, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch,
		[]conversation.Message{result}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 14 {
		storetest.Say(t, s, "talk", "user", fmt.Sprintf("meanwhile invoice %d amounts", i))
	}
	st := storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s)))
	found := storetest.Must[map[format.ID]forest.Place](t)(
		st.Find(map[format.ID]bool{done[0].ID: true, late[0].ID: true}))
	if len(found) != 2 || found[done[0].ID].Cluster != found[late[0].ID].Cluster {
		t.Errorf("call and result are at %+v", found)
	}
}

// C3, C4: a unit is compared with 64 clusters at most, and an append graduates 8 messages at most,
// whatever the backlog.
func TestC4AppendGraduatesFew(t *testing.T) {
	s := storetest.Create(t)
	var batch []conversation.Message
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		batch = append(batch, conversation.Message{Role: "user", Text: storetest.Chatter(r)})
	}
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
	storetest.Say(t, s, "talk", "user", "one more")
	v := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	if v.Frontier == 0 || v.Frontier > clusters.GraduateOnAppend {
		t.Errorf("frontier %d after one append", v.Frontier)
	}
	done := storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(),
		"talk", history.MainBranch))
	if done.Graduated != 501-26-int(v.Frontier) {
		t.Errorf("graduated %d", done.Graduated)
	}
	storetest.Check(t, s)
}
