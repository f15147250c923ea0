package live

import (
	"bytes"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/internal/page"
)

// projectSheet is the page of a project, as its template reads it.
type projectSheet struct {
	*page.Project
	Total int    // messages
	Wide  string // of a bar
	Bars  []dayBar
	From  string
	To    string
}

// Heading is what the page is called.
func (p *projectSheet) Heading() string { return p.Name }

// dayBar is a day in the picture of the activity.
type dayBar struct{ Path, Title string }

// Project returns the page of a project.
func Project(p *page.Project) ([]byte, error) {
	w := projectSheet{Project: p}
	for _, s := range p.Sessions {
		w.Total += s.Messages
	}
	if err := w.activity(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := templates().ExecuteTemplate(&b, "project", &w)
	return b.Bytes(), err
}

// Section is a part of a brief.
type section struct {
	Title string
	Lines []string
}

// Brief returns the sections of the brief of a session.
func (w *projectSheet) Brief(s page.SessionRow) (list []section) {
	for _, one := range [][2]string{{"wanted", "Wanted"}, {"decided", "Decided"},
		{"concluded", "Concluded"}, {"failing", "Failing"}, {"todo", "To do"},
		{"changed", "Changed"}} {
		part := section{Title: one[1]}
		for _, l := range s.Lines {
			if l.Section == one[0] {
				part.Lines = append(part.Lines, l.Text)
			}
		}
		if len(part.Lines) > 0 {
			list = append(list, part)
		}
	}
	return list
}

// mostDays is how many days the picture of the activity shows, the newest.
const mostDays = 180

func (w *projectSheet) activity() error {
	if len(w.Days) == 0 {
		return nil
	}
	most, times := 1, make([]time.Time, len(w.Days))
	for i, d := range w.Days {
		var err error
		if times[i], err = time.Parse(time.DateOnly, d.Day); err != nil {
			return err
		}
		most = max(most, d.Messages)
	}
	first, last := times[0], times[len(times)-1]
	if oldest := last.AddDate(0, 0, 1-mostDays); first.Before(oldest) {
		first = oldest
	}
	n := last.Sub(first).Hours()/24 + 1
	wide := lineWidth / max(n, 30)
	w.From, w.To, w.Wide = day(first), day(last), fmt.Sprintf("%.1f", wide*.85)
	for i, d := range w.Days {
		if times[i].Before(first) {
			continue
		}
		high := max(1, lineHeight*float64(d.Messages)/float64(most))
		w.Bars = append(w.Bars, dayBar{
			fmt.Sprintf("M%.1f %.1fV100", (times[i].Sub(first).Hours()/24+0.42)*wide,
				lineHeight-high),
			d.Day + ": " + page.Count(d.Messages, "message")})
	}
	return nil
}
