package page

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// The bounds of the page of a project: of how many sessions it says where they stand, in how many
// tokens each, in how many messages it looks for files, and how many files it lists.
const (
	mostBriefs  = 6
	briefTokens = 900
	mostCalls   = 20_000
	mostFiles   = 60
)

// ReadProject reads the page of a project. href returns the name of the page of a session; "" for
// none.
func ReadProject(
	c context.Context, s *session.Store, v *refs.View, href func(session string) string,
) (*Project, error) {
	clean := newCleaner(s)
	out := &Project{Name: projectName(s.Dir), Store: s.ID, Operation: v.Number}
	list, err := s.Recall.Overviews(v)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, sessions.ByPin)
	files := map[string]*FileRow{}
	days := map[string]int{}
	left := mostCalls
	for i := range list {
		row, err := sessionRow(s, v, clean, &list[i], i < mostBriefs)
		if err != nil {
			return nil, err
		}
		row.Href = href(row.Name)
		out.Sessions = append(out.Sessions, row)
		if left, err = touched(c, s, &list[i], files, days, left); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if f.Name, err = clean.text(f.Name); err != nil {
			return nil, err
		}
		out.Files = append(out.Files, *f)
	}
	slices.SortFunc(out.Files, func(a, b FileRow) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.Name, b.Name))
	})
	out.Files = out.Files[:min(len(out.Files), mostFiles)]
	for _, day := range slices.Sorted(maps.Keys(days)) {
		out.Days = append(out.Days, Day{Day: day, Messages: days[day]})
	}
	out.Left = clean.left
	return out, nil
}

// projectName returns the name of the directory that a store's directory is for.
func projectName(dir string) string {
	dir = filepath.Clean(dir)
	if filepath.Base(dir) == "context" && filepath.Base(filepath.Dir(dir)) == ".gemini" {
		dir = filepath.Dir(filepath.Dir(dir))
	}
	return filepath.Base(dir)
}

func sessionRow(
	s *session.Store, v *refs.View, clean *cleaner, o *sessions.Overview, brief bool,
) (row SessionRow, err error) {
	row = SessionRow{Name: o.Name, Agent: o.Agent, Git: o.Git, First: o.First, Last: o.Last,
		Messages: int(sessions.MainOf(&o.Session).Seq)}
	if row.Labels, err = clean.text(strings.Join(o.About.Labels(), " ")); err != nil {
		return row, err
	}
	if row.Title, err = clean.text(o.Title); err != nil || !brief {
		return row, err
	}
	row.Lines, err = briefLines(s, v, clean,
		history.BranchName{Session: o.Name, Branch: sessions.MainOf(&o.Session).Name})
	return row, err
}

func briefLines(
	s *session.Store, v *refs.View, clean *cleaner, name history.BranchName,
) (list []Line, err error) {
	b, err := s.Recall.WorkBrief(v, name, view.BriefOptions(briefTokens))
	if err != nil {
		return nil, err
	}
	for _, l := range b.Lines {
		text, err := clean.text(l.Text)
		if err != nil {
			return nil, err
		}
		list = append(list, Line{Section: string(l.Section), Text: text})
	}
	return list, nil
}

// touched counts the messages of a session by day, and the files that its newest calls name. It
// reads at most most messages with calls, and returns how many are left of them.
func touched(
	c context.Context, s *session.Store, o *sessions.Overview, files map[string]*FileRow,
	days map[string]int, most int,
) (int, error) {
	seen := map[string]bool{}
	for e, err := range s.History.Walk(sessions.MainOf(&o.Session).Value.ID, history.WithJoined) {
		if err = cmp.Or(err, c.Err()); err != nil {
			return most, err
		}
		if e.Kind != format.KindMessage {
			continue
		}
		days[e.Time.UTC().Format(time.DateOnly)]++
		if len(e.Calls) == 0 || most == 0 {
			continue
		}
		most--
		shown, err := s.History.Parts(e.ID)
		if err != nil {
			return most, err
		}
		for _, name := range filesOf(shown.Parts) {
			f := files[name]
			if f == nil {
				f = &FileRow{Name: name}
				files[name] = f
			}
			f.Calls++
			if !seen[name] {
				seen[name] = true
				f.Sessions++
			}
			if e.Time.After(f.Last) {
				f.Last = e.Time
			}
		}
	}
	return most, nil
}

func filesOf(parts []byte) (list []string) {
	pieces, _ := piecesOf(parts, nil)
	for _, p := range pieces {
		if p.File != "" && !strings.ContainsAny(p.File, "\n*") {
			list = append(list, p.File)
		}
	}
	return list
}
