package forget_test

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
)

// A forget by text tells how far it is every 4,096 objects.
func TestForgetTellsProgress(t *testing.T) {
	s := kit.Create(t)
	texts := make([]string, 4100)
	for n := range texts {
		texts[n] = "nothing of it"
	}
	kit.Say(t, s, "talk", texts...)
	told := 0
	_, err := forget.Run(context.Background(),
		s.Opened, forget.Options{Text: "nowhere said", DryRun: true,
			Progress: func(done, total int, what string) {
				if what == "searching" && done == 4096 && total >= len(texts) {
					told++
				}
			}})
	if err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}
