package main

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// FuzzCursor holds the reading of cursors to one form: what is taken is what would be written.
func FuzzCursor(f *testing.F) {
	for _, p := range cursorSeeds() {
		f.Add(p.encode([]byte("log")), []byte("log"))
		f.Add(p.encode([]byte("log")), []byte("expand"))
	}
	f.Add("", []byte(nil))
	f.Add(strings.Repeat("A", maxCursor+1), []byte("log"))
	f.Fuzz(func(t *testing.T, text string, bound []byte) {
		p, err := decodeCursor(text, bound)
		if err == nil && p.encode(bound) != text {
			t.Fatalf("%q is taken for %+v, which is %q", text, p, p.encode(bound))
		}
		// The same past the digest, which fuzzing would not guess.
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return
		}
		if p, err = parsePosition(raw); err != nil {
			return
		}
		written := p.encode(bound)
		b, err := base64.RawURLEncoding.DecodeString(written)
		if err != nil || !bytes.Equal(b[:len(b)-cursorSum], raw) {
			t.Fatalf("%x is taken for %+v, which is %x: %v", raw, p, b, err)
		}
		again, err := decodeCursor(written, bound)
		if len(written) <= maxCursor &&
			(err != nil || !slices.Equal(again.ids, p.ids) ||
				!slices.Equal(again.numbers, p.numbers)) {
			t.Fatalf("%+v comes back as %+v, %v", p, again, err)
		}
	})
}

func cursorSeeds() []position {
	id := format.ID{1, 2, 3}
	return []position{{}, {numbers: []uint64{0, 1}},
		{ids: []format.ID{id, {}}, numbers: []uint64{7, 1 << 40, 1<<64 - 1}},
		{ids: []format.ID{id}}}
}

// The longest cursor is one that is taken.
func TestLongestCursor(t *testing.T) {
	p := position{ids: make([]format.ID, mostIDs),
		numbers: slices.Repeat([]uint64{1<<64 - 1}, mostNumbers)}
	text := p.encode(nil)
	if _, err := decodeCursor(text, nil); err != nil || len(text) > maxCursor ||
		len(text) > (frameTokens-40)*perToken {
		t.Errorf("%d characters: %v", len(text), err)
	}
}

// A cursor is good for the call that gave it: the tool, its arguments, and the store. Anything else
// is one clear error.
func TestBadCursors(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 60)
	other, s2 := newStore(t)
	talk(t, s2, "work", 60)
	c := connect(t, dir)
	args := object{"session": "work", "max_tokens": leastTokens}
	good := listOf(t, c, "read_past_messages", args).Next
	if good == "" {
		t.Fatal("no cursor")
	}
	with := func(cursor string, more ...any) object {
		o := object{"session": "work", "max_tokens": leastTokens, "cursor": cursor}
		for i := 0; i < len(more); i += 2 {
			o[more[i].(string)] = more[i+1]
		}
		return o
	}
	forged := position{numbers: []uint64{1}}.encode(
		[]byte("read_past_messages\x00" + s.ID + "\x00" + `{"session":"work","branch":"main"}`))
	another := "x"
	if good[9] == 'x' {
		another = "y"
	}
	for what, call := range map[string]struct {
		tool string
		args object
	}{
		"damaged":         {"read_past_messages", with(good[:9] + another + good[10:])},
		"cut":             {"read_past_messages", with(good[:len(good)-1])},
		"longer":          {"read_past_messages", with(good + "A")},
		"no base64":       {"read_past_messages", with("next page, please")},
		"a line end":      {"read_past_messages", with(good + "\n")},
		"huge":            {"read_past_messages", with(strings.Repeat("A", 100_000))},
		"other arguments": {"read_past_messages", with(good, "reverse", true)},
		"of another tool": {"list_past_sessions", object{"cursor": good}},
		"of another form": {"read_past_messages", with(forged)},
		"with an id":      {"read_past_messages", object{"id": "work", "cursor": good}},
		"search's":        {"search_past_sessions", object{"query": "postgres", "cursor": good}},
	} {
		if text, failed := ask(t, c, call.tool, call.args); !failed ||
			!strings.HasPrefix(text, "ctx: bad cursor: ") || !strings.Contains(text, "\nhint: ") {
			t.Errorf("%s: %.200s", what, text)
		}
	}
	// Other sizes, and a default that is said, are the same call.
	for _, args := range []object{with(good), with(good, "max_tokens", mostTokens),
		with(good, "branch", "main"), with(good, "limit", nil)} {
		if text, failed := ask(t, c, "read_past_messages", args); failed {
			t.Errorf("%v: %s", args, text)
		}
	}
	if text, failed := ask(t, connect(t, other), "read_past_messages", with(good)); !failed {
		t.Errorf("in another store: %.200s", text)
	}
}
