package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A bundle of a store with a single fault makes no store.
func TestUnbundleRefusesOneFault(t *testing.T) {
	bg := context.Background()
	s := create(t)
	say(t, s, "talk", "one", "two")
	takeOut(t, s, tipOf(t, s, "talk"))
	if faults := faultsOf(t, s); len(faults) != 1 {
		t.Fatal(faults)
	}
	bundle := filepath.Join(tempDir(t), "bundle")
	must[BundleReport](t)(Bundle(bg, fresh(t, s), bundle, nil))
	to := tempDir(t)
	var damaged *DamagedError
	if _, err := Unbundle(bg, env(to, nil), bundle, to); !errors.As(err, &damaged) || len(damaged.Faults) != 1 {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(to, ".gemini", "context")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a store: %v", err)
	}
}

// A forget by text tells how far it is every 4,096 objects.
func TestForgetTellsProgress(t *testing.T) {
	s := create(t)
	texts := make([]string, 4100)
	for n := range texts {
		texts[n] = "nothing of it"
	}
	say(t, s, "talk", texts...)
	told := 0
	_, err := Forget(context.Background(), s, ForgetOptions{Text: "nowhere said", DryRun: true, Progress: func(done, total int, what string) {
		if what == "searching" && done == 4096 && total >= len(texts) {
			told++
		}
	}})
	if err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}
