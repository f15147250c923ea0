package script

import "testing"

func TestLine(t *testing.T) {
	for _, of := range [][2]string{
		{"cd ../quay\ngofmt -l . && echo clean\nX=1 go test ./...", "gofmt -l .; X=1 go test ./..."},
		{"echo \"=== fmt ===\"; gofmt -l . | head -3\necho '=== tests ==='; go test ./... 2>&1 | tail",
			"gofmt -l .; go test ./..."},
		{`make && echo ok || echo "it failed"`, `make && echo ok || echo "it failed"`},
		{`echo "at $PWD"; (cd x; echo y); echo 'a' > f`, `echo "at $PWD"; (cd x; echo y); echo 'a' > f`},
		{"echo one; echo two", "echo one; echo two"},
		{"cd /tmp/try && make", "make"},
		{"cd /tmp/try\n\n# Time it\nmake bench", "make bench"},
		{"cd quay", "cd quay"},
		{"V=$(git log | tail -1); jq 'a; b' f", "V=$(git log | tail -1); jq 'a; b' f"},
		{"git add -A &&\n  git commit -m \"a\nb\"", `git add -A && git commit -m "a b"`},
		{"for f in *; do\n  wc $f\ndone | tail -3", "for f in *; do wc $f; done"},
		{"go test ./... 2>&1", "go test ./..."},
		{"git commit -m \"$(cat <<'EOF'\nround \"up\"\n\nso\nEOF\n)\" && git push",
			`git commit -m "round 'up' …" && git push`},
		{"gh pr edit 9 --body \"$(cat <<EOF\nEOF\n)\"", `gh pr edit 9 --body ""`},
		{"cat > a <<'EOF'\n\tx\nEOF\nmake", "cat > a <<'EOF'; make"},
	} {
		if got := Line(of[0]); got != of[1] {
			t.Errorf("%q: %q, want %q", of[0], got, of[1])
		}
	}
}
