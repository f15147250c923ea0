package script

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	tests := []struct{ script, want string }{
		{`a b c`, "[a b c]"},
		{`a 'b c' "d e" f\ g`, "[a|b c|d e|f g]"},
		{`a && b || c; d & e | f |& g`, "[a] [b] [c] [d] [e] |[f] |[g]"},
		{`A=1 B="2 3" a C=4`, "[a C=4]"},
		{`a > out 2>&1 < in >> "more text" b`, "[a b]>>more text"},
		{`a "x $(b "c") y" $(d (e))`, `[a|x $(b "c") y|$(d (e))]`},
		{"a `b c` d", "[a|`b c`|d]"},
		{"a <<END b\nbody 'one'\nEND\nc", "[a b]<body 'one'\n> [c]"},
		{"a <<-'END'\n\tbody\n\tEND", "[a]<body\n>"},
		{"a <<< word", "[a]<word\n>"},
		{"a # b\nc", "[a] [c]"},
		{"a#b c", "[a#b c]"},
		{"a 'open", "[a open]"},
		{`a "open`, "[a open]"},
		{"a <<END\nopen", "[a]<open\n>"},
		{"{ a; b; } > c", "[a] [b] [}]>c"},
		{"(a | b) >> c", "[a] |[b] [)]>>c"},
		{"find . -exec rm {} +", "[find . -exec rm {} +]"},
		{"if ! a; then b; fi", "[a] [b] [fi]"},
		{"a 2> b &> c", "[a]"},
		{"> a", "[]>a"},
		{"a <<E | b\n\\$x\nE", "[a]<$x\n> |[b]"},
		{"a \"$(cat <<'E'\nb\n\nc\nE\n)\" d", "[a b\n\nc d]"},
		{`a $(open`, "[a $(open]"},
		{"a `open", "[a `open]"},
		{`a \`, "[a]"},
		{"", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, c := range Read(tt.script) {
			sep := " "
			if strings.Contains(strings.Join(c.Words, ""), " ") {
				sep = "|"
			}
			s := "[" + strings.Join(c.Words, sep) + "]"
			if c.Input != nil {
				s += "<" + *c.Input + ">"
			}
			if c.To != "" && c.More {
				s += ">>" + c.To
			} else if c.To != "" {
				s += ">" + c.To
			}
			if c.Piped {
				s = "|" + s
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: got %s, want %s", tt.script, s, tt.want)
		}
	}
}

// FuzzScript: reading a script ends, and each of its here-documents is in it.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"cat > a <<EOF\nx\nEOF", "a | b && c > 'd'",
		"echo \"$(x `y`)\" >> z", "<<", "a \\", "'", "\"", "{ a; } &> b",
		"cat <<A <<B\n1\nA\n2\nB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		for _, c := range Read(script) {
			if c.Input != nil && len(*c.Input) > len(script)+1 {
				t.Errorf("an input of %d bytes in a script of %d", len(*c.Input), len(script))
			}
		}
	})
}
