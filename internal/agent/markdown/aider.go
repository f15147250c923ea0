package markdown

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// AiderAgent is the agent in the source of a message that aider had.
const AiderAgent = "aider"

// AiderBegins is how a line begins with which aider begins to write.
const AiderBegins = "# aider chat started at "

// ReadAider reads a history of aider. All launches in it are one session, which is named for the
// time of the first: aider goes on in the same file.
func ReadAider(
	_ string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	f := &form{agent: AiderAgent, turns: turnsOfAider, parts: partsOfAider}
	f.marks = &transcript.Voices{Leads: []transcript.Lead{
		{Open: "<blank>"}, // the person has typed nothing
		// Answers that a person gave once for several questions
		{Open: "Add file to the chat? (Y)es"}, {Open: "Add URL to the chat? (Y)es"},
		{Open: "Run shell command? (Y)es"}, {Open: "Run shell commands? (Y)es"},
	}}
	return f.read(r, emit)
}

func partsOfAider(_, text string) (parts, _ []json.RawMessage) {
	thought, answer := thoughtOf(text)
	if thought != "" {
		parts = append(parts, transcript.ThoughtPart(thought, nil))
	}
	if answer != "" || thought == "" {
		parts = append(parts, transcript.TextPart(answer, nil))
	}
	return parts, nil
}

// thoughtOf takes what the model thinks out of the element that is in front of its answer.
func thoughtOf(text string) (thought, answer string) {
	for _, name := range []string{"thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b", "think"} {
		rest, ok := strings.CutPrefix(text, "<"+name+">")
		thought, answer, closed := strings.Cut(rest, "</"+name+">")
		if ok && closed {
			return strings.TrimSpace(thought), strings.TrimSpace(answer)
		}
	}
	return "", text
}

// ends is behind each line of the person and of aider, but for those inside of an output. Headings
// and quotes of the model have no spaces there.
const ends = "  "

// aider divides a history into turns.
type aider struct {
	stats   *transcript.Stats
	list    []turn
	when    time.Time
	model   string
	trimmed bool // somebody has removed the spaces at the ends of lines
	blank   bool // the last line was
	inside  bool // of an output of several lines
}

func turnsOfAider(text string, stats *transcript.Stats) []turn {
	a := &aider{stats: stats, trimmed: true, blank: true}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "####") {
			a.trimmed = a.trimmed && !strings.HasSuffix(line, ends+"\n")
		}
	}
	for line := range strings.Lines(text) {
		a.line(strings.TrimSuffix(line, "\n"))
	}
	if stats.Session == "" {
		return nil
	}
	return a.withoutCopies()
}

// withoutCopies leaves out what aider writes into the person's name once more: the prompt in a
// command such as /ask, and the plan of an architect that goes to the model that edits.
func (a *aider) withoutCopies() (list []turn) {
	answer, command := "", ""
	for _, t := range a.list {
		text := t.text()
		if t.role == transcript.RoleModel {
			_, text = thoughtOf(text)
		}
		said := strings.Join(strings.Fields(text), " ")
		_, prompt, _ := strings.Cut(command, " ")
		command = ""
		switch {
		case t.role == transcript.RoleModel:
			answer = said
		case t.role != transcript.RoleUser || said == "":
		case said == answer || said == prompt:
			a.stats.Pass("copy of a message")
			continue
		case said[0] == '/':
			command = said
		}
		list = append(list, t)
	}
	return list
}

func (a *aider) line(line string) {
	said, ended := strings.CutSuffix(line, ends)
	ended = ended || a.trimmed
	prompt, isPrompt := mark(said, "####")
	output, isOutput := mark(said, ">")
	last := ""
	if n := len(a.list); n > 0 {
		last = a.list[n-1].role
	}
	prompted := isPrompt && ended && (a.blank || last == transcript.RoleUser)
	started := begun(line)
	a.inside = a.inside && !prompted && started.IsZero() && !(isOutput && ended)
	switch {
	case !started.IsZero():
		a.when = started
		if a.stats.Session == "" {
			a.stats.Session = "aider-" + a.when.Format("2006-01-02T15-04-05")
		}
		a.add("", strings.TrimPrefix(line, "# "), false)
	case a.inside:
		a.add("", said, true)
		a.inside = !ended || isOfMap(said)
	case prompted:
		a.add(transcript.RoleUser, prompt, !a.blank)
	case isOutput && (ended || !a.blank && last != transcript.RoleModel): // it begins no answer
		a.add("", output, true)
		a.inside = !ended
		a.note(output)
	case strings.TrimSpace(line) != "" || last == transcript.RoleModel:
		a.add(transcript.RoleModel, line, true)
	}
	a.blank = strings.TrimSpace(line) == ""
}

// isOfMap reports whether a line is one of the map of a repository: the lines of code in it end as
// they do in their files.
func isOfMap(line string) bool {
	return strings.HasPrefix(line, "│") || strings.HasPrefix(line, "⋮")
}

// begun returns the time of a launch; zero for any other line.
func begun(line string) (when time.Time) {
	if at, ok := strings.CutPrefix(line, AiderBegins); ok {
		when, _ = transcript.ParseTime(strings.TrimSpace(at))
	}
	return when
}

// mark returns what follows a mark at the beginning of a line.
func mark(line, mark string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(line, mark)
	if rest == "" {
		return "", ok
	}
	space := rest[0] == ' '
	return rest[1:], ok && space
}

// note takes what aider says of itself.
func (a *aider) note(output string) {
	if version, ok := strings.CutPrefix(output, "Aider v"); ok && a.stats.Version < version {
		a.stats.Version = version
	}
	for _, lead := range []string{"Model: ", "Main model: "} {
		if of, ok := strings.CutPrefix(output, lead); ok {
			a.model, _, _ = strings.Cut(of, " with ")
		}
	}
}

// add adds a line to the last turn, if it joins that and the same one speaks, or begins a turn.
func (a *aider) add(role, line string, joins bool) {
	if n := len(a.list) - 1; n >= 0 && joins && a.list[n].role == role {
		a.list[n].lines = append(a.list[n].lines, line)
		return
	}
	t := turn{role: role, when: a.when, lines: []string{line}}
	if role == transcript.RoleModel {
		t.author = a.model
	}
	a.list = append(a.list, t)
}
