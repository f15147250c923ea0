package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// projectSessions is the number of sessions in the brief of a project.
const projectSessions = 4

// notesPart is the divisor of the room of a project's brief for what somebody wanted remembered.
const notesPart = 4

// ProjectBrief returns what somebody wanted remembered in any session, as a brief of no session,
// and the briefs of the newest sessions, newest first. The first of these gets half of what is left
// of o.Room, and the others share the rest. They are for the session reader, "" for none: it is not
// among them, and what its own history holds is not in them.
func (s *Reader) ProjectBrief(
	v *refs.View, reader string, o brief.Options,
) ([]brief.SessionBrief, error) {
	list, kept, err := s.newestSessions(v, reader, projectSessions)
	if err != nil {
		return nil, err
	}
	return s.withLines(v, reader, list, kept, o)
}

// ProjectRules returns what users told to heed, in all sessions of the store's owner, as the brief
// of the session that said something last. Of rules about the same the newest holds.
func (s *Reader) ProjectRules(v *refs.View, o brief.Options) (*brief.SessionBrief, error) {
	list, _, err := s.newestSessions(v, "", len(v.Names("sessions/")))
	if err != nil {
		return nil, err
	}
	b := &brief.SessionBrief{Branch: history.MainBranch}
	var facts []digest.Fact
	for _, of := range slices.Backward(list) {
		if of.Theirs {
			continue
		}
		name := history.BranchName{Session: of.Session, Branch: of.Branch}
		tip, err := history.Tip(v, name.Session, name.Branch)
		if err != nil {
			return nil, err
		}
		own, root, _, err := s.AllFacts(name, tip)
		if err != nil && !s.PassOver(name.Session, err) {
			return nil, err
		}
		for _, f := range own { // the seqs of all sessions in one order
			f.Seq += b.Messages
			facts = append(facts, f)
		}
		b.Session, b.Last, o.Root = of.Session, of.Last, root
		b.Messages += of.Messages
	}
	b.Lines = brief.Choose(facts, o)
	return b, nil
}

// newestSessions returns the main branches of the sessions with the newest messages, newest first,
// without their lines. It leaves out the session except, sessions that work for another one, as
// those of subagents do, and what another store has of a session of this one, and no more. kept is
// what was wanted remembered in any session of the store's owner, the oldest first.
func (s *Reader) newestSessions(
	v *refs.View, except string, most int,
) (list []brief.SessionBrief, kept []digest.Fact, err error) {
	all, err := s.Overviews(v)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for i := range all {
		o, b := &all[i], sessions.MainOf(&all[i].Session)
		if b.Name != history.MainBranch {
			continue
		}
		again := slices.Contains(names, o.Also)
		if names = append(names, o.Name); o.Name == except || o.Parent != nil || again {
			continue
		}
		_, theirs := history.Owner(v, o.Name)
		list = append(list, brief.SessionBrief{Session: o.Name, Branch: b.Name, Theirs: theirs,
			Also: o.Also, Messages: b.Seq, First: o.First, Last: o.Last, Agent: o.Agent, Git: o.Git,
			Title: o.Title, Named: o.Named})
	}
	for i := range slices.Backward(all) {
		if _, theirs := history.Owner(v, all[i].Name); !theirs {
			kept = append(kept, all[i].Notes...)
		}
	}
	for i := range kept {
		kept[i].Seq = uint64(i + 1)
	}
	list = list[:min(len(list), most)]
	short := sessions.ShortNames(names)
	for i := range list {
		list[i].Short = short[list[i].Session]
	}
	return list, kept, nil
}

