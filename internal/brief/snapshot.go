package brief

import (
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// snapshot is the state that Gemini CLI keeps of older history. It reads it back from a message of
// the user that is this object and nothing else.
type snapshot struct {
	Tasks       []snapshotTask `json:"active_tasks"`
	Facts       []string       `json:"discovered_facts"`
	Constraints []string       `json:"constraints_and_preferences"`
	Arc         []string       `json:"recent_arc"` // oldest first
}

type snapshotTask struct {
	ID          string `json:"id"`
	Description string `json:"description"`
}

// maxArc is how many turns Gemini CLI keeps of the recent arc.
const maxArc = 5

// Snapshot returns the lines of the brief of one session in the form in which Gemini CLI keeps its
// state: open items of the todo list as tasks, or the newest prompt where there are none; what to
// heed and what was decided as constraints; the newest turns as the arc; everything else as facts.
// Each text ends with the id of its message. The ids of tasks follow from their messages, so that
// they stay. If it is longer than most by count, it loses what Gemini CLI drops first: facts, then
// constraints, the arc, and tasks, of each the last lines of the brief.
func Snapshot(lines []Line, most int, count func(string) int) string {
	s := snapshot{[]snapshotTask{}, []string{}, []string{}, []string{}}
	turns := map[int]string{}
	var newest *Line
	for i, l := range lines {
		text := strings.TrimPrefix(l.Text, "> ")
		with := text + " [" + l.Entry.Short(shortID) + "]"
		switch l.Section {
		case Todos:
			if state, what, ok := strings.Cut(text, ": "); ok && state != string(digest.Done) {
				s.add(l, what)
			}
		case Heed, Decided:
			s.Constraints = append(s.Constraints, with)
		case Wanted:
			if newest == nil || l.Turn < newest.Turn {
				newest = &lines[i]
			}
			turns[l.Turn] = with + turns[l.Turn]
		case Concluded:
			turns[l.Turn] += " → " + with
		case Changed, Failing, Tool:
			s.Facts = append(s.Facts, string(l.Section)+": "+with)
		default:
			s.Facts = append(s.Facts, with)
		}
	}
	if len(s.Tasks) == 0 && newest != nil {
		s.add(*newest, strings.TrimPrefix(newest.Text, "> "))
	}
	order := slices.Sorted(maps.Keys(turns))
	for _, turn := range slices.Backward(order[:min(len(order), maxArc)]) {
		s.Arc = append(s.Arc, strings.TrimPrefix(turns[turn], " → "))
	}
	for {
		text := s.text()
		switch {
		case count(text) <= most:
			return text
		case len(s.Facts) > 0:
			s.Facts = s.Facts[:len(s.Facts)-1]
		case len(s.Constraints) > 0:
			s.Constraints = s.Constraints[:len(s.Constraints)-1]
		case len(s.Arc) > 0:
			s.Arc = s.Arc[1:]
		case len(s.Tasks) > 0:
			s.Tasks = s.Tasks[:len(s.Tasks)-1]
		default:
			return text
		}
	}
}

// shortID is how many digits of an id a text ends with.
const shortID = 8

func (s *snapshot) add(l Line, what string) {
	id := "task_" + l.Entry.Short(shortID)
	for slices.ContainsFunc(s.Tasks, func(t snapshotTask) bool { return t.ID == id }) {
		id += "_" // another item of the same message
	}
	s.Tasks = append(s.Tasks, snapshotTask{id, what})
}

func (s *snapshot) text() string {
	return string(jsonvalue.Encode(s)) + "\n" // strings alone: it cannot fail
}
