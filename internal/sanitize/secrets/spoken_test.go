package secrets

import (
	"slices"
	"testing"
)

// A value after the name of a service that hands out keys is one where it was drawn by lot, or
// where a command sets the name.
func TestValueOfVendor(t *testing.T) {
	const drawn = "q7Xr2mVd9LkP4sTz8WbN"
	for _, tt := range []struct {
		text string
		want []Found
	}{
		{"stripe key " + drawn, []Found{{weakKey.Class(), 11, 31}}},
		{"our stripe secret " + drawn + ".", []Found{{weakKey.Class(), 18, 38}}},
		{"stripe key internal/payments/refund", nil},
		{"parcel key " + drawn, nil},
		{"stripe parcel " + drawn, nil},
		{"gh secret set NPM_TOKEN --body kj3h4k5jhX9", []Found{{weakKey.Class(), 31, 42}}},
		{"the npm token kj3h4k5jhX9 is old", nil},
	} {
		if got := Find([]byte(tt.text)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.text, got, tt.want)
		}
	}
}

// A value that its name does not touch: on a line of its own, behind a dash, in a comparison.
func TestValueApart(t *testing.T) {
	const hex = "fa3887afec2362b289a2f2de1ad4dd2b"
	for _, tt := range []struct {
		text string
		want string
	}{
		{"Please use the following password to proceed:\n\n" + hex + "\n\nIt is in a file.", hex},
		{"The password is in this list:\n\nalpha\nbeta", ""},
		{"The password has this hash:\n" + hex + " a.txt", ""},
		{"prospect-token-" + hex, hex},
		{"page-token-" + hex, ""},
		{"if password == \"751C4asC1md@@\":", "751C4asC1md@@"},
		{"if token == q7Xr2mVd9LkP4sTz8WbN {", ""},
		{"if (typeof token === 'undefined')", ""},
		{"Unseal Key 2: 0wUp+1XLFfiokXtMt1/aJ6UrK4JOArLc1FV4Uc40I+W8",
			"0wUp+1XLFfiokXtMt1/aJ6UrK4JOArLc1FV4Uc40I+W8"},
		{"$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$RdescudvJCsgt3ub+b3dWRWJTmaaJObG3sQJ1w8x2Yk",
			"RdescudvJCsgt3ub+b3dWRWJTmaaJObG3sQJ1w8x2Yk"},
		{"mia:aad3b435b51404eeaad3b435b51404ee:8846f7eaee8fb117ad06bdd830b7586c:::",
			"8846f7eaee8fb117ad06bdd830b7586c"},
	} {
		got := ""
		for _, f := range Find([]byte(tt.text)) {
			got += tt.text[f.From:f.To]
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
