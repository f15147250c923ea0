package main

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestConformance(t *testing.T) {
	s := started(t)
	s.granted(t, "conformance", "ann")
	remotetest.Check(t, func(t *testing.T) remote.Remote {
		r, err := openDatabase(t.Context(), s.url("ann", "conformance"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
	r := s.open(t, "ann", "conformance")
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
	// A file of the largest size.
	data := bytes.Repeat([]byte("0123456789"), remote.MaxFile/10)
	if err := r.PutNew(t.Context(), "packs/large", data); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Get(t.Context(), "packs/large"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// Nobody without a grant sees or changes anything of a team: not by the remote, not with psql, not
// by a partition, a function, or a URL with the name of the other team.
func TestTeams(t *testing.T) {
	s := started(t)
	s.granted(t, "a", "ann")
	s.granted(t, "b", "bob")
	s.granted(t, "a", "friends") // of whom carl is one
	at := time.Now().UTC()
	for role, team := range map[string]string{"ann": "a", "bob": "b"} {
		r := s.open(t, role, team)
		if err := r.Swap(t.Context(), "stores/1/head", nil, []byte("of "+role)); err != nil {
			t.Fatal(err)
		}
		if err := r.Index(t.Context(),
			[]remote.Message{{ID: "1", Store: "1", Session: "s", At: at, Role: "user",
				Text: "the harbour of " + role}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openDatabase(t.Context(), s.url("bob", "a")); err == nil ||
		!strings.Contains(err.Error(), `"bob" was not granted team "a"`) {
		t.Errorf("got %v", err)
	}
	if got, err := s.open(t, "carl", "a").Get(t.Context(), "stores/1/head"); err != nil ||
		string(got) != "of ann" {
		t.Errorf("a member of a granted role: %q, %v", got, err)
	}
	partition := "ctx.messages_" + at.Format("2006_01")
	for _, c := range []struct{ statement, want string }{
		{"select team, convert_from(content, 'UTF8') from ctx.files", "b|of bob\n"},
		{"select team, text from ctx.messages", "b|the harbour of bob\n"},
		{"select team from ctx.grants", "b\n"},
		{"select session from ctx.search('a', 'harbour', 9)", ""},
		{"select session from ctx.search('b', 'harbour', 9)", "s\n"},
		{"select ctx.granted('a')", "f\n"},
		{"select * from " + partition, "ERROR:  permission denied"},
		{"select * from ctx.messages_other", "ERROR:  permission denied"},
		{"update ctx.files set team = 'a'", "ERROR:  new row violates row-level security"},
		{"insert into ctx.files (team, name, content) values ('a', 'x', '')",
			"ERROR:  new row violates row-level security"},
		{"insert into ctx.grants values ('a', 'bob')", "ERROR:  permission denied"},
		{"with gone as (delete from ctx.files where team = 'a' returning 1) select count(*) " +
			"from gone", "0\n"},
		{"with gone as (delete from ctx.messages where team = 'a' returning 1) select count(*) " +
			"from gone", "0\n"},
		{"alter table ctx.files disable row level security", "ERROR:  must be owner"},
		{"set row_security = off; select * from ctx.files",
			"ERROR:  query would be affected by row-level security"},
		{"create function pg_temp.f(text) returns boolean language plpgsql cost 0.0001 as $$ " +
			"begin raise notice 'saw %', $1; return true; end $$; select count(*) from " +
			"ctx.messages where pg_temp.f(text)",
			"NOTICE:  saw the harbour of bob\n1\n"},
		{"set role boss", "ERROR:  permission denied to set role"},
	} {
		got := s.psql(t, "bob", c.statement)
		if strings.HasPrefix(c.want, "ERROR") && strings.Contains(got, c.want) || got == c.want {
			continue
		}
		t.Errorf("as bob, %s: got %q, want %q", c.statement, got, c.want)
	}
	if got := s.psql(t, "boss", "select count(*) from ctx.files"); got != "0\n" {
		t.Errorf("the owner of the tables sees files: %q", got)
	}
	// A right that is taken back is gone for a connection that is open.
	r := s.open(t, "carl", "a")
	if err := revoke(t.Context(), s.url("boss", ""), "a", "friends"); err != nil {
		t.Fatal(err)
	}
	if files, err := r.List(t.Context(), ""); err == nil && len(files) > 0 {
		t.Errorf("carl still sees %v", files)
	}
	if err := r.PutNew(t.Context(), "x", nil); err == nil {
		t.Error("carl still writes")
	}
}

func TestSearch(t *testing.T) {
	s := started(t)
	s.granted(t, "search", "ann")
	r := s.open(t, "ann", "search")
	old := time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC)
	messages := []remote.Message{
		{ID: "1", Store: "x", Session: "main", At: old, Role: "user",
			Text: "Put the database on port 5433, please."},
		{ID: "2", Store: "x", Session: "main", At: old.AddDate(5, 0, 0), Role: "model",
			Text: "The databases run on ports 5433 and 5434; database, database."},
		{ID: "1", Store: "y", Session: "other", At: old.AddDate(6, 1, 0), Role: "tool",
			Text: "a zero byte \x00 and half a rune \xff"},
		{ID: "3", Store: "y", Session: "other", At: old.AddDate(6, 1, 0), Role: "user",
			Text: "many different words-" + strings.Repeat("x", 50) +
				strings.Repeat(" filler", remote.MaxText/8)},
	}
	if err := r.Index(t.Context(), append(messages, messages[0])); err != nil {
		t.Fatal(err)
	}
	messages[0].Text = "Put the database on port 6000, please."
	if err := r.Index(t.Context(), messages[:1]); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"database": "2x 1x ", "port 5433": "2x ", "6000": "1x ", `"on port 6000"`: "1x ",
		"database -5434": "1x ", "zero or 6000": "1y 1x ", "nothing": "",
		"": "", `"`: "", "':* & |": "", "zero \x00": "1y ", "\xff zero": "1y ",
	} {
		hits, err := r.Search(t.Context(), query, 10)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		got := ""
		for _, h := range hits {
			got += h.ID + h.Store + " "
		}
		if want == "1y 1x " && got == "1x 1y " {
			continue // two equal ranks of different words
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	hits, err := r.Search(t.Context(), "6000", 1)
	if err != nil || len(hits) != 1 || !hits[0].At.Equal(old) || hits[0].Session != "main" ||
		hits[0].Role != "user" || !strings.Contains(hits[0].Text, "port 6000") ||
		hits[0].Rank <= 0 {
		t.Errorf("got %+v, %v", hits, err)
	}
	if err := r.Forget(t.Context(), "x", []string{"1", "none"}); err != nil {
		t.Fatal(err)
	}
	if hits, err := r.Search(t.Context(), "6000", 1); err != nil || len(hits) > 0 {
		t.Errorf("got %+v, %v", hits, err)
	}
	if hits, err := r.Search(t.Context(), "zero", 1); err != nil || len(hits) != 1 {
		t.Errorf("forget took the message of another store: %+v, %v", hits, err)
	}
}

// A phrase is found by its pairs of words, and nothing else is: in any month, however it is
// written.
func TestPhrases(t *testing.T) {
	s := started(t)
	s.granted(t, "phrases", "ann")
	r := s.open(t, "ann", "phrases")
	for i, text := range []string{
		"the deploy script has no rollback",
		"no rollback of the script that they deploy", // the words without the phrase
		"a cat and a dog, the rolled-back deploy",
		"see http://example.com/deploy/script or it's gone; cat dog",
		strings.Repeat("filler ", 20_000) + "deploy script", // no positions so far out
	} {
		m := remote.Message{ID: strconv.Itoa(i + 1), Store: "x", Session: "main",
			At:   time.Date(2026, time.Month(11-2*i), 3, 0, 0, 0, 0, time.UTC),
			Role: "user", Text: text}
		if err := r.Index(t.Context(), []remote.Message{m}); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		`"deploy script"`: "1", `deploy script`: "125", `"deploy scripts have no rollback"`: "1",
		`"script deploy"`: "", `"no rollback" deploy`: "12",
		`"no rollback" -has`: "12", `"no rollback" -they`: "12",
		`"no rollback" -"deploy script"`: "2", `"deploy script" or "cat and a dog"`: "13",
		`"cat and a dog"`: "3", `"cat dog"`: "4", `"a cat and a dog" "back deploy"`: "3",
		`rolled-back`: "3", `"example.com/deploy/script"`: "4",
		`"it's gone"`: "4", `"gone cat dog"`: "4", `"dog and cat"`: "", `"deploy`: "1235",
		`"rollback of the script"`: "2",
	} {
		hits, err := r.Search(t.Context(), query, 10)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.ID)
		}
		slices.Sort(got)
		if strings.Join(got, "") != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// A search ranks the newest 1,000 messages that match, whatever month they are in or if in none.
func TestNewestAreRanked(t *testing.T) {
	s := started(t)
	s.granted(t, "newest", "ann")
	r := s.open(t, "ann", "newest")
	put := func(id string, at time.Time, text string) {
		t.Helper()
		if err := r.Index(t.Context(),
			[]remote.Message{{ID: id, Store: "x", Session: "main", At: at, Role: "user",
				Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	put("none", time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), "kestrel kestrel kestrel")
	put("march", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "kestrel kestrel kestrel kestrel")
	put("may", time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), "kestrel kestrel")
	best := func() string {
		t.Helper()
		hits, err := r.Search(t.Context(), "kestrel", 2)
		if err != nil || len(hits) != 2 {
			t.Fatalf("got %v, error %v", hits, err)
		}
		return hits[0].ID + " " + hits[1].ID
	}
	if got := best(); got != "march none" {
		t.Errorf("of three messages, the best are %s", got)
	}
	fill := func(first, last int) {
		t.Helper()
		s.sql(t, "team",
			fmt.Sprintf(`insert into ctx.messages (team, store, id, session, at, role, text, tsv)
			select 'newest', 'x', i::text, 'main', '2026-05-02'::timestamptz + make_interval(secs => i), 'user', 'kestrel', to_tsvector('english', 'kestrel')
			from generate_series(%d, %d) i`, first, last))
	}
	fill(1, 998)
	if got := best(); got != "march may" {
		t.Errorf("with 998 newer ones, the best are %s", got)
	}
	fill(999, 999)
	if got := best(); got != "may 999" {
		t.Errorf("with 999 newer ones, the best are %s", got)
	}
}

// Tables of each version before become those of this one, with what is in them.
func TestMigration(t *testing.T) {
	s := started(t)
	s.sql(t, "postgres", "create database earlier owner boss")
	boss := strings.Replace(s.url("boss", ""), "/team?", "/earlier?", 1)
	if _, err := initTo(t.Context(), boss, 1); err != nil {
		t.Fatal(err)
	}
	s.sql(t, "earlier", `insert into ctx.messages (team, store, id, session, at, role, text, tsv)
		values ('old', 'x', '1', 'main', now(), 'user', 'the deploy script', to_tsvector('english', 'the deploy script'))`)
	if before, err := initialize(t.Context(), boss); err != nil || before != 1 {
		t.Fatalf("got %d, error %v", before, err)
	}
	if err := grant(t.Context(), boss, "old", "ann"); err != nil {
		t.Fatal(err)
	}
	r, err := openDatabase(t.Context(),
		strings.Replace(s.url("ann", "old"), "/team?", "/earlier?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, query := range []string{"script", `"deploy script"`} {
		if hits, err := r.Search(t.Context(), query, 10); err != nil || len(hits) != 1 {
			t.Errorf("%s: got %v, error %v", query, hits, err)
		}
	}
}

// Init again changes nothing; newer tables, older ones and none are refused, with what to do.
func TestVersions(t *testing.T) {
	s := started(t)
	if before, err := initialize(t.Context(), s.url("boss", "")); err != nil ||
		before != schemaVersion {
		t.Fatalf("got %d, %v", before, err)
	}
	s.granted(t, "versions", "ann")
	s.sql(t, "team", "insert into ctx.version (version) values (1000)")
	_, err := openDatabase(t.Context(), s.url("ann", "versions"))
	_, again := initialize(t.Context(), s.url("boss", ""))
	granting := grant(t.Context(), s.url("boss", ""), "versions", "bob")
	s.sql(t, "team", "delete from ctx.version where version = 1000")
	for _, err := range []error{err, again, granting} {
		if err == nil || !strings.Contains(err.Error(), "version 1000") ||
			!strings.Contains(err.Error(), "update") {
			t.Errorf("got %v", err)
		}
	}
	s.sql(t, "postgres", "create database empty")
	empty := strings.Replace(s.url("ann", "versions"), "/team?", "/empty?", 1)
	if _, err := openDatabase(t.Context(), empty); err == nil ||
		!strings.Contains(err.Error(), "init") {
		t.Errorf("got %v", err)
	}
}

// No error has the password, whatever is wrong.
func TestPassword(t *testing.T) {
	const secret = "hunter2hunter2X9"
	for _, url := range []string{
		"postgres://ann:" + secret + "@127.0.0.1:1/db?team=a",
		"postgres://ann:" + secret + "@127.0.0.1:1/db",
		"postgres://ann:" + secret + "@[::1/db?team=a",
		"postgres://ann:" + secret + "@127.0.0.1:1/db?team=a&sslmode=nonsense",
		"mysql://ann:" + secret + "@h/db?team=a",
		"postgres://ann@127.0.0.1:1/db?team=a&password=" + secret,
		"postgres://ann:" + secret + "@127.0.0.1:1/db?team=A%20B",
		"postgres://ann:" + secret + "%zz@h/db?team=a",
	} {
		_, err := openDatabase(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), secret) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	_, err := openDatabase(t.Context(), "postgres://ann@127.0.0.1:1/db?team=a&sslmode=disable")
	if !errors.Is(err, remote.ErrTemporary) {
		t.Errorf("got %v", err)
	}
}

// What was acknowledged before the server and all its processes are killed is there afterwards, and
// the clients go on by themselves.
func TestKill(t *testing.T) {
	s := started(t)
	s.granted(t, "kill", "ann")
	const pushers, kills = 16, 3
	pushes := int64(20)
	if os.Getenv("CTX_POSTGRES_MESSAGES") != "" {
		pushes = 2000
	}
	acknowledged := make([]map[string]string, pushers)
	var count, failures atomic.Int64
	// A push that is under way is finished, so that all that is stored was acknowledged.
	var stopped atomic.Bool
	var pushing sync.WaitGroup
	for i := range pushers {
		r := s.open(t, "ann", "kill")
		acknowledged[i] = map[string]string{}
		pushing.Go(
			func() {
				push(t, r, fmt.Sprintf("stores/%d/", i), acknowledged[i], &count,
					&failures, &stopped)
			})
	}
	for kill := range int64(kills) {
		for count.Load() < (kill+1)*pushes {
			time.Sleep(time.Millisecond)
		}
		s.kill(t)
		if err := s.start(t); err != nil {
			t.Fatal(err)
		}
	}
	for before := count.Load(); count.Load() < before+pushes; {
		time.Sleep(time.Millisecond)
	}
	stopped.Store(true)
	pushing.Wait()
	r := s.open(t, "ann", "kill")
	files, lost := 0, 0
	for _, of := range acknowledged {
		for name, want := range of {
			got, err := r.Get(t.Context(), name)
			files++
			if err != nil || string(got) != want {
				lost++
				t.Errorf("%s: acknowledged %q, stored %q, %v", name, want, got, err)
			}
		}
	}
	t.Logf(
		"%d pushers, %d kills: %d swaps and %d files acknowledged, %d lost; %d calls failed and "+
			"were tried again", pushers, kills, count.Load(), files, lost, failures.Load())
	if failures.Load() == 0 {
		t.Error("no call met a killed server")
	}
}

// push puts a file and swaps a head until it is stopped, and notes what was acknowledged. After an
// error it reads what is there, as a store does.
func push(
	t *testing.T, r *database, folder string, acknowledged map[string]string,
	count, failures *atomic.Int64, stopped *atomic.Bool,
) {
	ctx := t.Context()
	var head []byte
	for n := 0; !stopped.Load(); {
		file, next := fmt.Sprintf("%slog/%d", folder, n), fmt.Appendf(nil, "head %d", n)
		err := r.PutNew(ctx, file, []byte(file))
		if err == nil {
			acknowledged[file] = file
			err = r.Swap(ctx, folder+"head", head, next)
		}
		if err == nil {
			acknowledged[folder+"head"] = string(next)
			head = next
			count.Add(1)
			n++
			continue
		}
		failures.Add(1)
		now, err := r.Get(ctx, folder+"head")
		switch {
		case errors.Is(err, remote.ErrNotFound):
			now = nil
		case err != nil:
			time.Sleep(10 * time.Millisecond)
			continue
		}
		switch string(now) {
		case string(next): // it was stored, and the answer was lost
			acknowledged[folder+"head"] = string(next)
			head = next
			n++
		case string(head):
		default:
			t.Errorf("%shead is %q, neither %q nor %q", folder, now, head, next)
			return
		}
	}
}
