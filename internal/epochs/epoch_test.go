package epochs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// The scenarios of context epochs, by number. Those that the store has no part in, and those that
// are in other packages (E39 to E44, the rules without a store), are named in
// docs/design.md.

func TestE01_initial_text_in_source_order(t *testing.T) {
	s := storetest.Create(t)
	done := observe(t, s, storetest.Value("core/env", `"linux"`), storetest.Value("core/date", `1`))
	tells(t, done, epoch.Initial, "env is \"linux\"\n\ndate is 1")
	equal(t, delta(done), "core/env core/date")
	equal(t, block(t, s, history.MainBranch), done.Text)
	equal(t, believed(t, s, history.MainBranch), `core/env="linux" core/date=1`)
	if n := operations(t, s); n != 1 {
		t.Fatalf("%d operations", n)
	}
	storetest.Check(t, s)
}

func TestE02_unavailable_blocks_the_first(t *testing.T) {
	s := storetest.Create(t)
	refused(t, s, history.ErrBlocked, "core/env, api/plan", storetest.Value("core/date", `1`),
		unread("core/env"), unread("api/plan"))
	if names := storetest.View(t, s).Names(""); len(names) > 0 {
		t.Fatalf("refs: %v", names)
	}
}

func TestE03_blocked_then_readable(t *testing.T) {
	s := storetest.Create(t)
	refused(t, s, history.ErrBlocked, "core/env", storetest.Value("core/date", `1`),
		unread("core/env"))
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `2`))
	storetest.Say(t, s, "talk", "user", "hello")
	equal(t, says(t, s, history.MainBranch), "user hello")
}

func TestE04_unchanged_writes_nothing(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `{"a":1,"b":2}`))
	storetest.Say(t, s, "talk", "user", "hello")
	before, prefix := files(t, s.Dir), prompt(t, s, history.MainBranch, view.Gemini).Bytes
	// Another order, another wording and white space are no change.
	done := observe(t, s,
		`{"key":"core/env","value":{ "b":2.0, "a":1 },"first":"worded anew","changed":"x"}`,
		storetest.Value("core/date", `1`))
	tells(t, done, epoch.Unchanged, "")
	if done.Epoch.IsZero() {
		t.Error("no epoch in force")
	}
	equal(t, files(t, s.Dir), before)
	equal(t, string(prompt(t, s, history.MainBranch, view.Gemini).Bytes), string(prefix))
}

func TestE05_update_between_the_messages(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	before := map[view.Format]view.Output{}
	for _, f := range []view.Format{view.Text, view.JSON, view.Gemini, view.OpenAI,
		view.Anthropic} {
		before[f] = prompt(t, s, history.MainBranch, f)
	}
	done := observe(t, s, storetest.Value("core/date", `2`))
	tells(t, done, epoch.Updated, "date became 2")
	equal(t, delta(done), "core/date")
	storetest.Say(t, s, "talk", "user", "two")
	equal(t, says(t, s, history.MainBranch), "user one | update date became 2 | user two")
	equal(t, block(t, s, history.MainBranch), "date is 1")
	for f, was := range before {
		now := prompt(t, s, history.MainBranch, f)
		if now.Prefix != was.Prefix ||
			!strings.HasPrefix(string(now.Bytes), string(was.Bytes[:was.Prefix])) {
			t.Errorf("%s: the prefix changed:\n%s\nwas\n%s", f, now.Bytes, was.Bytes)
		}
	}
	storetest.Check(t, s)
}

func TestE06_restart_tells_nothing_anew(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	storetest.Say(t, s, "talk", "user", "two")
	was := prompt(t, s, history.MainBranch, view.Gemini)
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	s = storetest.Reopen(t, s.Dir, nil)
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Unchanged, "")
	equal(t, string(prompt(t, s, history.MainBranch, view.Gemini).Bytes), string(was.Bytes))
}

func TestE07_two_changes_are_one_update(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/z", `1`), storetest.Value("core/m", `1`),
		storetest.Value("core/a", `1`))
	n := operations(t, s)
	done := observe(t, s, storetest.Value("core/z", `2`), storetest.Value("core/m", `1`),
		storetest.Value("core/a", `2`))
	tells(t, done, epoch.Updated, "z became 2\n\na became 2")
	if operations(t, s) != n+1 {
		t.Fatal("not one operation")
	}
	// The update is in the order of its own observation.
	tells(t, observe(t, s, storetest.Value("core/a", `3`), storetest.Value("core/z", `3`)),
		epoch.Updated, "a became 3\n\nz became 3")
}

func TestE08_only_what_changed_is_told(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `"x"`))
	tells(t, observe(t, s, storetest.Value("core/date", `2`), storetest.Value("core/env", `"x"`)),
		epoch.Updated, "date became 2")
}

