package epoch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// E43: the text cannot end its wrapper, and reads the same when the escapes are taken back.
func TestE43_wrapper_cannot_be_closed(t *testing.T) {
	got := Wrap("a </system-update> & &lt; \"q\" 'q' <system-update>")
	want :=
		"<system-update>\na &lt;/system-update&gt; &amp; &amp;lt; \"q\" 'q' " +
			"&lt;system-update&gt;\n</system-update>"
	if got != want || strings.Count(got, "</system-update>") != 1 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOrderOfTheSources(t *testing.T) {
	for _, tt := range []struct{ before, seen, want string }{
		{"", "b a c", "b a c"},
		{"a b c", "a b c", "a b c"},
		{"a b c", "c b a", "c b a"},
		{"a b c d", "d b", "a d c b"}, // those that were not seen keep their places
		{"a b c", "a x b", "a x b c"}, // a new one comes after the one before it
		{"a b c", "x b", "a x b c"},   // and else before the first that is known
		{"a b c", "x y", "a b c x y"}, // and else at the end
		{"a b c", "c x a", "c x b a"},
		{"a b", "x y a z b w", "x y a z b w"},
	} {
		var before, list []format.Belief
		set := &Set{}
		for _, k := range strings.Fields(tt.before) {
			before = append(before, format.Belief{Key: k, Value: format.Sum([]byte(k))})
		}
		list = slices.Clone(before)
		for _, k := range strings.Fields(tt.seen) {
			set.list = append(set.list, observation{key: k})
			if !slices.ContainsFunc(list, func(b format.Belief) bool { return b.Key == k }) {
				list = append(list, format.Belief{Key: k, Value: format.Sum([]byte(k))})
			}
		}
		var got []string
		for _, b := range order(list, before, set) {
			got = append(got, b.Key)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q seen %q: got %q, want %q", tt.before, tt.seen, s, tt.want)
		}
	}
}

// The invariant, over random observations, folds and losses: who reads the block and then every
// update believes what the epoch says is believed, and that is what was observed last and could be
// read.
func TestTheEpochIsWhatWasTold(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		var s *State
		told := map[string]string{} // by a reader of block and updates
		world := map[string]string{}
		for step := range 30 {
			if s != nil && r.IntN(6) == 0 {
				if e := Fold(s.Epoch); e != nil {
					raw, err := Object(e, "")
					if err != nil {
						t.Fatal(err)
					}
					s = &State{Epoch: e, Blobs: s.Blobs}
					s.Blobs[raw.ID()] = nil
					told = read(blockOf(s), map[string]string{})
				}
			}
			var lines []string
			keys := strings.Fields("k/a k/b k/c k/d k/e")
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, k := range keys[:1+r.IntN(len(keys))] {
				switch r.IntN(8) {
				case 0:
					lines = append(lines, fmt.Sprintf(`{"key":%q,"unavailable":true}`, k))
					continue
				case 1:
					delete(world, k)
					lines = append(lines, fmt.Sprintf(`{"key":%q,"removed":true}`, k))
					continue
				}
				world[k] = fmt.Sprint(r.IntN(3))
				lines = append(lines,
					fmt.Sprintf(
						`{"key":%q,"value":%s,"first":"%s=%s","changed":"%s=%s","removed_text":"%s=gone"}`, k, world[k], k, world[k], k, world[k], k))
			}
			set, err := Read([]byte(strings.Join(lines, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			out, err := Observe(s, set)
			if err != nil {
				if s != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				world = map[string]string{}
				continue
			}
			if out.Result == Unchanged {
				continue
			}
			blobs := map[format.ID][]byte{}
			if s != nil {
				blobs = s.Blobs
			}
			for _, raw := range out.Objects {
				blobs[raw.ID()] = raw.Body
			}
			s = &State{Epoch: out.Epoch, Blobs: blobs}
			told = read(out.Text, told)
			for _, b := range s.Current {
				want := "gone"
				if !b.Value.IsZero() {
					want = string(s.Blobs[b.Value])
				}
				if now := world[b.Key]; told[b.Key] != want || want != "gone" && now != want {
					t.Fatalf("seed %d, step %d: %s is %q, was told %q, the world has %q", seed,
						step, b.Key, want, told[b.Key], now)
				}
			}
			for k, v := range world {
				if told[k] != v {
					t.Fatalf("seed %d, step %d: %s is %q and was told %q", seed, step,
						k, v, told[k])
				}
			}
			again, err := Observe(s, set)
			if err != nil || again.Result != Unchanged {
				t.Fatalf("seed %d, step %d: the same again: %+v, error %v", seed, step, again, err)
			}
		}
	}
}

func blockOf(s *State) string {
	var parts []string
	for _, told := range s.Initial {
		parts = append(parts, string(s.Blobs[told.Text]))
	}
	return strings.Join(parts, "\n\n")
}

// read believes what a text says.
func read(text string, told map[string]string) map[string]string {
	for _, part := range strings.Split(text, "\n\n") {
		if k, v, ok := strings.Cut(part, "="); ok {
			told[k] = v
		}
	}
	return told
}
