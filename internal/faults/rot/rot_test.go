package rot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// The store that is damaged is made once. Tests run one after another and leave it as it was.
var shared struct {
	sync.Once
	top string
	*subject
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.top != "" {
		_ = os.RemoveAll(shared.top)
	}
	os.Exit(code)
}

func theSubject(t testing.TB) *subject {
	t.Helper()
	shared.Do(func() { shared.subject = newSubject(t) })
	if shared.subject == nil {
		t.Fatal("the store could not be made")
	}
	b := *shared.subject
	b.t = t
	return &b
}

// aKind returns the number of damages to try for a kind of file, half of which are flips.
// CTX_FAULTS=all tries everything, and flips every byte of a store that is among the first 4,096
// bytes of its kind.
func aKind(t testing.TB) int {
	t.Helper()
	switch n := os.Getenv("CTX_FAULTS"); n {
	case "":
		return 3
	case "all":
		return 1 << 30
	default:
		i, err := strconv.Atoi(n)
		if err != nil {
			t.Fatalf("CTX_FAULTS=%s", n)
		}
		return i
	}
}

// mine reports whether a case is tried: it is in the third that runs, or CTX_FAULTS asks for more.
func mine(t testing.TB, i int) bool {
	t.Helper()
	return os.Getenv("CTX_FAULTS") != "" || thirds.Mine(t, i)
}

// maxFlips is the largest number of flipped bytes for a kind of file.
const maxFlips = 4096

