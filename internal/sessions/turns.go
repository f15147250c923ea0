package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// Turn is a prompt and what came of it.
type Turn struct {
	Entry   format.ID // of the prompt; of the first message where nobody asked
	Seq     uint64
	Time    time.Time
	Wanted  string   // "" where nobody asked
	Edited  []string // files, each once, with the lines that came and went: a.go +3 -1
	Checked []string // newest runs of checks: go test ./x → failed
	Commits []string // subjects
	Opened  string   // opened PR #7 or issue #7: the title; "" for none
	Answer  string   // the first sentence of the answer; "" without one
	Said    string   // or what the model said, or else did, last; "" for nothing
	Facts   []digest.Fact
}

// Came returns what came of a turn, in a few words: edits, checks, commits, or else the answer.
func (t *Turn) Came() string {
	var said []string
	switch n := len(t.Edited); {
	case n > 0 && n <= 2:
		said = append(said, "edited "+strings.Join(t.Edited, ", "))
	case n > 2:
		said = append(said, fmt.Sprintf("edited %s and %d more files", t.Edited[0], n-1))
	}
	if n := len(t.Checked); n > 0 {
		said = append(said, t.Checked[n-1])
	}
	if n := len(t.Commits); t.Opened != "" {
		said = append(said, t.Opened)
	} else if n > 0 {
		said = append(said, "committed "+t.Commits[n-1])
	}
	if len(said) == 0 {
		return cmp.Or(t.Answer, t.Said, nothingCame)
	}
	return strings.Join(said, "; ")
}

// nothingCame is what is said of a turn of which nothing came.
const nothingCame = "no result yet"

// mostWanted is how many bytes of the sentences of a prompt a turn has.
const mostWanted = 160

// Turns returns the turns of a branch, as far back as a digest goes, oldest first.
func (s *Reader) Turns(name history.BranchName, tip format.Value) ([]Turn, error) {
	facts, root, _, err := s.AllFacts(name, tip)
	if err != nil {
		return nil, err
	}
	list := TurnsOf(facts, root)
	if len(list) > 1 && list[0].Wanted == "" && list[0].Came() == nothingCame {
		list = list[1:] // what a client writes before the first prompt
	}
	for i := range list {
		e, err := s.Header(list[i].Entry)
		if err != nil {
			return nil, err
		}
		list[i].Time = e.Time
	}
	return list, nil
}

// turnsOf divides the facts of a branch into turns, without their times.
func TurnsOf(facts []digest.Fact, root brief.Root) (list []Turn) {
	first := 0 // of the facts of the turn
	edits := map[string][2]int{}
	asked, answered := uint64(0), false // answered is for an answer that can stand alone
	for i := range facts {
		f := &facts[i]
		isHead := f.Kind == digest.Prompt && f.Key != digest.Refused && !digest.IsForClient(f.Text)
		if len(list) == 0 || isHead && f.Seq != asked {
			clear(edits)
			list = append(list, Turn{Entry: f.Entry, Seq: f.Seq})
			first, answered = i, false
		}
		t := &list[len(list)-1]
		t.Facts = facts[first : i+1]
		switch {
		case isHead:
			asked = f.Seq
			if len(t.Wanted) < mostWanted && (t.Wanted == "" || !f.Slight) {
				t.Wanted = strings.TrimSpace(t.Wanted + " " + root.Shorten(f.Text))
			}
		case f.Kind == digest.Edit && !f.Undone():
			path := root.Name(f.Path)
			sum := edits[path]
			was := digest.Changed(path, sum[0], sum[1])
			sum[0], sum[1] = sum[0]+f.Added, sum[1]+f.Removed
			edits[path] = sum
			if at := slices.Index(t.Edited, was); at >= 0 {
				t.Edited = slices.Delete(t.Edited, at, at+1)
			}
			t.Edited = append(t.Edited, digest.Changed(path, sum[0], sum[1]))
		case f.Checks():
			run := f.Command()
			t.Checked = slices.DeleteFunc(t.Checked,
				func(old string) bool { return strings.HasPrefix(old, run+" → ") })
			t.Checked = append(t.Checked, run+" → "+string(f.State))
		case (f.IsRequest() || f.Key == digest.IssueKey) && f.State == digest.Passed:
			t.Opened = f.Text
		case f.Kind == digest.Commit && f.State == digest.Passed:
			t.Commits = append(t.Commits, strings.TrimPrefix(f.Text, "committed: "))
		case f.Key == digest.Title && t.Wanted == "" && len(list) == 1 && f.Seq == facts[0].Seq:
			t.Wanted = root.Shorten(f.Text) // the heading of a plan, with which a session begins
		case f.Kind == digest.Answer && (t.Answer == "" || !answered):
			t.Answer, answered = root.Shorten(f.Text), digest.Opens(f)
		case f.Kind == digest.Answer && prose.IsThin(t.Answer): // Yes.
			t.Answer += " " + root.Shorten(f.Text)
		case f.Kind == digest.Said && !prose.IsBare(f.Text),
			f.Kind == digest.Act && t.Said == "":
			t.Said = root.Shorten(f.Text)
		}
	}
	return list
}

// Last is the seq of the newest message of a turn.
func (t *Turn) Last() uint64 { return t.Facts[len(t.Facts)-1].Seq }