func TestE09_new_source_is_told_by_its_first_text(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `1`))
	done := observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`),
		storetest.Value("core/env", `1`))
	tells(t, done, epoch.Updated, `plan is "p"`)
	equal(t, believed(t, s, history.MainBranch), `core/date=1 api/plan="p" core/env=1`)
}

func TestE10_unavailable_keeps_the_belief(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `1`))
	tells(t, observe(t, s, unread("core/date"), storetest.Value("core/env", `1`)),
		epoch.Unchanged, "")
	tells(t, observe(t, s, unread("core/date"), storetest.Value("core/env", `2`)), epoch.Updated,
		"env became 2")
	equal(t, believed(t, s, history.MainBranch), "core/date=1 core/env=2")
}

func TestE11_unavailable_then_another_value(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	observe(t, s, unread("core/date"))
	tells(t, observe(t, s, storetest.Value("core/date", `3`)), epoch.Updated, "date became 3")
}

func TestE12_unavailable_then_the_same_value(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	observe(t, s, unread("core/date"))
	tells(t, observe(t, s, storetest.Value("core/date", `1`)), epoch.Unchanged, "")
}

func TestE13_removed_is_told_once(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`))
	done := observe(t, s, storetest.Value("core/date", `1`), gone("api/plan"))
	tells(t, done, epoch.Updated, "plan has gone") // the text that came with the value
	equal(t, delta(done), "-api/plan")
	tells(t, observe(t, s, storetest.Value("core/date", `1`), gone("api/plan")),
		epoch.Unchanged, "")
	tells(t, observe(t, s, storetest.Value("core/date", `1`), unread("api/plan")),
		epoch.Unchanged, "")
	equal(t, believed(t, s, history.MainBranch), "core/date=1 api/plan=removed")

	// The text that comes with the removal goes before it, and without either nothing can be told.
	observe(t, s, storetest.Value("api/plan", `"q"`))
	tells(t, observe(t, s, `{"key":"api/plan","removed":true,"removed_text":"no plan"}`),
		epoch.Updated, "no plan")
	observe(t, s, `{"key":"api/x","value":1,"first":"x"}`)
	refused(t, s, epoch.ErrInput, "api/x: no removed_text", gone("api/x"))
}

func TestE14_removal_of_what_was_never_told(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	tells(t, observe(t, s, storetest.Value("core/date", `1`), gone("api/plan")),
		epoch.Unchanged, "")
	// At the first observation too: nothing of it is told, and the epoch begins.
	s = storetest.Create(t)
	tells(t, observe(t, s, gone("api/plan")), epoch.Initial, "")
	tells(t, observe(t, s, gone("api/plan")), epoch.Unchanged, "")
	tells(t, observe(t, s, storetest.Value("api/plan", `1`)), epoch.Updated, "plan is 1")
}

