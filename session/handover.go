package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// SessionBrief is where the work of a branch stands.
type SessionBrief struct {
	Session, Branch string
	Messages        uint64
	Last            time.Time // of the newest message; zero where nothing says it
	Lines           []brief.Line
}

// WorkBrief returns the brief of a branch in lines that cost no more than room. ErrNotFound where
// there is no such branch.
func (s *Store) WorkBrief(v *refs.View, name BranchName, room int, cost func(brief.Line) int) (*SessionBrief, error) {
	tip, err := Tip(v, name.Session, name.Branch)
	if err != nil {
		return nil, err
	}
	facts, e, err := s.factsAt(name, tip)
	if err != nil {
		return nil, err
	}
	b := &SessionBrief{Session: name.Session, Branch: name.Branch, Messages: e.Seq, Last: e.Time}
	b.Lines = brief.Choose(facts, brief.Options{Room: room, Cost: cost, Conclude: true})
	return b, nil
}

// factsAt returns the facts of all of a branch, as far as a digest goes back, and its tip.
func (s *Store) factsAt(name BranchName, v format.Value) ([]digest.Fact, *format.Entry, error) {
	e, err := s.entry(v.ID)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.workOf(name, v.ID, s.digestBorder(v, e), true)
	if err != nil {
		return nil, nil, err
	}
	return append(w.before, w.after...), e, nil
}

// digestBorder is the seq up to which a branch's digest is cached: where the pin ends, or where the
// window begins if the pin lags behind or there is none yet.
func (s *Store) digestBorder(v format.Value, tip *format.Entry) uint64 {
	if tip.Seq > v.Through+2*uint64(s.Config.Window.EvictAt) {
		return tip.Seq - uint64(s.Config.Window.GraduateAt)
	}
	return v.Through
}

// newestSessions returns the branches with the newest messages, main branches of sessions alone, the
// newest first. Sessions that work for another one, as those of subagents do, are left out.
func (s *Store) newestSessions(v *refs.View, except string, most int) ([]SessionBrief, error) {
	var list []SessionBrief
	for _, ref := range v.Names("sessions/") {
		session, branch, _ := strings.Cut(strings.TrimPrefix(ref, "sessions/"), "/")
		if branch != MainBranch || session == except {
			continue
		}
		if _, child, err := s.ParentOf(v, session); err != nil || child {
			if err != nil {
				return nil, err
			}
			continue
		}
		e, err := s.entry(v.Get(ref).ID)
		if err != nil {
			return nil, err
		}
		list = append(list, SessionBrief{Session: session, Branch: branch, Messages: e.Seq, Last: e.Time})
	}
	slices.SortStableFunc(list, func(a, b SessionBrief) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Session, b.Session))
	})
	return list[:min(len(list), most)], nil
}

// projectSessions is how many sessions the brief of a project speaks of.
const projectSessions = 4

// ProjectBrief returns the briefs of the newest sessions, the newest first, which has half of the
// room; the others share the rest.
func (s *Store) ProjectBrief(v *refs.View, room int, cost func(brief.Line) int) ([]SessionBrief, error) {
	list, err := s.newestSessions(v, "", projectSessions)
	if err != nil {
		return nil, err
	}
	return list, s.addLines(v, list, room, cost)
}

// addLines gives the sessions of a project the lines of their briefs.
func (s *Store) addLines(v *refs.View, list []SessionBrief, room int, cost func(brief.Line) int) error {
	for i := range list {
		share := room / 2
		if i > 0 {
			share = room / 2 / (len(list) - 1)
		} else if len(list) == 1 {
			share = room
		}
		b, err := s.WorkBrief(v, BranchName{list[i].Session, list[i].Branch}, share, cost)
		if err != nil {
			return err
		}
		list[i].Lines = b.Lines
	}
	return nil
}

// projectBudget is how many tokens a session that does not exist yet is told of its project, where no
// budget says otherwise.
const projectBudget = 1500

// ProjectInput is what a session renders that does not exist yet: the brief of its project. It is empty
// where the project has no session.
func (s *Store) ProjectInput(v *refs.View, session string, budget int) (view.Input, error) {
	in := view.Input{Session: session, Branch: MainBranch}
	if budget == 0 {
		budget = projectBudget
	}
	newest, err := s.newestSessions(v, session, projectSessions)
	if err != nil || len(newest) == 0 {
		return in, err
	}
	// A part of the room is for what a format prints around the text.
	room := view.BriefRoom(budget)*7/8 - view.ProjectFrame(projectView(newest))
	if err := s.addLines(v, newest, room, view.BriefCost); err != nil {
		return in, err
	}
	in.Epoch = []view.EpochPart{{Key: "project", Text: view.ProjectText(projectView(newest))}}
	return in, nil
}

func projectView(list []SessionBrief) []view.ProjectSession {
	out := make([]view.ProjectSession, len(list))
	for i, b := range list {
		out[i] = view.ProjectSession{Session: b.Session, Messages: b.Messages, Last: b.Last, Lines: b.Lines}
	}
	return out
}

// otherSessions is how many sessions a rendering looks for lines in that are about what it is about.
const otherSessions = 4

// asked is how many of the newest prompts say what a branch is about.
const asked = 3

// others returns lines of the newest other sessions that share at least two telling terms with the
// newest prompts of a branch, or with a question, in lines that cost no more than room.
func (s *Store) others(v *refs.View, in *view.Input, room int) ([]view.OtherLine, error) {
	about := about(in)
	if len(about) == 0 {
		return nil, nil
	}
	list, err := s.newestSessions(v, in.Session, otherSessions)
	if err != nil {
		return nil, err
	}
	var out []view.OtherLine
	for _, o := range list {
		ref := v.Get(RefName(o.Session, o.Branch))
		facts, _, err := s.factsAt(BranchName{o.Session, o.Branch}, ref)
		if err != nil {
			return nil, err
		}
		lines := brief.Choose(facts, brief.Options{Room: room / len(list), Cost: view.BriefCost, About: about})
		for _, l := range lines {
			out = append(out, view.OtherLine{Session: o.Session, Entry: l.Entry, Text: l.Text})
		}
	}
	return out, nil
}

// about returns what a branch is about: the question, and its newest prompts.
func about(in *view.Input) []string {
	var texts []string
	if in.Query != "" {
		texts = append(texts, in.Query)
	}
	left := asked
	for i := len(in.Tail) - 1; i >= 0 && left > 0; i-- {
		if m := in.Tail[i]; m.Role == "user" && m.Text != "" && !m.Update {
			texts = append(texts, m.Text)
			left--
		}
	}
	return texts
}
