package browse

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// BenchmarkLarge times what a person waits for in a session of 50,000 messages: the first screen,
// the first message, the first and the second search, each in a program that was just started.
func BenchmarkLarge(b *testing.B) {
	s := storetest.Create(b)
	texts := strings.Fields(
		"parser deploy build cache lexer token window summary cluster branch store error " +
			"timeout retry socket")
	var batch []conversation.Message
	for i := range 50000 {
		var text strings.Builder
		fmt.Fprintf(&text, "message %d:", i)
		for n := range 30 {
			text.WriteString(" " + texts[(i*7+n*n+i/(n+1))%len(texts)])
		}
		batch = append(batch,
			conversation.Message{Role: []string{"user", "model"}[i%2], Text: text.String()})
	}
	if _, _, err := s.Conversation.Append(context.Background(), "big", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		b.Fatal(err)
	}
	times := map[string]time.Duration{}
	for b.Loop() {
		at := time.Now()
		lap := func(what string) {
			times[what] += time.Since(at)
			at = time.Now()
		}
		m, err := newModel(context.Background(), storetest.Reopen(b, s.Dir, nil), "", time.UTC)
		if err != nil {
			b.Fatal(err)
		}
		m.screen()
		lap("open")
		press(m, "enter", "g")
		m.screen()
		lap("first-message")
		press(m, "q", "/")
		typed(m, "lexer retry socket 4711")
		at = time.Now()
		press(m, "enter")
		m.screen()
		lap("search")
		press(m, "/")
		typed(m, "token 1234")
		at = time.Now()
		press(m, "enter")
		m.screen()
		lap("second-search")
		press(m, "f")
		m.screen()
		lap("forest")
	}
	for what, t := range times {
		b.ReportMetric(float64(t.Milliseconds())/float64(b.N), what+"-ms")
	}
}
