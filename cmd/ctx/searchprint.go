package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
)

// foundPrinter prints what was found: a line for each session, and what it said below that.
type foundPrinter struct {
	a       *app
	verbose bool // whole ids, scores and times
	// Of the place and the session that are printed
	place   *place
	session string
	list    []sessions.Overview
	short   map[string]string
	telling *find.Telling
}

// in begins what is of a session. more is what else its line says.
func (p *foundPrinter) in(at *place, session, more string) error {
	if p.place != at {
		list, err := at.s.Recall.Overviews(at.view)
		if err != nil {
			return err
		}
		p.place, p.session, p.list, p.short = at, "", list, shortNames(list)
		p.telling = &find.Telling{Reader: at.s.Recall.Reader, View: at.view}
	}
	if p.session == session && session != "" {
		return nil
	}
	p.session = session
	i := slices.IndexFunc(p.list, func(o sessions.Overview) bool { return o.Name == session })
	if i < 0 || p.a.nul {
		return nil // with -z each item names it
	}
	o, name, project := &p.list[i], session, ""
	if !p.verbose {
		name = p.short[session]
	}
	if at.name != "" {
		project = at.name + ": "
	}
	if !o.Last.IsZero() {
		more = p.a.ago(o.Last) + more
	}
	name = oneLine(name) + "  "
	if more = strings.TrimPrefix(more, ", "); more != "" {
		more = "  " + more
	}
	left := p.a.lineWidth() - displaywidth.String(name+more)
	if left < narrowest { // a title says more than when it was
		left, more = left+displaywidth.String(more), ""
	}
	title := cutWidth(oneLine(project)+p.a.sessionTitle(o), max(left, narrowest/2))
	p.a.line("%s%s%s", p.a.paint(styleID, name), p.a.paint(styleTitle, title),
		p.a.paint(styleFaint, more))
	return p.a.out.err
}

// said prints who said something of the session, and what of it was asked for, in at most so many
// lines; 0 for one that is not cut.
func (p *foundPrinter) said(
	shown *history.Shown, score, more string, lines int, text string,
) error {
	a, e := p.a, shown.Entry
	id, who := shown.ID.Short(shortLen), roleOrKind(shown)
	if e.Author != "" && (p.verbose || e.Role == transcript.RoleUser) {
		who += " " + oneLine(e.Author)
	}
	if p.verbose {
		id, who = score+shown.ID.String(), fmt.Sprintf("#%d %s %s", e.Seq, who, a.clock(e.Time))
	}
	if a.nul {
		id += " " + oneLine(p.session)
	}
	head := "  " + a.paint(styleID, id) + " " + a.paint(styleRole, who) + more + ": "
	if lines == 0 || a.nul {
		a.line("%s%s", head, text)
		return a.out.err
	}
	indent := strings.Repeat(" ", len("  ")+shortLen+1)
	left := a.lineWidth() - columnsOf(head)
	if p.verbose {
		head, left = strings.TrimRight(head, " ")+"\n"+indent, a.lineWidth()-len(indent)
	}
	text = oneLine(text)
	for ; lines > 1 && displaywidth.String(text) > left; lines-- {
		first, rest := broken(text, left)
		head += first + "\n" + indent
		text, left = rest, a.lineWidth()-len(indent)
	}
	a.line("%s%s", head, cutWidth(text, left))
	return a.out.err
}

// hitLines is in how many lines a hit says what was asked for.
const hitLines = 2

// room returns how many characters these have room for.
func (p *foundPrinter) room() int { return hitLines * (p.a.lineWidth() - 2*shortLen) }

// hits prints the hits of a search by session, in the order of the first hit of each, and then
// clusters.
func (p *foundPrinter) hits(list []of[find.Hit]) error {
	if p.a.json {
		for _, h := range list {
			p.a.enter(h.place)
			if h.T.Named != nil {
				p.a.document(document.TitleHitOf(h.T))
				continue
			}
			p.a.document(document.HitOf(h.T))
		}
		return p.a.out.err
	}
	type group struct {
		place   *place
		session string
	}
	var order []group
	by := map[group][]*find.Hit{}
	for i := range list {
		g := group{list[i].place, list[i].T.Session}
		if list[i].T.Cluster != nil {
			g.session = ""
		}
		if by[g] == nil && g.session != "" {
			order = append(order, g)
		}
		by[g] = append(by[g], &list[i].T)
	}
	for i := range list {
		if g := (group{list[i].place, ""}); by[g] != nil && !slices.Contains(order, g) {
			order = append(order, g)
		}
	}
	for _, g := range order {
		if err := p.in(g.place, g.session, ""); err != nil {
			return err
		}
		for _, h := range by[g] {
			if err := p.hit(h); err != nil {
				return err
			}
		}
	}
	return nil
}

// hit prints a hit of the session; of a session for its title there is nothing more to say.
func (p *foundPrinter) hit(h *find.Hit) error {
	score := fmt.Sprintf("%.3f ", h.Score)
	switch c := h.Cluster; {
	case c != nil && p.verbose:
		p.a.line("  %scluster %v %s, %s\n    %s", score, h.ID, document.StateOf(c),
			plural(int(c.Count), "member", "members"), oneLine(h.Excerpt))
	case c != nil:
		p.a.line("cluster %s %s, %s\n    %s", h.ID.Short(shortLen), document.StateOf(c),
			plural(int(c.Count), "member", "members"), oneLine(h.Excerpt))
	case h.Named == nil:
		return p.said(h.Shown, score, remarks(*h), hitLines, p.telling.Passage(h, p.room()))
	case p.a.nul:
		p.a.line("%s  %s", oneLine(h.Session), oneLine(h.Text))
	}
	return p.a.out.err
}

// best prints a session that was found, with the best of its messages.
func (p *foundPrinter) best(at *place, h *find.SessionHit) error {
	if p.a.json {
		p.a.enter(at)
		return p.a.answer(document.SessionHitOf(*h))
	}
	more := ""
	if h.Matches > 0 {
		more = ", " + plural(h.Matches, "match", "matches")
	}
	err := p.in(at, h.Best.Session, more)
	if err != nil {
		return err
	}
	h.Best.Score = h.Score
	return p.hit(&h.Best)
}

// line prints a line that a pattern has found.
func (p *foundPrinter) line(at *place, l *find.Line, q *find.SearchQuery) error {
	if err := p.in(at, l.Session, ""); err != nil {
		return err
	}
	more := ""
	if l.Rewound {
		more = " rewound"
	}
	return p.said(l.Shown, "", more, 0, p.matched(l, q))
}

// matched returns the line of a match, or where it is long the passage around the match.
func (p *foundPrinter) matched(l *find.Line, q *find.SearchQuery) string {
	passage, is := p.telling.Call(l, q.Pattern, p.a.grepRoom())
	if !is {
		return p.a.matched(*l, q.Pattern)
	}
	return p.a.painted(oneLine(passage), 0, q.Pattern)
}