// A source that is not observed is no removal: the belief stays, also over a leave, since the text
// it is told by is at hand.
func TestE15_source_not_observed(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`))
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Updated, "date became 2")
	equal(t, believed(t, s, history.MainBranch), `core/date=2 api/plan="p"`)
	for i := range 12 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
	}
	equal(t, block(t, s, history.MainBranch), "date is 2\n\nplan is \"p\"")
}

// Removals are explicit here, and told in the order of the observation.
func TestE16_removals_in_source_order(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/z", `1`), storetest.Value("core/a", `1`),
		storetest.Value("core/m", `1`))
	done := observe(t, s, storetest.Value("core/m", `2`), gone("core/a"), gone("core/z"))
	tells(t, done, epoch.Updated, "m became 2\n\na has gone\n\nz has gone")
	equal(t, delta(done), "core/m -core/a -core/z")
}

func TestE17_undecodable_value_is_told_anew(t *testing.T) {
	for _, damage := range []string{"lost", "flipped"} {
		s := storetest.Create(t)
		done := observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `5`))
		value := done.Delta[0].Value
		if damage == "lost" {
			lose(t, s, value)
		} else {
			storetest.Spread(t, s)
			path := s.Objects.PackPath(storetest.Alone(t, s)[value])
			if err := os.WriteFile(path, []byte("no pack"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if damage == "lost" {
			tells(t,
				observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `5`)),
				epoch.Updated, "date is 1")
			tells(t,
				observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `5`)),
				epoch.Unchanged, "")
			storetest.Check(t, s)
			continue
		}
		tells(t, observe(t, s, storetest.Value("core/date", `2`), storetest.Value("core/env", `5`)),
			epoch.Updated, "date is 2")
		tells(t, observe(t, s, storetest.Value("core/date", `2`), storetest.Value("core/env", `5`)),
			epoch.Unchanged, "")
	}
}

// A value that is no canonical JSON, as another program may have stored it, cannot be compared.
func TestE17_value_of_another_making(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	header, err := format.EncodeBlob(format.SumBody([]byte("{ 1"), format.MediaParts))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Store.Locked(context.Background(), func(tx *store.Tx) error {
		id := tx.Add(format.Raw{Header: header, Body: []byte("{ 1")})
		shown, err := s.Recall.EpochAt(tx.View.Get(history.RefName("talk", history.MainBranch)).ID)
		if err != nil {
			return err
		}
		e, _, err := s.History.EpochObject(shown.ID)
		if err != nil {
			return err
		}
		e.Current[0].Value, e.Initial[0].Value = id, id
		raw, err := epoch.Object(e, "")
		if err != nil {
			return err
		}
		c, err := tx.Control("talk", history.MainBranch,
			&format.Entry{Kind: format.KindEpoch, Epoch: tx.Add(raw)}, nil, "")
		if err != nil {
			return err
		}
		told := s.Epochs.Begin(tx).EpochTo("talk", history.MainBranch, raw.ID())
		return tx.CommitControl("observe", c, told...)
	})
	if err != nil {
		t.Fatal(err)
	}
	tells(t, observe(t, s, storetest.Value("core/date", `1`)), epoch.Updated, "date is 1")
	tells(t, observe(t, s, storetest.Value("core/date", `1`)), epoch.Unchanged, "")
}

func TestE18_undecodable_and_a_change(t *testing.T) {
	s := storetest.Create(t)
	done := observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `5`))
	lose(t, s, done.Delta[0].Value)
	tells(t, observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `6`)),
		epoch.Updated, "date is 1\n\nenv became 6")
}

// Where the epoch itself is gone, or what was sent of it, the branch begins anew. What was sent
// before stays in the log.
func TestE19_lost_state_begins_anew(t *testing.T) {
	for _, what := range []string{"epoch", "text of the block", "update"} {
		t.Run(what, func(t *testing.T) {
			s := storetest.Create(t)
			first := observe(t, s, storetest.Value("core/date", `1`))
			storetest.Say(t, s, "talk", "user", "one")
			second := observe(t, s, storetest.Value("core/date", `2`))
			storetest.Say(t, s, "talk", "user", "two")
			want := "core/date=2"
			switch what {
			case "epoch":
				lose(t, s, second.Epoch)
			case "text of the block":
				e, _, err := s.History.EpochObject(first.Epoch)
				if err != nil {
					t.Fatal(err)
				}
				lose(t, s, e.Initial[0].Text)
			case "update":
				third := observe(t, s, storetest.Value("core/date", `3`))
				tells(t, third, epoch.Updated, "date became 3")
				lose(t, s, second.Epoch)
				want = "core/date=3"
			}
			refused(t, s, history.ErrBlocked, "core/date", unread("core/date"))
			value := want[len("core/date="):]
			tells(t, observe(t, s, storetest.Value("core/date", value)), epoch.Initial,
				"date is "+value)
			tells(t, observe(t, s, storetest.Value("core/date", value)), epoch.Unchanged, "")
			equal(t, believed(t, s, history.MainBranch), want)
			equal(t, block(t, s, history.MainBranch), "date is "+value)
			equal(t, says(t, s, history.MainBranch), "user one | user two")
			n := 0
			for _, shown := range storetest.Must[[]*history.Shown](t)(
				s.Recall.Log(
					storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).ID,
					recall.LogOptions{All: true})) {
				if shown.Entry.Kind == format.KindEpoch {
					n++
				}
			}
			if n < 3 {
				t.Errorf("%d epoch entries in the log", n)
			}
			tells(t, observe(t, s, storetest.Value("core/date", `9`)), epoch.Updated,
				"date became 9")
			equal(t, says(t, s, history.MainBranch), "user one | user two | update date became 9")
		})
	}
}

func TestE20_null_is_a_value(t *testing.T) {
	s := storetest.Create(t)
	tells(t, observe(t, s, storetest.Value("core/date", `null`)), epoch.Initial, "date is null")
	tells(t, observe(t, s, storetest.Value("core/date", `null`)), epoch.Unchanged, "")
	done := observe(t, s, storetest.Value("core/date", `1`))
	tells(t, done, epoch.Updated, "date became 1")
	done = observe(t, s, storetest.Value("core/date", `null`))
	tells(t, done, epoch.Updated, "date became null")
	equal(t, delta(done), "core/date")
	equal(t, believed(t, s, history.MainBranch), "core/date=null")
}

func TestE21_missing_text_names_key_and_kind(t *testing.T) {
	s := storetest.Create(t)
	refused(t, s, epoch.ErrInput, "core/date: no first text", storetest.Value("core/env", `1`),
		`{"key":"core/date","value":1}`)
	observe(t, s, storetest.Value("core/env", `1`), storetest.Value("core/date", `1`))
	refused(t, s, epoch.ErrInput, "core/date: no changed text", storetest.Value("core/env", `2`),
		`{"key":"core/date","value":2,"first":"x"}`)
	refused(t, s, epoch.ErrInput, "core/date: no first text", storetest.Value("core/env", `2`),
		`{"key":"core/date","value":2,"changed":"x"}`)
	refused(t, s, epoch.ErrInput, "api/new: no first text", storetest.Value("core/env", `2`),
		`{"key":"api/new","value":2,"changed":"x"}`)
}

// Before the epoch goes on the sources are read no more than their observations say: a drift that
// only a preview has seen is not told, and counts from what was told last.
func TestE24_drift_seen_by_a_preview_over_a_leave(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`))
	for i := range 9 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
	}
	done, err := s.Epochs.Preview(storetest.View(t, s), "talk", history.MainBranch,
		setOf(t, storetest.Value("core/date", `2`)), epochs.ObserveOptions{})
	if err != nil || done.Text != "date became 2" {
		t.Fatalf("%+v, error %v", done, err)
	}
	leave(t, s)
	equal(t, block(t, s, history.MainBranch), "date is 1")
	tells(t, observe(t, s, storetest.Value("core/date", `3`)), epoch.Updated, "date became 3")
	leave(t, s)
	storetest.Check(t, s)
}

func TestE25_leave_while_a_source_is_unavailable(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("core/env", `1`))
	observe(t, s, storetest.Value("core/date", `2`), unread("core/env"))
	for i := range 12 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
	}
	equal(t, block(t, s, history.MainBranch), "date is 2\n\nenv is 1")
	tells(t, observe(t, s, storetest.Value("core/date", `2`), unread("core/env")),
		epoch.Unchanged, "")
	storetest.Check(t, s)
}

