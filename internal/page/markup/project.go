package markup

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Project is what the page of a project shows.
type Project struct {
	Name      string // of the directory
	Store     string
	Operation uint64
	Sessions  []SessionRow
	Files     []FileRow
	Days      []Day // with messages, oldest first
	Left      map[string]int
	Live      bool // a program serves it, and it watches for news
}

// SessionRow is a session in the list. Lines are those of its brief; there are none of old
// sessions.
type SessionRow struct {
	Name, Title, Agent, Git string
	Labels                  string // "pinned", and tags
	Href                    string // the name of its page; "" for none
	First, Last             time.Time
	Messages                int
	Lines                   []Line
}

// Line is a line of a brief. Section says what it is of.
type Line struct{ Section, Text string }

// FileRow is a file that calls have named.
type FileRow struct {
	Name            string
	Calls, Sessions int
	Last            time.Time
}

// Day is a day with messages.
type Day struct {
	Day      string // 2006-01-02
	Messages int
}

// sections returns the sections of briefs that the page shows, with their titles.
func sections() [][2]string {
	return [][2]string{
		{"wanted", "Wanted"},
		{"decided", "Decided"},
		{"concluded", "Concluded"},
		{"failing", "Failing"},
		{"todo", "To do"},
		{"changed", "Changed"},
	}
}

// Page returns the page of the project.
func (p *Project) Page() []byte {
	b := openPage(nil, p.Name+" · ctx", p.Live)
	b = append(appendBody(b, p.Live), " class=proj>\n<header class=top><div><h1>"...)
	b = append(appendName(b, p.Name), "</h1>\n<p class=meta>"...)
	total := 0
	for _, s := range p.Sessions {
		total += s.Messages
	}
	b = fmt.Appendf(b, "%s · %s", count(len(p.Sessions), "session"), count(total, "message"))
	b = append(b, "</p></div><div class=tools hidden>"...)
	if p.Live {
		b = append(b, liveSign...)
	}
	b = append(b, "<button id=theme>Dark</button></div></header>\n"...)
	b = p.activity(append(appendScript(b), "<main>"...))
	b = p.sessions(b)
	b = p.stands(b)
	b = p.files(b)
	b = append(b, "</main>\n<footer>"...)
	if n := sum(p.Left); n > 0 {
		b = fmt.Appendf(b, "<p><b>Left out when this page was made:</b> %s", count(n, "finding"))
		for _, class := range slices.Sorted(maps.Keys(p.Left)) {
			b = fmt.Appendf(appendName(append(b, ", "...), class), " %d", p.Left[class])
		}
		b = append(b, "</p>"...)
	}
	b = append(appendOrigin(b, p.Store, p.Operation, p.Live), "</p></footer>\n"...)
	return closePage(b, p.Live)
}

// mostDays is how many days the picture of the activity shows, the newest.
const mostDays = 180

func (p *Project) activity(b []byte) []byte {
	if len(p.Days) == 0 {
		return b
	}
	last, err := time.Parse(time.DateOnly, p.Days[len(p.Days)-1].Day)
	first, err2 := time.Parse(time.DateOnly, p.Days[0].Day)
	if err != nil || err2 != nil {
		return b
	}
	if oldest := last.AddDate(0, 0, 1-mostDays); first.Before(oldest) {
		first = oldest
	}
	n, most := int(last.Sub(first).Hours()/24)+1, 1
	for _, d := range p.Days {
		most = max(most, d.Messages)
	}
	wide := float64(lineWidth) / float64(max(n, 30))
	b = append(b,
		"<h2>Activity</h2><figure class=line><svg viewBox=\"0 0 1000 100\" "+
			"preserveAspectRatio=none role=img aria-label=\"Messages by day\">"...)
	for _, d := range p.Days {
		at, err := time.Parse(time.DateOnly, d.Day)
		if err != nil || at.Before(first) {
			continue
		}
		high := max(1, lineHeight*float64(d.Messages)/float64(most))
		b = fmt.Appendf(b,
			`<path class=user stroke-width=%.1f d="M%.1f %.1fV100"><title>%s: %s</title></path>`,
			wide*.85, (at.Sub(first).Hours()/24+0.42)*wide, lineHeight-high,
			at.Format(time.DateOnly), count(d.Messages, "message"))
	}
	return fmt.Appendf(b, "</svg><figcaption>messages by day, %s to %s</figcaption></figure>\n",
		first.Format(time.DateOnly), last.Format(time.DateOnly))
}

// stands says where the work of the newest sessions stands.
func (p *Project) stands(b []byte) []byte {
	for i := range p.Sessions {
		s := &p.Sessions[i]
		if len(s.Lines) == 0 {
			continue
		}
		b = append(b, "<section class=T><h2>"...)
		b = append(appendName(b, cmpTitle(s)), "</h2>"...)
		for _, one := range sections() {
			lines := linesOf(s.Lines, one[0])
			if len(lines) == 0 {
				continue
			}
			b = append(append(append(b, "<h3 class=q>"...), one[1]...), "</h3><ul>"...)
			for _, text := range lines {
				b = append(appendInline(append(b, "<li class=t>"...), text), "</li>"...)
			}
			b = append(b, "</ul>"...)
		}
		b = append(b, "</section>\n"...)
	}
	return b
}

func cmpTitle(s *SessionRow) string {
	if s.Title != "" {
		return s.Title
	}
	return s.Name
}

func linesOf(list []Line, section string) (out []string) {
	for _, l := range list {
		if l.Section == section {
			out = append(out, l.Text)
		}
	}
	return out
}

func (p *Project) sessions(b []byte) []byte {
	b = append(b,
		"<h2>Sessions</h2><table><thead><tr><th>Session</th><th>Agent</th><th>Last</th><th>Messages</th></tr></thead><tbody>\n"...)
	for i := range p.Sessions {
		s := &p.Sessions[i]
		b = append(b, "<tr><td>"...)
		if s.Href != "" {
			b = append(appendHref(append(b, "<a "...), s.Href), "\">"...)
			b = append(appendName(b, cmpTitle(s)), "</a>"...)
		} else {
			b = appendName(b, cmpTitle(s))
		}
		b = append(appendName(append(b, "<br><small><code>ctx view -s "...), s.Name), "</code>"...)
		for _, more := range []string{s.Labels, s.Git} {
			if more != "" {
				b = appendName(append(b, " · "...), more)
			}
		}
		b = append(appendName(append(b, "</small></td><td>"...), s.Agent), "</td><td>"...)
		if !s.Last.IsZero() {
			b = append(b, s.Last.UTC().Format(time.DateOnly)...)
		}
		b = fmt.Appendf(b, "</td><td class=n>%s</td></tr>\n", thousands(s.Messages))
	}
	return append(b, "</tbody></table>\n"...)
}

func (p *Project) files(b []byte) []byte {
	if len(p.Files) == 0 {
		return b
	}
	b = append(b,
		"<h2>Files that calls "+
			"named</h2><table><thead><tr><th>File</th><th>Last</th><th>Sessions</th><th>Calls</th></tr></thead><tbody>\n"...)
	for _, f := range p.Files {
		b = append(appendName(append(b, "<tr><td><code>"...), f.Name), "</code></td><td>"...)
		b = fmt.Appendf(b, "%s</td><td class=n>%d</td><td class=n>%d</td></tr>\n",
			f.Last.UTC().Format(time.DateOnly), f.Sessions, f.Calls)
	}
	return append(b, "</tbody></table>\n"...)
}
