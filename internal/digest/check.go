package digest

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// Checks reports whether a fact is a command that says by its exit status how the project is, and
// that ended: a test, a build, a linter, a program of the project. The status of any other command
// answers a question (`diff`, `test -f`, `pgrep`, `git diff --exit-code`), or tells of a slip that
// is put right at once (`cd` to a directory that is not there).
func (f *Fact) Checks() bool {
	return f.Ran() && f.isCheck()
}

// isCheck is Checks before the end is known.
func (f *Fact) isCheck() bool {
	return f.Kind == Command && (f.Test || isCheck(strings.Fields(f.Key)))
}

// Builds reports whether a fact is a check that only looks whether the project builds.
func (f *Fact) Builds() bool {
	return f.Checks() && !f.Test &&
		slices.ContainsFunc(strings.FieldsFunc(f.Key, func(r rune) bool {
			return r == ' ' || r == ':' || r == '-'
		}), func(w string) bool { return slices.Contains(buildVerbs[:], w) })
}

// Lints reports whether a fact is a check that only looks how the project is written. Tests that
// pass say nothing of it.
func (f *Fact) Lints() bool {
	return f.Checks() && !f.Test && slices.ContainsFunc(linters[:], func(w string) bool {
		return strings.Contains(f.Key, w)
	})
}

// linters are in commands that lint.
var linters = [...]string{"lint", "clippy", "ruff", "flake8", "staticcheck", "rubocop", "shellcheck",
	"biome", "phpstan", "prettier"}

// NamesTests reports whether a command runs tests by their names alone.
func NamesTests(command string) bool {
	return strings.Contains(command, "::") || prose.HasAny(command+" ", []string{" -run ",
		" -run=", " -k ", " -t ", " --filter ", " --filter=", " --grep ", " -g ", " --tests ",
		" --only-testing", " -e ", " -Dtest="})
}

// buildVerbs are the words of commands that build, and do no more.
var buildVerbs = [...]string{"build", "compile", "vet", "tsc", "typecheck"}

// isCheck reports whether the words of a command check the project.
func isCheck(words []string) bool {
	words = runBy(words)
	if len(words) == 0 || slices.ContainsFunc(words[1:], asksOnly) {
		return false
	}
	program, verb := path.Base(words[0]), ""
	if i := slices.IndexFunc(words[1:], isVerb); i >= 0 {
		verb, _, _ = strings.Cut(words[1+i], ":")
	}
	if strings.Contains(program, "bench") {
		return false // it measures
	}
	switch program {
	case "go", "cargo", "npm", "pnpm", "yarn", "bun", "deno", "dotnet", "swift", "mix", "zig",
		"flutter", "dart", "docker", "terraform", "tofu", "composer", "mise":
		return slices.Contains(checkVerbs[:], verb)
	case "bash", "sh", "zsh", "node", "python", "python3", "ruby", "perl", "php", "tsx":
		// What stands in the command itself is the agent's own
		inline := slices.ContainsFunc(words[1:], isInline)
		return verb != "" && !inline && !path.IsAbs(verb)
	}
	return slices.Contains(checkers[:], program) ||
		strings.Contains(words[0], "/") && !path.IsAbs(words[0])
}

// runBy removes the words of programs that run another one.
func runBy(words []string) []string {
	for {
		switch {
		case len(words) > 2 && words[1] == "-m" && strings.HasPrefix(words[0], "python"):
			words = words[2:]
		case len(words) > 2 && (words[1] == "run" || words[1] == "exec") &&
			slices.Contains([]string{"uv", "poetry", "pipenv", "bundle", "hatch"}, words[0]):
			words = words[2:]
		case len(words) > 1 && slices.Contains([]string{"npx", "bunx", "uvx", "pnpx"}, words[0]):
			words = words[1:]
		default:
			return words
		}
	}
}

// checkVerbs are the first words of commands that build, test or run, for programs that do more.
var checkVerbs = [...]string{"build", "test", "t", "vet", "run", "check", "clippy", "lint",
	"nextest", "compile", "typecheck", "type-check", "analyze", "generate", "validate", "plan",
	"format", "fmt", "start", "tsc", "eslint", "jest", "vitest"}

// checkers are programs that only build, test or check.
var checkers = [...]string{"make", "gmake", "cmake", "ninja", "meson", "bazel", "gradle",
	"gradlew", "mvn", "mvnw", "sbt", "xcodebuild", "msbuild", "rake", "just", "nox", "tox", "scons",
	"stack", "cabal", "dune", "tsc", "vue-tsc", "esbuild", "vite", "webpack", "rollup", "turbo",
	"nx", "eslint", "biome", "oxlint", "prettier", "stylelint", "ruff", "mypy", "pyright",
	"flake8", "black", "pylint", "golangci-lint", "staticcheck", "rubocop", "phpstan", "shellcheck",
	"yamllint", "actionlint", "clang", "clang++", "clang-tidy", "gcc", "g++", "cc", "c++", "javac",
	"kotlinc", "rustc", "ghc", "latexmk", "pdflatex", "xelatex", "tectonic", "pytest", "unittest",
	"jest", "vitest", "mocha", "ava", "cypress", "playwright", "rspec", "phpunit", "ctest", "bats",
	"pre-commit", "ansible-lint", "buf", "protoc", "compileall"}

// isVerb reports whether a word is no option. It takes the value of an option for one, which does
// no harm: commands seldom have some before their verb.
func isVerb(w string) bool { return !strings.HasPrefix(w, "-") }

// isInline reports whether an option of an interpreter is followed by a program.
func isInline(w string) bool { return w == "-c" || w == "-e" || w == "-lc" || w == "--eval" }

// asksOnly reports whether an option asks a program for its version or its help alone.
func asksOnly(w string) bool { return w == "--version" || w == "--help" }