// A compaction that fails at any of its calls leaves the epoch as it is, or has folded it.
func TestE26_failed_compaction(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`))
	for i := range 7 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
	}
	observe(t, s, storetest.Value("core/date", `2`))
	storetest.Say(t, s, "talk", "user", "one more")
	said, told := says(t, s, history.MainBranch), block(t, s, history.MainBranch)
	equal(t, told, "date is 1")
	for n := 1; ; n++ {
		dir := storetest.CopyStore(t, s.Dir)
		_, err := storetest.Reopen(t, dir, broken(n), storetest.Small...).Compaction.Compact(
			context.Background(),
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
				Branch: history.MainBranch}}})
		after := storetest.Reopen(t, dir, nil, storetest.Small...)
		storetest.Check(t, after)
		if err == nil {
			equal(t, block(t, after, history.MainBranch), "date is 2")
			if n < 5 {
				t.Fatalf("done after %d calls", n)
			}
			return
		}
		if got := block(t, after, history.MainBranch); got == told {
			equal(t, says(t, after, history.MainBranch), said)
		} else {
			equal(t, got, "date is 2")
		}
		if err := os.RemoveAll(filepath.Dir(filepath.Dir(dir))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestE27_updates_before_a_leave(t *testing.T) {
	for _, by := range []string{"append", "compact"} {
		t.Run(by, func(t *testing.T) {
			s := storetest.Create(t, storetest.Small...)
			observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`))
			for i := range 3 {
				storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
			}
			update := observe(t, s, storetest.Value("core/date", `2`), gone("api/plan"))
			if by == "append" {
				for i := range 9 {
					storetest.Say(t, s, "talk", "user", fmt.Sprint("later ", i))
				}
			} else {
				for i := range 3 {
					storetest.Say(t, s, "talk", "user", fmt.Sprint("later ", i))
				}
				leave(t, s)
			}
			equal(t, block(t, s, history.MainBranch), "date is 2")
			equal(t, believed(t, s, history.MainBranch), "core/date=2")
			if got := says(t, s, history.MainBranch); strings.Contains(got, "update") {
				t.Fatalf("still told: %s", got)
			}
			shown := storetest.Must[recall.EpochShown](t)(s.Recall.EpochAt(update.Entry))
			if len(shown.Updates) != 1 || shown.Updates[0].Text != update.Text ||
				shown.Initial[0].Text != "date is 1" {
				t.Fatalf("what was told then: %+v", shown)
			}
			found := false
			for _, e := range storetest.Must[[]*history.Shown](t)(
				s.Recall.Log(
					storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).ID,
					recall.LogOptions{All: true})) {
				found = found || e.ID == update.Entry && e.Text == update.Text
			}
			if !found {
				t.Error("the update is not in the log")
			}
			tells(t, observe(t, s, storetest.Value("core/date", `2`), gone("api/plan")),
				epoch.Unchanged, "")
			storetest.Check(t, s)
			// A leave without an update changes nothing of the epoch.
			was := storetest.View(t, s).Get(epochs.EpochRef("talk", history.MainBranch))
			for i := range 12 {
				storetest.Say(t, s, "talk", "user", fmt.Sprint("even later ", i))
			}
			if now := storetest.View(t, s).Get(
				epochs.EpochRef("talk", history.MainBranch)); now != was {
				t.Error("folded without an update")
			}
		})
	}
}

// Who answers is nothing that is observed: only values are.
func TestE28_model_switch_alone(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	prefix := prompt(t, s, history.MainBranch, view.OpenAI)
	for _, model := range []string{"gemini-2.5-pro", "gemini-2.5-flash"} {
		m := conversation.Message{Role: "model", Author: model, Text: "answer"}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Unchanged, "")
	}
	now := prompt(t, s, history.MainBranch, view.OpenAI)
	equal(t, string(now.Bytes[:now.Prefix]), string(prefix.Bytes[:prefix.Prefix]))
	equal(t, says(t, s, history.MainBranch),
		"user one | update date became 2 | model answer | model answer")
}

func TestE29_model_switch_with_a_source_unavailable(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	for i, step := range []string{storetest.Value("core/date", `1`), unread("core/date"),
		storetest.Value("core/date", `2`)} {
		m := conversation.Message{Role: "model", Author: fmt.Sprint("model-", i), Text: "answer"}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		observe(t, s, step)
		equal(t, block(t, s, history.MainBranch), "date is 1")
	}
	equal(t, says(t, s, history.MainBranch),
		"model answer | model answer | model answer | update date became 2")
}

func TestE30_agent_switch_changes_a_value(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/skills", `["review"]`), storetest.Value("core/date", `1`))
	tells(t,
		observe(t, s, storetest.Value("core/skills", `["deploy"]`),
			storetest.Value("core/date", `1`)), epoch.Updated, `skills became ["deploy"]`)
	equal(t, block(t, s, history.MainBranch), "skills is [\"review\"]\n\ndate is 1")
}

func TestE32_new_place_is_told(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/env", `"/a"`), storetest.Value("core/date", `1`))
	tells(t, observe(t, s, storetest.Value("core/env", `"/b"`), storetest.Value("core/date", `1`)),
		epoch.Updated, `env became "/b"`)
	equal(t, block(t, s, history.MainBranch), "env is \"/a\"\n\ndate is 1")
}

