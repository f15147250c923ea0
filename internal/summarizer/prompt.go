package summarizer

import (
	"crypto/sha256"
	_ "embed" // the prompt
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// PromptVersion is the version of the prompt. Every change of the text changes it.
const PromptVersion = "1"

// prompt is the instruction that a helper gives to its model. The text is the same for every claim,
// so that one digest identifies it and a provider can cache it; lengths are sent beside it. The
// rule about instructions comes first, because the quoted inputs may contain text that was written
// to be obeyed.
//
//go:embed prompt.txt
var prompt string

// PromptOn returns the prompt with what the user asked the summary to keep, unless that is "". It
// is a part of the instruction, so that it reaches the model of every helper.
func PromptOn(focus string) string {
	text := strings.TrimSuffix(prompt, "\n")
	if focus == "" {
		return text
	}
	return text + "\n\nThe user asks that this summary keep, before all else and in detail, what " +
		"the inputs say about the following. What they do not say about it is not to be added.\n" +
		focus
}

// PromptID returns the SHA-256 of the prompt for a focus.
func PromptID(focus string) format.ID {
	return format.ID(sha256.Sum256([]byte(PromptOn(focus))))
}
