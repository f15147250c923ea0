package session_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Two workers, somebody who compacts, and two who talk, one of whom keeps changing their mind, all
// at once, each with a store of their own as processes have. Whatever comes of it, the store is
// sound, every summary is of what it was made of, and every message is there.
func TestCompactionStorm(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 6
	}
	w := newWorld(t, 2)
	w.tally = &tally{count: map[string]int{}}
	t.Cleanup(func() { t.Log(w.tally) })
	w.append("s0", 12, true)
	var mu sync.Mutex // of what w remembers
	answers := func(by string, inputs []summarize.Input) summarize.Response {
		mu.Lock()
		defer mu.Unlock()
		w.serial++
		text := fmt.Sprint("sum ", w.serial)
		read := words{}
		for _, p := range inputs {
			if !p.Summary {
				read[p.ID] = p.Text
				continue
			}
			w.learn(p.ID)
			maps.Copy(read, w.made[p.ID])
		}
		w.told[text] = read
		return summarize.Response{Text: text, Summarizer: by, Version: "1"}
	}
	var group sync.WaitGroup
	var talking atomic.Int32 // how many still do
	talking.Store(2)
	passes := make(chan struct{}, 1) // so that none of them is alone with the lock
	passed := func() {
		select {
		case passes <- struct{}{}:
		default:
		}
	}
	try := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for _, by := range []string{"a", "b"} {
		s := w.open(w.s.Dir)
		group.Go(func() {
			for talking.Load() > 0 {
				view, err := s.Refs.Read()
				try(err)
				var batch []summaries.Answer
				try(s.Compaction.Claims(bg, view, 200, func(c compaction.Claim) error {
					batch = append(batch,
						summaries.Answer{Claim: c.ID, Response: answers(by, c.Inputs)})
					return nil
				}))
				done, err := s.Compaction.Commit(bg, batch)
				try(err)
				w.tally.outcome("workers", done)
				passed()
			}
		})
	}
	compactor := w.open(w.s.Dir)
	group.Go(func() {
		for talking.Load() > 0 {
			done, err := compactor.Compaction.Compact(bg,
				compaction.CompactOptions{Branches: []history.BranchName{{Session: "s0",
					Branch: history.MainBranch}}})
			try(err)
			w.tally.outcome("compact", done)
			passed()
		}
	})
	said := map[string][]string{"s0": slices.Clone(w.texts["s0"])}
	for i := range 2 {
		s, r, name := w.open(w.s.Dir), rand.New(rand.NewPCG(uint64(i), 5)), fmt.Sprint("s", i)
		texts := said[name]
		group.Go(func() {
			defer talking.Add(-1)
			for n := range rounds {
				<-passes
				text := fmt.Sprintf(subjects[r.IntN(len(subjects))], 10_000*(i+1)+n)
				_, _, err := s.Conversation.Append(bg, name, history.MainBranch,
					[]conversation.Message{{Role: "user", Text: text},
						{Role: "model", Text: "then " + text}}, conversation.AppendOptions{})
				try(err)
				texts = append(texts, text, "then "+text)
				if i == 0 || n%5 != 4 {
					continue
				}
				view, err := s.Refs.Read()
				try(err)
				target, err := s.Clusters.Resolve(view, name+"~3")
				try(err)
				_, err = s.Conversation.Rewind(bg, name, history.MainBranch, target,
					conversation.RewindOptions{})
				try(err)
				texts = texts[:len(texts)-4]
				if n%2 == 0 {
					_, err = s.Conversation.Undo(bg, name)
					try(err)
					texts = texts[:len(texts)+4]
				}
			}
			mu.Lock()
			defer mu.Unlock()
			said[name] = texts
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	w.s = w.open(w.s.Dir)
	w.texts = said
	w.loses = true
	w.check()
	w.audit()
	if v := w.view(); v.Get("forests/main").ID == (format.ID{}) {
		t.Error("there is no forest")
	}
}