// A runner that has not noticed what happened meanwhile says which tip it knows.
func TestE33_old_runner_is_refused(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/env", `"/a"`))
	old := storetest.Say(t, s, "talk", "user", "one")
	tip := storetest.Say(t, s, "talk", "user", "two")
	before := files(t, s.Dir)
	_, err := s.Epochs.Observe(context.Background(), "talk", history.MainBranch,
		setOf(t, storetest.Value("core/env", `"/b"`)), epochs.ObserveOptions{Expect: old})
	if !errors.Is(err, history.ErrStale) {
		t.Fatalf("error %v", err)
	}
	equal(t, files(t, s.Dir), before)
	done, err := s.Epochs.Observe(context.Background(), "talk", history.MainBranch,
		setOf(t, storetest.Value("core/env", `"/b"`)), epochs.ObserveOptions{Expect: tip})
	if err != nil || done.Result != epoch.Updated {
		t.Fatalf("%+v, error %v", done, err)
	}
}

// A rewind restores what held, where the scenario would clear it: the model is shown the block and
// the updates of before again, so that is what it believes.
func TestE34_rewind_restores_what_held(t *testing.T) {
	s := storetest.Create(t)
	first := observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	second := observe(t, s, storetest.Value("core/date", `2`))
	two := storetest.Say(t, s, "talk", "user", "two")
	observe(t, s, storetest.Value("core/date", `3`))
	storetest.Say(t, s, "talk", "user", "three")
	all := prompt(t, s, history.MainBranch, view.Gemini).Bytes
	rewind := func(target, wantEpoch format.ID, want string) {
		t.Helper()
		storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
			history.MainBranch, target, conversation.RewindOptions{}))
		equal(t, says(t, s, history.MainBranch), want)
		if got := storetest.View(t, s).Get(
			epochs.EpochRef("talk", history.MainBranch)).ID; got != wantEpoch {
			t.Fatalf("epoch %v, want %v", got, wantEpoch)
		}
		storetest.Check(t, s)
	}
	rewind(two, second.Epoch, "user one | update date became 2")
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Unchanged, "")
	tells(t, observe(t, s, storetest.Value("core/date", `3`)), epoch.Updated, "date became 3")
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	// The rewind
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	equal(t, string(prompt(t, s, history.MainBranch, view.Gemini).Bytes), string(all))
	storetest.Check(t, s)
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(context.Background(), "talk"))
	rewind(second.Entry, first.Epoch, "user one")
	rewind(first.Entry, format.ID{}, "")
	if storetest.View(t, s).Get(epochs.EpochRef("talk", history.MainBranch)).Exists() {
		t.Error("an epoch where nothing was observed")
	}
	tells(t, observe(t, s, storetest.Value("core/date", `1`)), epoch.Initial, "date is 1")
}

// A rewind to before a leave is a leave of its own: what held there is one block then.
func TestE34_rewind_behind_a_leave(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "zero")
	observe(t, s, storetest.Value("core/date", `2`))
	var ids []format.ID
	for i := range 10 {
		ids = append(ids, storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i)))
	}
	observe(t, s, storetest.Value("core/date", `3`))
	for i := range 10 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("later ", i))
	}
	equal(t, block(t, s, history.MainBranch), "date is 3")
	all := believed(t, s, history.MainBranch)
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
		history.MainBranch, ids[2], conversation.RewindOptions{}))
	equal(t, believed(t, s, history.MainBranch), "core/date=2")
	equal(t, block(t, s, history.MainBranch), "date is 2")
	storetest.Check(t, s)
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
	equal(t, believed(t, s, history.MainBranch), all)
	storetest.Check(t, s)
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(context.Background(), "talk"))
	equal(t, believed(t, s, history.MainBranch), "core/date=2")
	storetest.Check(t, s)
}

