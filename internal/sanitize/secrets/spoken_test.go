package secrets

import (
	"slices"
	"testing"
)

// A value after the name of a service that hands out keys is one, where it was drawn by lot.
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
	} {
		if got := Find([]byte(tt.text)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.text, got, tt.want)
		}
	}
}
