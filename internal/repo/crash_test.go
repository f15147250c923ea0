package repo_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// failAt returns an FS whose step n ends with err.
func failAt(n int, err error) *durable.FS {
	return &durable.FS{Hook: func(c durable.Call) error {
		if c.N == n {
			return err
		}
		return nil
	}}
}

// TestInitCrash stops Init before each of its steps, and in the middle of each write. What is left
// is no store or half a store, and the next Init finishes it. Of the 256 directories for loose
// objects, three stand for all.
func TestInitCrash(t *testing.T) {
	w := newWorld(t)
	var steps []durable.Call
	w.env.FS = &durable.FS{Hook: func(c durable.Call) error {
		steps = append(steps, c)
		return nil
	}}
	w.init()
	if last := steps[len(steps)-1]; last.Op != durable.OpSyncDir || last.Path != w.store() {
		t.Errorf("last step is %s of %q", last.Op, last.Path)
	}
	for _, step := range steps {
		name := filepath.Base(step.Path)
		if len(name) == 2 && name != "00" && name != "80" && name != "ff" {
			continue
		}
		crashAt(t, step, durable.ErrStopped)
		if step.Op == durable.OpWrite {
			crashAt(t, step, &durable.Torn{Keep: len(step.Data) / 2})
		}
	}
}

func crashAt(t *testing.T, step durable.Call, how error) {
	t.Helper()
	w := newWorld(t)
	w.env.FS = failAt(step.N, how)
	if _, _, err := repo.Init(w.env, w.project); !errors.Is(err, durable.ErrStopped) {
		t.Fatalf("step %d: got %v", step.N, err)
	}
	w.env.FS = nil
	_, err := repo.Open(w.env)
	// Only the very last sync comes after the format file
	formatted := step.Op == durable.OpSyncDir && err == nil
	if !formatted && !errors.Is(err, repo.ErrNoStore) && !errors.Is(err, repo.ErrHalf) {
		t.Errorf("step %d, %s of %s: open says %v", step.N, step.Op, step.Path, err)
	}
	made, created, err := repo.Init(w.env, w.project)
	if err != nil || created == formatted {
		t.Fatalf("step %d, %s of %s: init again: created %v, error %v", step.N, step.Op,
			step.Path, created, err)
	}
	opened := w.open()
	if opened.ID != made.ID {
		t.Errorf("step %d: id %q is not %q", step.N, opened.ID, made.ID)
	}
	if _, err := opened.Refs.Read(); err != nil {
		t.Errorf("step %d: %v", step.N, err)
	}
	if _, err := opened.Key(); err != nil {
		t.Errorf("step %d: %v", step.N, err)
	}
}

// TestInitFault lets single steps fail, as a full disk does: Init says so, and the next one
// finishes.
func TestInitFault(t *testing.T) {
	full := errors.New("no space left")
	for n := 1; n < 400; n += 7 {
		w := newWorld(t)
		w.env.FS = failAt(n, full)
		_, _, err := repo.Init(w.env, w.project)
		if err == nil {
			return // there are no more steps
		}
		if !errors.Is(err, full) {
			t.Fatalf("step %d: got %v", n, err)
		}
		w.env.FS = nil
		w.init()
		w.open()
	}
	t.Error("steps never end")
}

// TestInitAgainLasts says that Init of a finished store still makes the format file's name last.
func TestInitAgainLasts(t *testing.T) {
	w := newWorld(t)
	w.init()
	var steps []string
	w.env.FS = &durable.FS{Hook: func(c durable.Call) error {
		steps = append(steps, c.Op+" "+c.Path)
		return nil
	}}
	w.init()
	if want := "syncdir " + w.store(); len(steps) != 1 || steps[0] != want {
		t.Errorf("steps are %q, want %q", steps, want)
	}
}