// A leave is passed over by undo and redo with what was said before it, though it has put a fold on
// the branch.
func TestE27_undo_over_a_fold(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`))
	for i := range 5 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
	}
	observe(t, s, storetest.Value("core/date", `2`))
	last := storetest.Say(t, s, "talk", "user", "last")
	leave(t, s)
	tip := storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).ID
	if tip == last || block(t, s, history.MainBranch) != "date is 2" {
		t.Fatal("nothing was folded")
	}
	storetest.Say(t, s, "talk", "user", "after it")
	turn := func(do func(context.Context, string) (conversation.Undone, error), verb, want string) {
		t.Helper()
		if done := storetest.Must[conversation.Undone](t)(
			do(context.Background(), "talk")); done.Verb != verb {
			t.Fatalf("%s, want %s", done.Verb, verb)
		}
		equal(t, believed(t, s, history.MainBranch), want)
		storetest.Check(t, s)
	}
	turn(s.Conversation.Undo, "append", "core/date=2")
	turn(s.Conversation.Undo, "append", "core/date=2") // "last", and the fold with it
	turn(s.Conversation.Undo, "observe", "core/date=1")
	turn(s.Conversation.Redo, "observe", "core/date=2")
	turn(s.Conversation.Redo, "append", "core/date=2")
	turn(s.Conversation.Redo, "append", "core/date=2") // on top of the fold, which comes back
	equal(t, block(t, s, history.MainBranch), "date is 2")
}

func TestE35_fork_from_the_past(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	two := storetest.Say(t, s, "talk", "user", "two")
	observe(t, s, storetest.Value("core/date", `3`))
	storetest.Say(t, s, "talk", "user", "three")
	branchAt(t, s, history.MainBranch, "child", two)
	equal(t, block(t, s, "child"), "date is 3")
	equal(t, says(t, s, "child"), "user one | update date became 2 | user two")
	tells(t, observeIn(t, s, "child", storetest.Value("core/date", `3`)), epoch.Unchanged, "")
	tells(t, observeIn(t, s, "child", storetest.Value("core/date", `4`)), epoch.Updated,
		"date became 4")
	equal(t, says(t, s, "child"),
		"user one | update date became 2 | user two | update date became 4")
	equal(t, believed(t, s, history.MainBranch), "core/date=3")
	storetest.CheckEpochs(t, s)
}

// A branch has what it needs in its own history: no other branch is asked.
func TestE36_fork_of_a_fork(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	one := storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	branchAt(t, s, history.MainBranch, "child", one)
	two := storetest.SayOn(t, s, "child", "user", "two")
	observeIn(t, s, "child", storetest.Value("core/date", `3`))
	branchAt(t, s, "child", "grandchild", two)
	want := prompt(t, s, "grandchild", view.Gemini).Bytes
	equal(t, block(t, s, "grandchild"), "date is 3")
	err := s.Store.Locked(context.Background(), func(tx *store.Tx) error {
		op := &format.Operation{Verb: refs.VerbSessionRm, Session: "talk"}
		for _, name := range []string{history.RefName("talk", "child"),
			epochs.EpochRef("talk", "child"), history.RefName("talk", history.MainBranch),
			epochs.EpochRef("talk", history.MainBranch)} {
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: tx.View.Get(name)})
		}
		return tx.Commit(op)
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(prompt(t, s, "grandchild", view.Gemini).Bytes), string(want))
	tells(t, observeIn(t, s, "grandchild", storetest.Value("core/date", `3`)), epoch.Unchanged, "")
}

func TestE37_removal_that_the_parent_was_not_told(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`))
	one := storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	branchAt(t, s, history.MainBranch, "child", one)
	tells(t, observeIn(t, s, "child", storetest.Value("core/date", `2`), gone("api/plan")),
		epoch.Updated, "plan has gone")
	tells(t, observeIn(t, s, "child", storetest.Value("core/date", `2`), gone("api/plan")),
		epoch.Unchanged, "")
	equal(t, believed(t, s, history.MainBranch), `core/date=2 api/plan="p"`)
}

// What a parent was told its children know, and what a child was told is its own: it is in nobody's
// prompt after the join, and its epoch ends with it.
func TestE36_children_of_a_fork(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "talk",
		history.MainBranch, []string{"left", "right"}, conversation.ForkOptions{}))
	storetest.CheckEpochs(t, s)
	for _, child := range []string{"left", "right"} {
		equal(t, says(t, s, child), "user one | update date became 2")
		tells(t, observeIn(t, s, child, storetest.Value("core/date", `2`)), epoch.Unchanged, "")
	}
	tells(t, observeIn(t, s, "left", storetest.Value("core/date", `3`)), epoch.Updated,
		"date became 3")
	storetest.SayOn(t, s, "left", "model", "left says")
	storetest.SayOn(t, s, "right", "model", "right says")
	equal(t, believed(t, s, "right"), "core/date=2")
	storetest.CheckEpochs(t, s)
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(context.Background(), "talk",
		history.MainBranch, []string{"left", "right"}, conversation.JoinOptions{}))
	storetest.CheckEpochs(t, s)
	equal(t, says(t, s, history.MainBranch),
		"user one | update date became 2 | model left says | model right says")
	equal(t, believed(t, s, history.MainBranch), "core/date=2")
	tells(t, observe(t, s, storetest.Value("core/date", `3`)), epoch.Updated, "date became 3")
	for _, verb := range []func(context.Context, string) (conversation.Undone, error){
		s.Conversation.Undo, s.Conversation.Undo, s.Conversation.Redo, s.Conversation.Redo,
	} {
		storetest.Must[conversation.Undone](t)(verb(context.Background(), "talk"))
		storetest.CheckEpochs(t, s)
	}
	equal(t, believed(t, s, history.MainBranch), "core/date=3")
}

