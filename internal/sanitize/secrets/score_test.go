package secrets

import (
	"strings"
	"testing"
)

// TestMaking has a value of each making.
func TestMaking(t *testing.T) {
	for v, want := range map[string]making{
		"": standsIn, "****": standsIn, "${TOKEN}": standsIn, "password": standsIn,
		"./key": standsIn,
		"heron": term, "sha256": term, "lake/shore2": named, "jackson-core-2.11.2": named,
		"ResponseV2Meta": term, "20260304": named, "3f9a1c52e0b74d1688c0a1f2e3d4c5b6": digits,
		"3f2b8c1e-5a6d-4e7f-9b0c-1d2e3f4a5b6c": digits, "4929123412341234": digits,
		"heron27": mixed, "k7xq2mvz9bw4": token, "Vq3xTz8LmK1wRb7Yc2": drawn, "heron27Lake!": handmade,
		"vrasG2p8MC": token, "ParsePKCS8Key": term, "ed25519Key": term, "joinIPv6Group": term,
	} {
		if got := makingOf([]byte(v), true); got != want {
			t.Errorf("%q has the making %d, want %d", v, got, want)
		}
	}
}

// TestNeeds checks that a place where less is said of a value never needs less of it.
func TestNeeds(t *testing.T) {
	for column := range needs[0] {
		for _, p := range [...][2]place{
			{only, setting}, {setting, bare}, {bare, said}, {said, near}, {near, below},
		} {
			if less, more := needs[p[0]][column], needs[p[1]][column]; less.making > more.making {
				t.Errorf("column %d: place %d needs %v, and %d needs %v", column, p[0], less, p[1], more)
			}
		}
	}
}

// TestAgain checks that a secret goes wherever it stands, and that a name that was taken for one
// goes nowhere else.
func TestAgain(t *testing.T) {
	for v, want := range map[string]int{
		"Vq3xTz8LmK1wRb7Yc2": 3, "depot.Vq3xTz8LmK1wRb7": 1,
	} {
		text := "password=" + v + "\nThen `" + v + "` and " + v + "."
		if got := Find([]byte(text)); len(got) != want {
			t.Errorf("%q: %d found, want %d", text, len(got), want)
		}
	}
	many := "password=Vq3xTz8LmK1wRb7Yc2\nlane\n" + strings.Repeat("Vq3xTz8LmK1wRb7Yc2(9)\n", mostAgain)
	if got := Find([]byte(many)); len(got) != 1 {
		t.Errorf("%d found, want 1", len(got))
	}
}
