package conversation_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/refs"
)

// A loop of forks and joins costs at its end what it did at its beginning: an entry names its
// parents, and not every fork that it has come through. Held are the bytes of headers, exactly but
// for the digits of their numbers, and of log records, whose numbers are of varying length; the
// time is told. Neither forests, which the conversation makes grow and not the loop, nor the
// checkpoint count, which is bounded by the refs that there are. CTX_LOOPS=1000 runs that many.
func TestLoopBytes(t *testing.T) {
	n, warm := 120, 20 // before that the window fills, and little graduates
	if given, err := strconv.Atoi(os.Getenv("CTX_LOOPS")); err == nil {
		n = given
	}
	few := min(100, (n-warm)/2)
	s := storetest.Create(t)
	storetest.Say(t, s, "s", "user", "begin")
	took := make([]time.Duration, n)
	from := storetest.View(t, s).Number
	var ops []uint64 // the last operation of an iteration
	for i := range n {
		start := time.Now()
		storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "s",
			history.MainBranch, []string{"left", "right"}, conversation.ForkOptions{}))
		for _, b := range []string{"left", "right"} {
			sayIn(t, s, b, fmt.Sprintf("%s in %04d", b, i))
		}
		storetest.Must[conversation.Joined](t)(s.Conversation.Join(context.Background(), "s",
			history.MainBranch, []string{"left", "right"}, conversation.JoinOptions{}))
		sayIn(t, s, history.MainBranch, fmt.Sprintf("both of %04d", i))
		took[i] = time.Since(start)
		ops = append(ops, storetest.View(t, s).Number)
	}
	view := storetest.View(t, s)
	records, kinds := map[int]int{}, map[int]map[string]int{}
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		i := 0
		for i < len(ops)-1 && ops[i] < r.Op.Number {
			i++
		}
		if r.Op.Number <= from {
			return false
		}
		if r.Op.Verb != "checkpoint" {
			bare := *r.Op
			bare.Objects = nil // the newest records still carry theirs
			record, _, err := bare.Encode()
			if err != nil {
				t.Error(err)
			}
			records[i] += len(record)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	at, entries := n-1, 0
	digits := regexp.MustCompile(`(?m)^seq \d+`)
	for e, err := range s.History.Walk(view.Get(history.RefName("s", history.MainBranch)).ID,
		history.WithJoined) {
		if err != nil {
			t.Fatal(err)
		}
		header := storetest.Must[[]byte](t)(s.Objects.Header(e.ID))
		if kinds[at] == nil {
			kinds[at] = map[string]int{}
		}
		kinds[at][e.Kind] += len(digits.ReplaceAll(header, nil))
		entries++
		if e.Kind == format.KindFork {
			at--
		}
		if at < 0 {
			break
		}
	}
	for i := range kinds {
		if want := kinds[0]; fmt.Sprint(kinds[i]) != fmt.Sprint(want) {
			t.Errorf("iteration %d has headers of %v bytes, the first of %v", i, kinds[i], want)
		}
	}
	begin, end := 0, 0
	var first, last time.Duration
	for i := range few {
		begin, end = begin+records[warm+i], end+records[n-1-i]
		first, last = first+took[warm+i], last+took[n-1-i]
	}
	t.Logf(
		"%d iterations, %d entries: headers of %v bytes each; records of %d bytes an iteration "+
			"in the first %d, %d in the last; %v and %v each",
		n, entries, kinds[0], begin/few, few, end/few, first/time.Duration(few),
		last/time.Duration(few))
	// Five records, and in each a few numbers that have become longer
	if slack := 5 * 6; end > begin+few*slack {
		t.Errorf("records of %d bytes an iteration have become %d", begin/few, end/few)
	}
	if info, err := os.Stat(s.Dir + "/refs/checkpoint"); err != nil || info.Size() > 4096 {
		t.Errorf("the checkpoint: %v %v", info, err)
	}
}

func sayIn(t testing.TB, s *session.Store, branch, text string) {
	t.Helper()
	if _, _, err := s.Conversation.Append(context.Background(), "s", branch,
		[]conversation.Message{{Role: "model", Text: text}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
}