// A line from behind a leave begins with what is so now, and leaves there itself.
func TestE35_fork_from_behind_a_leave(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`))
	var ids []format.ID
	for i := range 10 {
		if i == 2 {
			observe(t, s, storetest.Value("core/date", `2`))
		}
		ids = append(ids, storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i)))
	}
	observe(t, s, storetest.Value("core/date", `3`))
	for i := range 3 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("later ", i))
	}
	branchAt(t, s, history.MainBranch, "old", ids[3])
	branchAt(t, s, history.MainBranch, "new", format.ID{})
	for _, branch := range []string{"old", "new"} {
		tells(t, observeIn(t, s, branch, storetest.Value("core/date", `3`)), epoch.Unchanged, "")
		equal(t, believed(t, s, branch), "core/date=3")
	}
	equal(t, block(t, s, "old"), "date is 3")
}

// A branch that starts before a call does not wait for it; the one that made it does.
func TestE38_fork_while_a_call_is_open(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	one := storetest.Say(t, s, "talk", "user", "one")
	parts(t, s, history.MainBranch, "model", `[{"functionCall":{"id":"c1","name":"ls","args":{}}}]`)
	branchAt(t, s, history.MainBranch, "child", one)
	refused(t, s, history.ErrRefused, "c1", storetest.Value("core/date", `2`))
	tells(t, observeIn(t, s, "child", storetest.Value("core/date", `2`)), epoch.Updated,
		"date became 2")
	equal(t, believed(t, s, history.MainBranch), "core/date=1")
}

// E39 to E42 at the store: an observation is made between steps.
func TestE39_observation_inside_a_call(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "go")
	parts(t, s, history.MainBranch, "model",
		`[{"functionCall":{"id":"a","name":"ls","args":{}}},{"functionCall":{"id":"b","name":"ls","args":{}}}]`)
	refused(t, s, history.ErrRefused, "a, b", storetest.Value("core/date", `2`))
	// Whether there is something to tell or not
	refused(t, s, history.ErrRefused, "a, b", storetest.Value("core/date", `1`))
	if _, err := s.Epochs.Preview(storetest.View(t, s), "talk", history.MainBranch,
		setOf(t, storetest.Value("core/date", `2`)), epochs.ObserveOptions{}); !errors.Is(err,
		history.ErrRefused) {
		t.Fatalf("preview: error %v", err)
	}
	parts(t, s, history.MainBranch, "tool",
		`[{"functionResponse":{"id":"b","name":"ls","response":{"output":"x"}}}]`)
	refused(t, s, history.ErrRefused, ": a", storetest.Value("core/date", `2`))
	parts(t, s, history.MainBranch, "tool",
		`[{"functionResponse":{"id":"a","name":"ls","response":{"output":"x"}}}]`)
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Updated, "date became 2")
}

func TestE41_call_that_the_provider_runs(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	parts(t, s, history.MainBranch, "model",
		`[{"executableCode":{"code":"1+1"}},{"functionCall":{"id":"p","name":"search","args":{}},"providerExecuted":true}]`)
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Updated, "date became 2")
}

func TestE42_call_open_for_turns(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	observe(t, s, storetest.Value("core/date", `1`))
	parts(t, s, history.MainBranch, "model", `[{"functionCall":{"id":"a","name":"ls","args":{}}}]`)
	for i := range 2 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("question ", i))
		storetest.Say(t, s, "talk", "model", "answer")
	}
	refused(t, s, history.ErrRefused, ": a", storetest.Value("core/date", `2`))
	// When it has left the tail it is in no request any more.
	for i := range 12 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("question ", i))
	}
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Updated, "date became 2")
	// The result of a call may come as a newer version of the message that made it.
	call := conversation.Message{Role: "model",
		Parts:  []byte(`[{"functionCall":{"id":"b","name":"ls","args":{}}}]`),
		Source: &conversation.Source{Agent: "x", Session: "talk", Message: "m"}}
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
		[]conversation.Message{call}, conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	refused(t, s, history.ErrRefused, ": b", storetest.Value("core/date", `3`))
	call.Parts = []byte(
		`[{"functionCall":{"id":"b","name":"ls","args":{}}},{"functionResponse":{"id":"b","name":"ls","response":{}}}]`)
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
		[]conversation.Message{call}, conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	tells(t, observe(t, s, storetest.Value("core/date", `3`)), epoch.Updated, "date became 3")
}

// What was told is told: a request that failed is sent again with the same update.
func TestE45_failed_attempt_is_repeated(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	storetest.Say(t, s, "talk", "user", "one")
	observe(t, s, storetest.Value("core/date", `2`))
	first := prompt(t, s, history.MainBranch, view.Anthropic).Bytes
	tells(t, observe(t, s, storetest.Value("core/date", `2`)), epoch.Unchanged, "")
	equal(t, string(prompt(t, s, history.MainBranch, view.Anthropic).Bytes), string(first))
}

// The entry and the branch's epoch move in one operation: stopped at any call, both have happened
// or neither.
func TestE46_stop_between(t *testing.T) {
	from := storetest.Create(t, storetest.Small...)
	observe(t, from, storetest.Value("core/date", `1`))
	for i := range 6 {
		storetest.Say(t, from, "talk", "user", fmt.Sprint("message ", i))
	}
	observe(t, from, storetest.Value("core/date", `2`))
	for name, do := range map[string]func(*session.Store) error{
		"observe": func(s *session.Store) error {
			_, err := s.Epochs.Observe(context.Background(), "talk", history.MainBranch,
				setOf(t, storetest.Value("core/date", `3`)), epochs.ObserveOptions{})
			return err
		},
		"fold": func(s *session.Store) error {
			var batch []conversation.Message
			for i := range 4 {
				batch = append(batch,
					conversation.Message{Role: "user", Text: fmt.Sprint("more ", i)})
			}
			_, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
				batch, conversation.AppendOptions{})
			return err
		},
		"rewind": func(s *session.Store) error {
			_, err := s.Conversation.Rewind(context.Background(), "talk", history.MainBranch,
				storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).ID,
				conversation.RewindOptions{})
			return err
		},
		"undo": func(s *session.Store) error {
			_, err := s.Conversation.Undo(context.Background(), "talk")
			return err
		},
		"session rm": func(s *session.Store) error {
			_, err := s.Conversation.RemoveSession(context.Background(), "talk")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := func(s *session.Store) string {
				storetest.Check(t, s)
				if !storetest.View(t, s).Get(history.RefName("talk", history.MainBranch)).Exists() {
					return ""
				}
				return string(prompt(t, s, history.MainBranch, view.Text).Bytes)
			}
			before := state(from)
			whole := storetest.CopyStore(t, from.Dir)
			steps := 0
			counting := &durable.FS{Hook: func(durable.Call) error { steps++; return nil }}
			if err := do(storetest.Reopen(t, whole, counting, storetest.Small...)); err != nil {
				t.Fatal(err)
			}
			after := state(storetest.Reopen(t, whole, nil, storetest.Small...))
			if after == before {
				t.Fatal("nothing happened")
			}
			for n := 1; n <= steps; n++ {
				for _, torn := range []bool{false, true} {
					dir := storetest.CopyStore(t, from.Dir)
					err := do(
						storetest.Reopen(t, dir, &durable.FS{Hook: func(c durable.Call) error {
							switch {
							case c.N < n:
								return nil
							case torn && c.N == n:
								return &durable.Torn{Keep: len(c.Data) / 2}
							}
							return durable.ErrStopped
						}}, storetest.Small...))
					got := state(storetest.Reopen(t, dir, nil, storetest.Small...))
					if got != before && got != after || err == nil && got != after {
						t.Fatalf("stopped at %d: error %v, and\n%s", n, err, got)
					}
					if err := os.RemoveAll(filepath.Dir(filepath.Dir(dir))); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("%d calls, each stopped twice", steps)
		})
	}
}

func TestE48_put_remove_put(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	tells(t, observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`)),
		epoch.Updated, `plan is "p"`)
	tells(t, observe(t, s, storetest.Value("core/date", `1`), gone("api/plan")), epoch.Updated,
		"plan has gone")
	equal(t, believed(t, s, history.MainBranch), "core/date=1 api/plan=removed")
	tells(t, observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/plan", `"p"`)),
		epoch.Updated, `plan is "p"`)
	equal(t, says(t, s, history.MainBranch),
		`update plan is "p" | update plan has gone | update plan is "p"`)
}

