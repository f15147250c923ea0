package digest

import (
	"encoding/json"
	"testing"
)

// TestChecks has commands that failed, and whether the project fails by it.
func TestChecks(t *testing.T) {
	for script, want := range map[string]bool{
		"go build ./...": true, "cd sub && go vet ./...": true, "go test ./... 2>&1 | tail": true,
		"make": true, "make -C docs html": true, "time make check": true, "./configure": true,
		"npm run build:prod": true, "pnpm lint": true, "npm test": true, "npx tsc --noEmit": true,
		"uv run ruff check .": true, "python -m mypy src": true, "python tools/check.py": true,
		"python3 -m unittest": true, "bash scripts/check.sh": true, "scripts/check.sh -v": true,
		"poetry run pytest -q": true, "bundle exec rubocop": true, "docker build -t a .": true,
		"cargo clippy --all": true, "terraform validate": true, "gcc -o a a.c": true,
		"echo start; go build ./...": true, "mise run lint": true, "./gradlew assemble": true,

		"diff a b": false, "cmp a b": false, "test -f x.go": false, "[ -f x.go ]": false,
		"which foo": false, "command -v foo": false, "pgrep node": false, "cd build": false,
		"git diff --exit-code": false, "git merge-base --is-ancestor a b": false,
		"git push": false, "rm x.go": false, "kill 12": false, "curl -f localhost": false,
		"grep -c x y": false, "python -c 'import x'": false, "node -e 'x()'": false,
		"python3 - <<'END'\nimport x\nEND": false, "npm ls left-pad": false,
		"go env GOFLAG": false, "go version": false, "gcc --version": false, "docker ps": false,
		"/usr/bin/env": false, "bash -c 'exit 3'": false, "python3 /tmp/try.py": false,
		"npm view left-pad": false, "pip show x": false, "jq . a.json": false, "true": false,
	} {
		args, err := json.Marshal(map[string]string{"command": script})
		if err != nil {
			t.Fatal(err)
		}
		list := Of([]Message{
			{Seq: 1, Role: "model", Calls: []Call{{ID: "1", Name: "Bash", Args: args}}},
			{Seq: 2, Role: "tool", Results: []Result{{ID: "1", Name: "Bash", Failed: true,
				Output: "Exit code 3\nno"}}},
		})
		if got := len(list) > 0 && list[0].Checks(); got != want {
			t.Errorf("%q: checks the project: %t; %+v", script, got, list)
		}
	}
	running := Fact{Kind: Command, Key: "go test ./...", Test: true}
	if running.Checks() {
		t.Error("a command that did not end says how the project is")
	}
}
