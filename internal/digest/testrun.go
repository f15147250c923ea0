package digest

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// runners are programs that run tests whatever their arguments are, in lower case.
var runners = [...]string{"pytest", "jest", "vitest", "mocha", "ava", "rspec", "phpunit", "pest",
	"ctest", "tox", "nox", "unittest", "bats", "busted"}

// testers are programs, in lower case, that run tests if their arguments have one of testVerbs or
// of goals.
var testers = [...]string{"go", "npm", "pnpm", "yarn", "bun", "cargo", "mvn", "mvnw", "gradle",
	"gradlew", "make", "gmake", "mise", "dotnet", "swift", "mix", "deno", "node", "sbt", "lein",
	"stack", "cabal", "meson", "bazel", "bazelisk", "ninja", "zig", "flutter", "dart", "nx", "turbo",
	"just", "task", "rake", "rails", "artisan", "composer", "xcodebuild", "hatch", "moon", "uv"}

// testVerbs are the words of testers that run tests.
var testVerbs = [...]string{"test", "tests", "t", "nextest", "--test"}

// goals returns what else a tester is asked for that runs the tests on the way.
func goals(program string) []string {
	switch program {
	case "make", "gmake":
		return []string{"check"}
	case "gradle", "gradlew":
		return []string{"check", "build"}
	case "mvn", "mvnw":
		return []string{"verify", "package", "install", "deploy"}
	}
	return nil
}

// gets are words of commands that get or name a program, and run none.
var gets = [...]string{"add", "i", "which", "man", "type", "help", "pip", "uninstall", "remove"}

// runsTests reports whether a command runs tests.
func runsTests(c script.Command) bool {
	if searches(c.Words[0]) || reads(c.Words[0]) || c.Words[0] == "git" || c.Words[0] == "echo" {
		return false
	}
	line := strings.ToLower(strings.Join(c.Words[:min(len(c.Words), 8)], " "))
	if prose.HasAny(line, []string{"-dskiptests", "-dmaven.test.skip", " -x test"}) {
		return false
	}
	words := strings.Fields(line)
	for i, w := range words {
		if slices.Contains(gets[:], w) {
			return false
		}
		program := path.Base(w)
		if slices.Contains(runners[:], program) || program == "playwright" &&
			slices.Contains(words[i:], "test") {
			return true
		}
		runs := func(w string) bool {
			verb, _, _ := strings.Cut(w, ":")
			goal := w[strings.LastIndexByte(w, ':')+1:]
			return slices.Contains(testVerbs[:], verb) || slices.Contains(testVerbs[:], goal) ||
				slices.Contains(goals(program), goal)
		}
		if slices.Contains(testers[:], program) && slices.ContainsFunc(words[i+1:], runs) {
			return true
		}
	}
	return false
}