// Nothing is observed but when an agent asks for it.
func TestE49_nothing_by_itself(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	was := storetest.View(t, s).Get(epochs.EpochRef("talk", history.MainBranch))
	for i := range 5 {
		storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
		prompt(t, s, history.MainBranch, view.Text)
	}
	if now := storetest.View(t, s).Get(epochs.EpochRef("talk", history.MainBranch)); now != was {
		t.Fatal("the epoch moved")
	}
}

func TestE50_two_observers(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	n := operations(t, s)
	var wg sync.WaitGroup
	results := make([]epochs.Observed, 8)
	set := setOf(t, storetest.Value("core/date", `2`))
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], err = s.Epochs.Observe(context.Background(), "talk", history.MainBranch,
				set, epochs.ObserveOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	updated := 0
	for _, r := range results {
		if r.Result == epoch.Updated {
			updated++
		}
	}
	if updated != 1 || operations(t, s) != n+1 {
		t.Fatalf("%d updates, %d operations", updated, operations(t, s)-n)
	}
	storetest.Check(t, s)
}

// One that was decided without the lock is decided again under it.
func TestE50_decided_again_under_the_lock(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	set := setOf(t, storetest.Value("core/date", `2`))
	storetest.Must[epochs.Observed](t)(s.Epochs.Preview(storetest.View(t, s), "talk",
		history.MainBranch, set, epochs.ObserveOptions{}))
	observe(t, s, storetest.Value("core/date", `2`))
	err := s.Store.Locked(context.Background(), func(tx *store.Tx) error {
		done, err := s.Epochs.Begin(tx).Observe("talk", history.MainBranch, set,
			epochs.ObserveOptions{})
		tells(t, done, epoch.Unchanged, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What cannot be compacted is compacted to nothing, and no source is asked for it.
func TestE52_compaction_of_nothing(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	was := storetest.View(t, s).Get(epochs.EpochRef("talk", history.MainBranch))
	leave(t, s)
	if now := storetest.View(t, s).Get(epochs.EpochRef("talk", history.MainBranch)); now != was {
		t.Fatal("the epoch moved")
	}
}

func TestE53_new_source_unavailable_at_first(t *testing.T) {
	s := storetest.Create(t)
	observe(t, s, storetest.Value("core/date", `1`))
	tells(t, observe(t, s, storetest.Value("core/date", `1`), unread("api/x")), epoch.Unchanged, "")
	equal(t, believed(t, s, history.MainBranch), "core/date=1")
	tells(t, observe(t, s, storetest.Value("core/date", `1`), storetest.Value("api/x", `1`)),
		epoch.Updated, "x is 1")
}

func TestE54_preview_says_the_same(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "other", "user", "x")
	for _, lines := range [][]string{
		{storetest.Value("core/date", `1`), storetest.Value("core/env", `1`)},
		{storetest.Value("core/date", `1`), storetest.Value("core/env", `1`)},
		{storetest.Value("core/date", `2`), gone("core/env"), storetest.Value("api/x", `null`)},
		{storetest.Value("core/date", `2`), unread("core/env")},
	} {
		before := files(t, s.Dir)
		told := storetest.Must[epochs.Observed](t)(s.Epochs.Preview(storetest.View(t, s), "talk",
			history.MainBranch, setOf(t, lines...), epochs.ObserveOptions{}))
		equal(t, files(t, s.Dir), before)
		done := observe(t, s, lines...)
		if !done.Entry.IsZero() {
			told.Entry = done.Entry
		}
		equal(t, fmt.Sprintf("%+v", told), fmt.Sprintf("%+v", done))
	}
}
