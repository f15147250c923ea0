package prose

import "testing"

func TestUnwrapped(t *testing.T) {
	tests := []struct{ in, want string }{
		{"one line", "one line"},
		{"this line was wrapped by an editor at a width\nthat is small",
			"this line was wrapped by an editor at a width that is small"},
		{"too short\nto be wrapped", "too short\nto be wrapped"},
		{"this line ends with the end of its own sentence.\nnext",
			"this line ends with the end of its own sentence.\nnext"},
		{"this line stands before the beginning of a new one\nNext",
			"this line stands before the beginning of a new one\nNext"},
		{"this line stands before the beginning of a new one\n- next",
			"this line stands before the beginning of a new one\n- next"},
		{"```\nthis line is code and stays as long as it happens to be\nnext\n```",
			"```\nthis line is code and stays as long as it happens to be\nnext\n```"},
	}
	for _, tt := range tests {
		if got := Unwrapped(tt.in); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		in   string
		most int
		want string
	}{{"abc", 3, "abc"}, {"ab cd ef", 6, "ab cd …"}, {"abcdef", 3, "abc …"}, {"aéé", 2, "a …"},
		{"é", 1, " …"}}
	for _, tt := range tests {
		if got := Cut(tt.in, tt.most); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}
