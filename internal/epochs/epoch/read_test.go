package epoch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func TestE21_blank_text(t *testing.T) {
	for _, kind := range []string{"first", "changed", "removed_text"} {
		for _, blank := range []string{``, ` `, `\n\t`, `\u0000`} {
			line := fmt.Sprintf(`{"key":"core/date","value":1,%q:"%s"}`, kind, blank)
			want := "line 1: core/date: " + kind + " is empty"
			if _, err := Read([]byte(line)); !errors.Is(err, ErrInput) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", line, err, want)
			}
		}
	}
}

func TestE22_duplicate_key(t *testing.T) {
	_, err :=
		Read([]byte(
			"{\"key\":\"a/b\",\"value\":1}\n\n{\"key\":\"a/c\",\"value\":1}\n{\"key\":\"a/b\",\"unavailable\":true}\n"))
	if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "line 4: a/b: key twice") {
		t.Errorf("error %v", err)
	}
}

func TestE23_key_without_a_namespace(t *testing.T) {
	for _, key := range []string{"", "date", "/date", "core/", "Core/date", "core/Date",
		"core date/x", "core/dáte", "-core/date", "core//x",
		"core/" + strings.Repeat("a", format.MaxName)} {
		if _, err := Read([]byte(fmt.Sprintf(`{"key":%q,"value":1}`, key))); !errors.Is(err,
			ErrInput) || !strings.Contains(err.Error(), "bad key") {
			t.Errorf("%q: error %v", key, err)
		}
	}
	for _, key := range []string{"core/date", "a/b/c", "0/0", "a.b_c-d/e.f_g-h/"} {
		if _, err := Read([]byte(fmt.Sprintf(`{"key":%q,"value":1}`, key))); err != nil {
			t.Errorf("%q: error %v", key, err)
		}
	}
}

// The limit is one of bytes in canonical form, whatever characters they are of and however they
// were written.
func TestE47_value_at_the_limit(t *testing.T) {
	room := maxValue - len(`""`)
	for _, tt := range []struct {
		value string
		ok    bool
	}{
		{`"` + strings.Repeat("é", room/2) + `"`, true},
		{`"` + strings.Repeat("é", room/2) + `a"`, false},
		{`"` + strings.Repeat("a", room) + `"`, true},
		{`"` + strings.Repeat("a", room-1) + `é"`, false},
		{`"` + strings.Repeat(`\u00e9`, room/2) + `"`, true},
		{`"` + strings.Repeat("\U0001F600", room/4) + `"`, true},
		{"[" + strings.Repeat(" ", 2*maxValue) + "1]", true},
		{"[" + strings.Repeat("1,", (maxValue-2)/2) + "1]", false},
	} {
		set, err := Read([]byte(`{"key":"a/b","value":` + tt.value + `}`))
		if tt.ok != (err == nil) {
			t.Errorf("%d bytes: error %v", len(tt.value), err)
		}
		if err == nil && len(set.list[0].value) > maxValue {
			t.Errorf("took %d bytes", len(set.list[0].value))
		}
		if err != nil &&
			(!errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "8192 is the most")) {
			t.Errorf("error %v", err)
		}
	}
	if set, err := Read(
		[]byte(`{"key":"a/b","value":"` + strings.Repeat("a", room) + `"}`)); err != nil ||
		len(set.list[0].value) != maxValue {
		t.Errorf("exactly the limit: error %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range [][2]string{
		{"", "none was given"},
		{"\n \n", "none was given"},
		{"x", "line 1: not a JSON object"},
		{"[]", "line 1: not a JSON object"},
		{"null", "line 1: not a JSON object"},
		{`{"key":"a/b","value":1`, "line 1: not a JSON object"},
		{`{"key":"a/b"}`, "line 1: a/b: one of value"},
		{`{"key":"a/b","value":1,"removed":true}`, "a/b: one of value"},
		{`{"key":"a/b","unavailable":true,"removed":true}`, "a/b: one of value"},
		{`{"key":"a/b","unavailable":false}`, "a/b: one of value"},
		{`{"key":"a/b","value":1,"unavailable":"yes"}`, `unavailable cannot be "yes"`},
		{`{"key":"a/b","value":1,"first":7}`, "first cannot be 7"},
		{`{"key":7,"value":1}`, "key cannot be 7"},
		{`{"value":1}`, "bad key"},
		{`{"key":"a/b","Value":1}`, `unknown member "Value"`},
		{`{"key":"a/b","value":1,"value":2}`, "name twice"},
		{`{"key":"a/b","value":{"x":1,"x":1}}`, "name twice"},
		{`{"key":"a/b","value":1e99999}`, "out of range"},
		{`{"key":"a/b","value":1,"first":"` + strings.Repeat("x", maxText+1) + `"}`,
			"first of 1048577 bytes"},
		{strings.Repeat(" ", MaxInput+1), "more than"},
		{strings.Repeat("[", 300) + strings.Repeat("]", 300), "line 1: not a JSON object"},
	} {
		if _, err := Read([]byte(tt[0])); !errors.Is(err, ErrInput) ||
			!strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%.60q: error %v, want %s", tt[0], err, tt[1])
		}
	}
	var many strings.Builder
	for i := range maxKeys + 1 {
		fmt.Fprintf(&many, "{\"key\":\"a/%d\",\"unavailable\":true}\n", i)
	}
	if _, err := Read([]byte(many.String())); err == nil ||
		!strings.Contains(err.Error(), "1024 keys are the most") {
		t.Errorf("error %v", err)
	}
}

