package digest

import (
	"fmt"
	"testing"
)

func TestRunsTests(t *testing.T) {
	for script, want := range map[string]bool{
		"cd /p && FOO=1 go test ./...": true, "mise exec -- go test": true,
		"make test": true, ".venv/bin/pytest a.py": true, "npx jest": true,
		"npx vitest run": true, "cargo test": true, "go vet ./... && go test ./...": true,
		"grep -rn 'go test' .": false, "echo go test": false, "cat pytest.ini": false,
		"git log --grep 'go test'": false, "make tests-clean": false, "./my-pytest": false,
		"ls jest.config.js": false,
		"go test ./...":     true, "npm run test:unit": true, "pnpm -r test": true, "yarn t": true,
		"mvn -q verify": true, "./mvnw clean install": true, "mvn compile": false,
		"mvn install -DskipTests": false, "./gradlew :app:test": true, "./gradlew check": true,
		"./gradlew build -x test": false, "./gradlew assemble": false, "sbt test": true,
		"make check": true, "make": false, "bazel test //...": true, "nx run web:test": true,
		"php artisan test": true, "uv run pytest -q": true, "python -m unittest": true,
		"npx playwright test": true, "npx playwright install": false, "npm i vitest": false,
		"pip install pytest": false, "which pytest": false, "go build ./test": false,
		"grep test go.mod": false, "cargo nextest run": true, "node --test": true,
		"make test_all.o": false, "git checkout test": false, "go run ./cmd/test": false,
	} {
		facts := Of(numbered(called("a", "bash", fmt.Sprintf(`{"command":%q}`, script))))
		if got := facts[0].Test; got != want {
			t.Errorf("%s: %v", script, got)
		}
	}
}
