package summarize

import (
	"slices"
	"strings"
	"testing"
)

// A removed line of a diff is worth less than the name of the file.
func TestRemovedIsWorthLittle(t *testing.T) {
	src := said("replace src/device.ts\n- export const minFirmware = \"4.9.2\";")
	src[0].Role = "model"
	got := texts(Extract(src, 1000))
	if len(got) != 2 || rank(got, "4.9.2") != 1 {
		t.Errorf("removed: got %q", got)
	}
}

// A guess is worth less than the same sentence without the doubt. Of two sentences with a number,
// the shorter one is worth more unless it is a guess.
func TestGuessIsWorthLess(t *testing.T) {
	const plain = "The fixture in zone 18 expires on Friday before midnight."
	for _, tt := range []struct {
		numbered string
		first    bool
	}{
		{"The clock in zone 17 runs ahead.", true},
		{"Perhaps the clock in zone 17 runs ahead.", false},
	} {
		got := texts(Extract(said(plain, tt.numbered), 1000))
		numbered, other := rank(got, "zone 17"), rank(got, "midnight")
		if numbered < 0 || other < 0 || (numbered < other) != tt.first {
			t.Errorf("%q is to be first (%t), got %q", tt.numbered, tt.first, got)
		}
	}
}

// rank returns the index of the first sentence that contains part, or -1.
func rank(sentences []string, part string) int {
	return slices.IndexFunc(sentences, func(s string) bool { return strings.Contains(s, part) })
}

// In a conversation with a model, the user's corrections and last requests come first and whole.
// Among people there is no such preference.
func TestUrgent(t *testing.T) {
	src := said(
		"Please set up the build. It should use the cache in /var/cache/build.",
		"I use npm 10.2.1 and node 22.3.0 with cache /var/cache/build.",
		"no, use pnpm, not npm. it breaks the workspace",
		"pnpm 9.1.0 installed 431 packages in 12.8 seconds to /srv/app/node_modules.",
		"great", "now the docs", "ok", "and the other one too", "run it again")
	for i := range src {
		src[i].Role = []string{"user", "model"}[i%2]
	}
	src[5].Role, src[7].Role = "user", "user"
	got := texts(Extract(src, 1000))
	want := []string{"no, use pnpm, not npm. it breaks the workspace", "now the docs",
		"and the other one too", "run it again"}
	first := slices.Sorted(slices.Values(got[:len(want)]))
	if slices.Sort(want); !slices.Equal(first, want) {
		t.Errorf("got %q", got)
	}
	for i := range src {
		src[i].Role = "user"
	}
	for _, s := range Extract(src, 1000) {
		if s.Weight >= urgent {
			t.Errorf("among people: %q is urgent", s.Text)
		}
	}
}

func TestCorrects(t *testing.T) {
	for text, want := range map[string]bool{
		"no, the other one": true, "No! Never touch migrations/0042.": true,
		"actually it is 5433": true, "don't restart it": true,
		"yes, but not by hand": true, "it runs on every push. ok?": true,
		"that is wrong. Do not ask.": true, "the old one no longer": true,
		"red rather than blue": true, "it now listens on 5433": false,
		"the new date is Friday": false, "why not?": false, "can it only read?": false,
		"use the page, not the database": true, "I meant staging": true,
		"leave the encoder, that's on purpose": true,
		"notes are in docs":                    false, "north side": false,
		"is it not there?": false,
		"run the tests":    false, "nothing new": false,
	} {
		if got := Corrects(strings.ToLower(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