// What looks like a secret is gone before anything is compared, in values, names and texts.
func TestReadSanitizes(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2c3", 6)
	set, err := Read(
		[]byte(`{"key":"core/env","value":{"TOKEN":"` + secret + `"},"first":"a\u0007b ` + secret +
			`","changed":"` + secret + `","removed_text":"` + secret + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	o := set.list[0]
	all := string(o.value) + *o.first + *o.changed + *o.gone
	if strings.Contains(all, secret) || strings.Contains(all, "\a") || len(set.Found) == 0 {
		t.Errorf("left: %s, found %v", all, set.Found)
	}
}

// Whatever comes in is refused or is a set in which every key is good, said once, and every value
// canonical and within its limit.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"key":"core/date","value":"2026","first":"a","changed":"b","removed_text":"c"}`,
		`{"key":"a/b","unavailable":true}`,
		"{\"key\":\"a/b\",\"removed\":true}\n{\"key\":\"a/c\",\"value\":null}",
		`{"key":"a/b","value":{"password":"hunter2hunter2"}}`, "\xff",
		`{"key":"a/b","value":"\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := Read(b)
		if err != nil {
			if !errors.Is(err, ErrInput) || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("error %q", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, o := range set.list {
			if seen[o.key] || !format.IsEpochKey(o.key) || len(o.value) > maxValue {
				t.Fatalf("%q: %+v", b, o)
			}
			seen[o.key] = true
			if again, err := canonical(o.value); o.value != nil &&
				(err != nil || string(again) != string(o.value)) {
				t.Fatalf("%q is not canonical: %v", o.value, err)
			}
		}
		out, err := Observe(nil, set)
		var blocked *BlockedError
		if err != nil {
			if !errors.As(err, &blocked) && !errors.Is(err, ErrInput) {
				t.Fatal(err)
			}
			return
		}
		state := stateOf(out)
		again, err := Observe(state, set)
		if err != nil || again.Result != Unchanged {
			t.Fatalf("%q: told again: %+v, error %v", b, again, err)
		}
	})
}

// stateOf is what is stored after an outcome.
func stateOf(out *Outcome) *State {
	s := &State{Epoch: out.Epoch, Blobs: map[format.ID][]byte{}}
	for _, raw := range out.Objects {
		s.Blobs[raw.ID()] = raw.Body
	}
	return s
}
