package shape

import "testing"

func TestTakesQwenID(t *testing.T) {
	for id, want := range map[string]bool{
		"7b1d6a52-0c3e-4f58-9a41-2f6c0d9be817": true,
		"7b1d6a52-0c3e-1f58-8a41-2f6c0d9be817": true,
		"7b1d6a52-0c3e-5f58-ba41-2f6c0d9be817": true,
		"7b1d6a52-0c3e-7f58-9a41-2f6c0d9be817": false, // a version that is too new
		"7b1d6a52-0c3e-0f58-9a41-2f6c0d9be817": false,
		"7b1d6a52-0c3e-4f58-ca41-2f6c0d9be817": false, // another variant
		"7b1d6a52-0c3e-4f58-7941-2f6c0d9be817": false,
		"7b1d6a520c3e4f589a412f6c0d9be817":     false,
		"":                                     false,
	} {
		if TakesQwenID(id) != want {
			t.Errorf("%q is taken: %v", id, !want)
		}
	}
	if id := NewQwenID("a", "b"); !TakesQwenID(id) || id == NewQwenID("a", "c") {
		t.Errorf("NewQwenID: %q", id)
	}
}