// withLines returns the briefs of a project for the session reader, with their lines, and before
// them what was wanted remembered. Of sessions that share history, the first tells of it, and none
// tells what the reader's own history holds.
func (s *Reader) withLines(
	v *refs.View, reader string, list []brief.SessionBrief, kept []digest.Fact, o brief.Options,
) ([]brief.SessionBrief, error) {
	room := o.Room
	told, err := s.toldTo(v, reader)
	if err != nil {
		return nil, err
	}
	kept = slices.DeleteFunc(kept, func(f digest.Fact) bool { return told.entries[f.Entry] })
	o.Room = room / notesPart
	of := brief.SessionBrief{Lines: brief.Notes(kept, o)}
	for _, l := range of.Lines {
		told.entries[l.Entry] = true
		room -= o.Cost(l)
	}
	for _, f := range kept { // what a newer note stands for, nobody tells any more
		if id, err := format.ParseID(f.Path); err == nil {
			told.entries[id] = true
		}
	}
	for _, i := range ownFirst(list) {
		o.Room = room / 2
		if i > 0 {
			o.Room = room / 2 / (len(list) - 1)
		} else if len(list) == 1 {
			o.Room = room
		}
		name := history.BranchName{Session: list[i].Session, Branch: list[i].Branch}
		tip, err := history.Tip(v, name.Session, name.Branch)
		if err != nil {
			return nil, err
		}
		told.twin = list[i].Also != ""
		b, err := s.workBrief(name, tip, o, told)
		if err != nil && s.PassOver(name.Session, err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list[i].Lines = b.Lines
		for j := range b.Lines {
			b.Lines[j].Theirs = list[i].Theirs
		}
	}
	if len(of.Lines) > 0 {
		list = append([]brief.SessionBrief{of}, list...)
	}
	return list, nil
}

// ownFirst returns the places of sessions in the order in which they tell: what another store has
// of a session of this one tells what it has more.
func ownFirst(list []brief.SessionBrief) (places []int) {
	for i := range list {
		places = append(places, i)
	}
	slices.SortStableFunc(places,
		func(i, j int) int { return strings.Compare(list[i].Also, list[j].Also) })
	return places
}

// projectBudget is the default budget, in tokens, of the brief of a project.
const projectBudget = 1500

// ProjectInput returns what a session that does not exist yet renders: the brief of its project.
// Epoch is empty if the project has no session.
func (s *Reader) ProjectInput(v *refs.View, session string, budget int) (view.Input, error) {
	in := view.Input{Session: session, Branch: history.MainBranch}
	budget = cmp.Or(budget, projectBudget)
	newest, kept, err := s.newestSessions(v, session, projectSessions)
	if err != nil || len(newest) == 0 {
		return in, err
	}
	// A part of the room is for what a format prints around the text.
	room := view.BriefRoom(budget)*7/8 - view.ProjectFrame(newest)
	o := brief.Options{Room: room, Cost: view.BriefCost, Short: brief.IsShort(budget)}
	if newest, err = s.withLines(v, session, newest, kept, o); err != nil {
		return in, err
	}
	in.Epoch = []view.EpochPart{{Key: "project", Text: view.ProjectText(newest)}}
	return in, nil
}

// AddProject adds the brief of the project to a branch that has not adopted a forest yet. The brief
// has only sessions whose newest message is older than the first message of the branch: a session
// that runs at the same time would change the rendering with each of its messages. Under a budget
// the brief takes at most a fifth, and only room that the messages of the branch do not need. After
// the first adoption the clusters of other sessions replace the brief.
func (s *Reader) AddProject(v *refs.View, in *view.Input, budget int) error {
	if !in.Pin.IsZero() || in.Unread > 0 || len(in.Tail) == 0 || in.Work != nil && budget > 0 {
		return nil
	}
	first := in.Tail[0]
	if first.Seq != 1 || first.Time.IsZero() {
		return nil
	}
	if _, child, err := s.ParentOf(v, in.Session); err != nil || child {
		return err
	}
	newest, kept, err := s.newestSessions(v, in.Session, len(v.Names("sessions/")))
	if err != nil {
		return err
	}
	newest = slices.DeleteFunc(newest,
		func(b brief.SessionBrief) bool { return b.Last.After(first.Time) })
	newest = newest[:min(len(newest), projectSessions)]
	room := view.BriefRoom(projectBudget)
	if budget > 0 {
		room = min(view.OthersRoom(budget), view.BriefRoom(budget)-2*view.TailSize(in.Tail))
	}
	room = room*7/8 - view.ProjectFrame(newest)
	if len(newest) == 0 || room < minOthersRoom {
		return nil
	}
	o := brief.Options{Room: room, Cost: view.BriefCost, Short: brief.IsShort(budget)}
	if newest, err = s.withLines(v, in.Session, newest, kept, o); err != nil {
		return err
	}
	if !slices.ContainsFunc(newest, func(b brief.SessionBrief) bool { return len(b.Lines) > 0 }) {
		return nil
	}
	in.Epoch = append([]view.EpochPart{{Key: "project", Text: view.ProjectText(newest)}},
		in.Epoch...)
	return nil
}
