package geminicli

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// environmentID is the id that the agent gives the message describing its environment: the first 32
// hex digits of the SHA-256 of "environment-context".
const environmentID = "d04923d38bb0f6017037e74183378ef4"

// cannedAck is what the agent puts in the model's mouth after a summary of its own.
const cannedAck = "Got it. Thanks for the additional context!"

// cannedInterruption is what the agent puts in the model's mouth, on resuming, after a result
// nobody answered.
const cannedInterruption = "[The previous response was interrupted before it completed.]"

// maskTag opens the stand-in for a tool output that the agent moved to a file.
const maskTag = "<tool_output_masked"

// cutWrapper removes <tag>…</tag> from the start of text, and the white space after it. ok is false
// if text does not begin with it. Without the closing tag nothing is cut.
func cutWrapper(text, tag string) (rest string, ok bool) {
	open, closing := "<"+tag+">", "</"+tag+">"
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(trimmed, open) {
		return text, false
	}
	_, after, found := strings.Cut(trimmed, closing)
	if !found {
		return text, false
	}
	return strings.TrimLeft(after, " \t\r\n"), true
}

// stripWrapped cuts <tag>…</tag> from the start of every text and drops the texts of which nothing
// is left; cut is the number of wrappers.
func stripWrapped(parts []part, tag string) (kept []part, cut int) {
	for _, p := range parts {
		if !isText(p) {
			kept = append(kept, p)
			continue
		}
		rest, changed := p.Text, false
		for {
			after, ok := cutWrapper(rest, tag)
			if !ok {
				break
			}
			rest, changed, cut = after, true, cut+1
		}
		switch {
		case !changed:
			kept = append(kept, p)
		case rest != "":
			kept = append(kept, textPart(rest))
		}
	}
	return kept, cut
}

// isSnapshot reports whether a user message is a summary that the agent wrote of older messages. In
// a list that the agent rewrote, the model's notes to itself may come before the summary.
func isSnapshot(parts []part, fromSet bool) bool {
	if len(parts) == 0 {
		return false
	}
	text := strings.TrimLeft(joinText(parts), " \t\r\n")
	if strings.HasPrefix(text, "<state_snapshot>") {
		return true
	}
	if _, after, ok := strings.Cut(text, "<state_snapshot>"); ok && fromSet {
		return strings.Contains(after, "</state_snapshot>")
	}
	return isSnapshotJSON(text)
}

// isSnapshotJSON applies the agent's own test: one JSON object with four arrays.
func isSnapshotJSON(text string) bool {
	if !strings.HasPrefix(text, "{") || !strings.Contains(text, `"recent_arc"`) {
		return false
	}
	o, ok := jsonvalue.ParseObject([]byte(text))
	if !ok {
		return false
	}
	for _, name := range []string{"active_tasks", "discovered_facts", "constraints_and_preferences",
		"recent_arc"} {
		if _, ok := o.Array(name); !ok {
			return false
		}
	}
	return true
}
