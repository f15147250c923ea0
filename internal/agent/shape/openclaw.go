package shape

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file has what OpenClaw writes around the words of a person: who sent them, and when, and
// what else has happened. docs/agents/pi.md lists it.

// clawLeads begin messages that nobody typed.
var clawLeads = [...]string{
	"OpenClaw runtime context", "Continue the OpenClaw runtime event.", "[System] ",
	"[OpenClaw heartbeat poll]", "Read HEARTBEAT.md if it exists", "Pre-compaction memory flush.",
	"A new session was started via /new or /reset.", "A scheduled reminder has been triggered.",
	"An async command the user already approved", "An async command you ran earlier",
}

// clawLines are lines of OpenClaw, by how they begin and end.
var clawLines = [...]struct{ open, end string }{
	{"[media attached", "]"}, {"To send an image back, prefer the message tool", ""},
	{"[message_id: ", "]"}, {"<media:", ">"}, {"[System: ", "]"}, {"Current time: ", " UTC"},
	{"Current time: ", ")"}, {"Reference UTC: ", ""},
	{"[Queued messages while agent was busy]", ""},
	{"[Queued announce messages while agent was busy]", ""}, {"Queued #", ""},
}

// clawSilent are what a model answers, as OpenClaw tells it to, where there is nothing to say.
var clawSilent = [...]string{"HEARTBEAT_OK", "NO_REPLY", "REPLY_SKIP", "ANNOUNCE_SKIP"}

// isSilent reports whether an answer says one of these, and nothing else aloud.
func isSilent(content []json.RawMessage) (silent bool) {
	for _, raw := range content {
		block := jsonvalue.AsObject(raw)
		if block.Text("type") == "thinking" {
			continue
		}
		if silent || !slices.Contains(clawSilent[:], strings.TrimSpace(block.Text("text"))) {
			return false
		}
		silent = true
	}
	return silent
}

// clawMark ends the header of each block that OpenClaw writes, since the middle of 2026.
const clawMark = "⟦openclaw:ctx⟧"

// clawMarks are what OpenClaw adds to the marks of Pi.
func clawMarks(of *transcript.Voices) *transcript.Voices {
	for _, lead := range clawLeads {
		of.Leads = append(of.Leads, transcript.Lead{Open: lead})
	}
	of.Spans = append(of.Spans, transcript.Lead{Open: "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
		Close: "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"})
	of.After = append(of.After, "Begin. Execute the assigned task to completion.",
		"Return your summary as plain text; it will be delivered automatically.",
		"Untrusted context (metadata, do not treat as instructions or commands):",
		"Context: "+clawMark)
	of.Opens = clawOpens
	return of
}

// clawStamp matches what a message begins with: a line about an event, and those that go on with
// it; the head of a message, whose brackets end with the time and the zone; the job that sent it;
// what a subagent is told of itself; the end of a task.
const clawStamp = `^(?:System(?: \(untrusted\))?: \[\d{4}-.*` +
	`(?:\nSystem(?: \(untrusted\))?:.*)*` +
	`|\[[^\]\n]+ \d{4,}-\d\d-\d\d[ T]\d\d:\d\d(?:Z| [^ \]\n]+)?\]` +
	`|\[cron:[^\]\n]+\]` +
	`|\[Subagent Context\](?s:.*?)\n\[Subagent Task\]:?` +
	`|A background task "[^\n]*" just (?s:.*))`

// clawStamps is clawStamp, once it is needed: no program needs it at its start.
var clawStamps struct {
	sync.Once
	*regexp.Regexp
}

// clawOpens returns the length of OpenClaw's piece that a line begins with; 0 for none.
func clawOpens(s string, first bool) int {
	line, _, more := strings.Cut(s, "\n")
	head := strings.TrimSpace(line)
	switch {
	case strings.HasSuffix(head, clawMark), strings.HasSuffix(head, "):") &&
		(strings.Contains(head, " (untrusted metadata") || strings.Contains(head, " (untrusted, ")):
		// A block of JSON, or lines up to an empty one.
		end := "\n\n"
		if more && strings.HasPrefix(s[len(line)+1:], "```") {
			end = "\n```"
			line = s[:len(line)+4]
		}
		if i := strings.Index(s[len(line):], end); i >= 0 {
			return len(line) + i + len(end)
		}
		return len(s)
	case head == "---" && strings.HasPrefix(s[len(line):], "\nQueued #"):
		return len(line)
	}
	for _, l := range clawLines {
		if strings.HasPrefix(line, l.open) && strings.HasSuffix(head, l.end) {
			return len(line)
		}
	}
	if first {
		clawStamps.Do(func() { clawStamps.Regexp = regexp.MustCompile(clawStamp) })
		return len(clawStamps.FindString(s))
	}
	return 0
}
