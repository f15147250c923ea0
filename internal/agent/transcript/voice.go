package transcript

import (
	"slices"
	"strings"
)

// A client writes notes for the model into the results of tools. They are no output: a part keeps
// them apart (Notes).

// reminder is the element that clients put behind an output.
const reminder = "system-reminder"

// receipt is a result that the client itself writes for a call. The first sentence says what
// happened; what follows tells the model what to do.
type receipt struct {
	tools []string
	lead  string
}

var receipts = [...]receipt{
	{[]string{"Task", "Agent"}, "Async agent launched"},
	{[]string{"Task", "Agent"}, "Spawned successfully"},
	{[]string{"TodoWrite"}, "Todos have been modified"},
	{[]string{"Bash"}, "Command running in background"},
}

// subagentNote begins what the client writes behind the answer of a subagent.
const subagentNote = "\nagentId: "

// Output returns how much of a result is the tool's. What follows is the client's.
func OutputEnd(tool, text string) int {
	for _, r := range receipts {
		if slices.Contains(r.tools, tool) && strings.HasPrefix(text, r.lead) {
			return sentence(text)
		}
	}
	end := len(text)
	if tool == "Task" || tool == "Agent" {
		if i := strings.LastIndex(text, subagentNote); i >= 0 {
			end = i
		}
	}
	for {
		said := strings.TrimRight(text[:end], " \t\r\n")
		from := strings.LastIndex(said, "<"+reminder+">")
		if !strings.HasSuffix(said, "</"+reminder+">") || from < 0 ||
			from > 0 && said[from-1] != '\n' {
			return end
		}
		end = len(strings.TrimRight(said[:from], " \t\r\n"))
	}
}

// sentence returns the length of the first sentence of a text.
func sentence(text string) int {
	end := len(text)
	for _, stop := range []string{". ", "\n", " ("} {
		if i := strings.Index(text, stop); i >= 0 {
			end = min(end, i+len(strings.TrimRight(stop[:1], "\n ")))
		}
	}
	return end
}