// place returns a directory in memory if there is one, because these tests do not test the disk.
func place(t testing.TB) string {
	t.Helper()
	if shared.top == "" {
		where := os.TempDir()
		if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
			where = "/dev/shm"
		}
		var err error
		if shared.top, err = os.MkdirTemp(where, "ctx-rot-"); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp(shared.top, "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// subject is a store that is damaged, with what is known about it while it is sound.
type subject struct {
	t     testing.TB
	dir   string
	kinds map[string][]*file
	ids   []format.ID
	named map[format.ID]bool // something leads to the object
	// answers holds the answers of the whole store, then those without the last operation, without
	// the last two and so on, back to the start of the newest segment.
	answers []Answers
	cache   map[string]string
	alloc   uint64 // bytes allocated by one look
}

func newSubject(t testing.TB) *subject {
	t.Helper()
	dir, err := Everything(place(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &subject{t: t, dir: dir, named: map[format.ID]bool{}}
	s, err := Open(dir, nil, Later)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if b.ids, err = IDs(s); err != nil {
		t.Fatal(err)
	}
	for _, id := range namedIn(t, dir) {
		b.named[id] = true
	}
	b.answers = append(b.answers, b.ask())
	b.kinds = read(t, dir)
	b.cache = map[string]string{}
	for _, kind := range []string{"cache", "search segment", "hook state"} {
		for _, f := range b.kinds[kind] {
			b.cache[f.path] = string(f.good)
		}
	}
	newest := b.kinds["log"][len(b.kinds["log"])-1]
	borders := newest.borders()
	for _, at := range slices.Backward(borders[:len(borders)-1]) {
		cut := newest.becomes("cut", newest.good[:at])
		if err := cut.do(); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadObjects(dir, b.ids); err == nil {
			b.answers = append(b.answers, got)
		}
		b.mend(cut)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.look()
	runtime.ReadMemStats(&after)
	b.alloc = after.TotalAlloc - before.TotalAlloc
	return b
}

// namedIn returns the objects that remain when everything that nothing names is removed from a
// copy.
func namedIn(t testing.TB, dir string) []format.ID {
	t.Helper()
	to := filepath.Join(place(t), ".gemini", "context")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(to, nil, Later)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Config.Log.Keep = 1000 * 24 * time.Hour
	if _, err := gc.Run(context.Background(), s.Opened, gc.Options{Grace: -1}); err != nil {
		t.Fatal(err)
	}
	ids, err := IDs(s)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (b *subject) ask() Answers {
	b.t.Helper()
	got, err := ReadObjects(b.dir, b.ids)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// mend undoes a damage, and removes what readers have cached meanwhile.
func (b *subject) mend(d *damage) {
	b.t.Helper()
	if err := d.mend(); err != nil {
		b.t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(b.dir, "cache"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(b.dir, "cache", f.Name())
		if _, ok := b.cache[path]; !ok {
			if err := os.RemoveAll(path); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	for path, text := range b.cache {
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// seen is the result of a look at a damaged store.
type seen struct {
	openErr error
	report  fsck.Report
	answers Answers
	readErr error
}

// look opens the store, checks it, and asks it everything.
func (b *subject) look() seen {
	var out seen
	s, err := Open(b.dir, nil, Later)
	if err != nil {
		out.openErr = err
		return out
	}
	defer s.Close()
	if out.report, err = fsck.Run(context.Background(), s.Opened, fsck.Options{}); err != nil {
		b.t.Fatal(err)
	}
	out.answers, out.readErr = ReadObjects(b.dir, b.ids)
	return out
}

// within gives up on a look that does not end. The time limit measures nothing.
func (b *subject) within(d *damage) (out seen) {
	b.t.Helper()
	done := make(chan seen, 1)
	go func() { done <- b.look() }()
	select {
	case out = <-done:
		return out
	case <-time.After(time.Minute):
		panic(fmt.Sprintf("%v: a reader hangs", d))
	}
}

// wrong returns the answers that are neither right nor a refusal.
func (b *subject) wrong(d *damage, out seen) []string {
	if out.openErr != nil || out.readErr != nil {
		err := errors.Join(out.openErr, out.readErr)
		if code := command.Explain(err).Code; code != command.Corrupt &&
			(d.kind != "format" || code != command.NoStore) &&
			(d.kind != "config.toml" || code != command.Usage) {
			return []string{fmt.Sprintf("exit %d: %v", code, err)}
		}
		return nil
	}
	var best []string
	for i, right := range b.answers {
		if i > 0 && d.kind != "log" {
			break
		}
		var list []string
		for _, q := range out.answers.Questions() {
			got, want := out.answers[q], right[q]
			switch {
			case got.Err == nil &&
				(want.Err != nil || got.Text != want.Text && !told(got.Text, want.Text)):
				list = append(list,
					fmt.Sprintf("%s: said %.200q, right is %.200q", q, got.Text, want.Text))
			case got.Err != nil && d.how == "deleted" && strings.HasPrefix(q, "prefix ") &&
				command.Explain(got.Err).Code == command.NotFound:
				// Nobody knows that a missing object existed.
			case got.Err != nil && want.Err == nil &&
				(cached(d.kind) || command.Explain(got.Err).Code != command.Corrupt):
				list = append(list,
					fmt.Sprintf("%s: exit %d: %v", q, command.Explain(got.Err).Code, got.Err))
			}
		}
		if list == nil {
			return nil
		}
		if best == nil || len(list) < len(best) {
			best = list
		}
	}
	return best
}

// told reports whether two answers differ only in lines that report an entry's text as unavailable
// because of damage.
func told(got, want string) bool {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] &&
			(!strings.Contains(a[i], `"" `+" gone \"damaged\"") ||
				a[i][:format.IDLen] != b[i][:format.IDLen]) {
			return false
		}
	}
	return true
}

// found reports whether fsck, or the error instead of its report, names a file: by its path, or by
// the id that is its name.
func (b *subject) found(d *damage, out seen) bool {
	id := strings.NewReplacer("objects/", "", "absent/", "", "pack/pack-", "", ".pack", "", ".idx",
		"", "/", "").Replace(d.name)
	points := func(text string) bool {
		return strings.Contains(text, d.path) ||
			strings.Contains(text, filepath.FromSlash(d.name)) ||
			len(id) == format.IDLen && strings.Contains(text, id)
	}
	if out.openErr != nil {
		return points(out.openErr.Error()) || strings.Contains(out.openErr.Error(), b.dir)
	}
	for _, f := range out.report.Faults {
		if points(f.String()) || f.Kind == "key" && d.kind == "key" {
			return true
		}
	}
	return false
}

// excuse returns the reason why a damage to a file of truth may give no finding, or "" if it must.
func (b *subject) excuse(d *damage, out seen) string {
	notes := strings.Join(out.report.Notes, "\n")
	id, err := format.ParseID(strings.ReplaceAll(strings.TrimPrefix(d.name, "objects/"), "/", ""))
	switch {
	case err == nil && !b.named[id]:
		return "nothing names it"
	case d.kind == "log" && strings.Contains(notes, "torn tail"):
		return "a torn tail, which is noted"
	case d.kind == "log" && d.bytes != nil && slices.Contains(d.borders(), len(d.bytes)):
		if strings.Contains(notes, "is named by nothing") {
			return "cut between records; what was said after is noted"
		}
		return "cut between records"
	case d.kind == "absent" && d.bytes != nil:
		return "another time of the same form"
	}
	return ""
}

// tally counts the results of the damages to a kind of file.
type tally struct {
	tried, faults, refused, harmless int
	excused                          map[string]int
}

// TestEveryFile damages every kind of file in every way. fsck must name each damage to a file of
// truth. Readers must get the right bytes, or a refusal with the exit code of damage. Cached files
// may be lost without a message. No reader may hang, or use more memory than the size of the store.
func TestEveryFile(t *testing.T) {
	const seed = 11
	b, n := theSubject(t), aKind(t)
	tallies := map[string]*tally{}
	for i, kind := range slices.Sorted(maps.Keys(b.kinds)) {
		if !mine(t, i) {
			continue
		}
		files := b.kinds[kind]
		r := rand.New(rand.NewPCG(seed, uint64(len(kind))))
		count := &tally{excused: map[string]int{}}
		tallies[kind] = count
		most := n
		if cached(kind) && n < 100 {
			most = (n + 1) / 2
		}
		for _, d := range choose(r, files, most) {
			count.tried++
			b.try(d, count)
			if t.Failed() && count.tried > 200 {
				break
			}
		}
	}
	if after := b.ask(); !same(after, b.answers[0]) {
		t.Error("the store is not as it was: a damage was not taken back")
	}
	t.Logf("seed %d, %d a kind", seed, n)
	var kinds []string
	for kind := range tallies {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	total := 0
	for _, kind := range kinds {
		c := tallies[kind]
		total += c.tried
		t.Logf(
			"%-16s %5d tried: fsck names %d, the store is refused for %d, harmless %d, excused %v",
			kind, c.tried, c.faults, c.refused, c.harmless, c.excused)
	}
	t.Logf("%d damages", total)
}

func same(a, b Answers) bool {
	for q, want := range b {
		if a[q].Text != want.Text {
			return false
		}
	}
	return len(a) == len(b)
}

func (b *subject) try(d *damage, count *tally) {
	t := b.t
	t.Helper()
	if err := d.do(); err != nil {
		t.Fatal(d, err)
	}
	defer b.mend(d)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := b.within(d)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4*b.alloc+64<<20 {
		t.Errorf("%v: %d bytes were allocated", d, used)
	}
	if d.kind != "config.toml" {
		for i, w := range b.wrong(d, out) {
			if i < 3 {
				t.Errorf("%v: %s", d, w)
			}
		}
	}
	switch {
	case out.openErr != nil:
		count.refused++
		if !b.found(d, out) {
			t.Errorf("%v: the file is not named by %v", d, out.openErr)
		}
	case b.found(d, out):
		count.faults++
		if cached(d.kind) {
			t.Errorf("%v: is no fault: %v", d, out.report.Faults[0])
		}
	case len(out.report.Faults) > 0:
		t.Errorf("%v: the file is not named by %v", d, out.report.Faults[0])
	case !truth(d.kind):
		count.harmless++
	default:
		why := b.excuse(d, out)
		if why == "" {
			t.Errorf("%v: fsck finds nothing; notes %q", d, out.report.Notes)
		}
		count.excused[why]++
	}
}

// choose returns n damages of a kind of file: half of them are flips, the others anything else.
func choose(r *rand.Rand, files []*file, n int) []*damage {
	var others []*damage
	size := 0
	for _, f := range files {
		others = append(others, f.damages(r, files)...)
		size += len(f.good)
	}
	var list []*damage
	for _, i := range r.Perm(size)[:min(size, maxFlips, (n+1)/2)] {
		for _, f := range files {
			if i < len(f.good) {
				list = append(list, f.flip(i, uint(r.IntN(8))))
				break
			}
			i -= len(f.good)
		}
	}
	for _, i := range r.Perm(len(others))[:min(len(others), n/2)] {
		list = append(list, others[i])
	}
	return list
}
