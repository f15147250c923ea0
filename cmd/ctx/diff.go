package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

type diffOptions struct {
	branchFlags
	part    string
	budget  int
	context int
}

// The parts of a session that diff compares.
const (
	diffContext = "context"
	diffForest  = "forest"
	diffBrief   = "brief"
)

func newDiffCmd(a *app) *cobra.Command {
	o := &diffOptions{}
	cmd := o.newCmd(a, "diff [-s SESSION] FROM [TO]",
		o.onTip(a, func(b openBranch, args []string) error { return o.run(a, b, args) }))
	f := cmd.Flags()
	f.StringVar(&o.part, "part", diffContext, "compare the context, the forest or the brief")
	f.IntVar(&o.budget, "budget", 0, "at most `N` tokens of context or brief")
	f.IntVarP(&o.context, "unified", "U", 3, "`N` equal lines around each difference")
	a.completeWords(cmd, "part", diffContext, diffForest, diffBrief)
	return cmd
}

func (o *diffOptions) run(a *app, b openBranch, args []string) error {
	switch {
	case !slices.Contains([]string{diffContext, diffForest, diffBrief}, o.part):
		return usagef("bad --part: %.80q: context, forest or brief", o.part)
	case o.context < 0:
		return usagef("bad --unified: %d: 0 is the least", o.context)
	}
	if first, last, ok := strings.Cut(args[0], ".."); ok && len(args) == 1 { // as git writes it
		args = []string{cmp.Or(first, "HEAD"), cmp.Or(last, "HEAD")}
	}
	from, err := o.point(b, args[0])
	if err != nil {
		return err
	}
	to := point{Operation: b.view.Number, value: b.tip}
	if len(args) == 2 {
		if to, err = o.point(b, args[1]); err != nil {
			return err
		}
	}
	var sides [2][]string
	for i, p := range []*point{&from, &to} {
		p.ID = p.value.ID
		e, err := b.s.History.Header(p.ID)
		if err != nil {
			return err
		}
		p.Seq = e.Seq
		if sides[i], err = o.lines(b, p); err != nil {
			return err
		}
	}
	return o.print(a, b, from, to, sides)
}

// point is a point in the history of a branch.
type point struct {
	Operation uint64    `json:"operation"`
	ID        format.ID `json:"id"`
	Seq       uint64    `json:"seq"`

	value format.Value // of the branch
}

// point finds the point that an argument names. A number that begins with 0 is a session's.
func (o *diffOptions) point(b openBranch, name string) (point, error) {
	ref := history.RefName(b.name, b.branch)
	if strings.Trim(name, "0123456789") == "" && len(name) < 10 && !strings.HasPrefix(name, "0") {
		number, err := operationAt(b.s, b.view, name)
		if err != nil {
			return point{}, err
		}
		return valueAfter(b, ref, number)
	}
	id, err := b.back(name)
	if err != nil {
		return point{}, err
	}
	var p point
	var moves []point // of the branch, newest first
	var from []format.Value
	err = b.s.Refs.Backward(b.view, func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			if u.Name != ref {
				continue
			}
			moves = append(moves, point{Operation: r.Op.Number, value: u.New})
			from = append(from, u.Old)
			if u.New.ID == id {
				p = moves[len(moves)-1]
			}
		}
		return p.Operation == 0
	})
	if err == nil && p.Operation == 0 {
		p, err = within(b.s, moves, from, id)
	}
	if other, none := history.Named(b.view, name); err == nil && none == nil && p.Operation == 0 &&
		other != b.name {
		return p, withHint(usagef("%s is another session than %s", oneLine(other), oneLine(b.name)),
			"two points of one session are compared: `ctx diff -s %s FROM TO`", oneLine(other))
	}
	if err == nil && p.Operation == 0 {
		err = withHint(notFound("as far as the log goes back, %s/%s never ended at %s",
			oneLine(b.name), b.branch, id.Short(shortLen)),
			"`ctx reflog` lists where it ended")
	}
	return p, err
}

// back returns the entry that name means in the branch. What counts back from its tip counts
// messages, as for a rewind: an agent writes titles and other notes behind the last one.
func (b *openBranch) back(name string) (format.ID, error) {
	id, err := b.entry(name)
	base, steps, none := clusters.CutSteps(name)
	if err != nil || none != nil || steps == 0 {
		return id, err
	}
	ref, _ := b.s.Clusters.ResolveRef(b.view, clusters.InBranch(base, b.name, b.branch))
	if ref != history.RefName(b.name, b.branch) {
		return id, nil
	}
	for e, err := range b.s.History.Walk(b.tip.ID, history.OwnLine) {
		if err != nil {
			return id, err
		}
		if e.Kind == format.KindMessage {
			steps--
		}
		if first := history.FirstParent(e.Entry); steps == 0 && !first.IsZero() {
			return first, nil
		}
	}
	return id, nil
}

// within returns the point of an entry that a branch never ended at, since it came with others: the
// newest move of the branch that went past it, as if it had stopped there. from are the values
// before the moves. The point is zero if no move did.
func within(
	s *session.Store, moves []point, from []format.Value, id format.ID,
) (p point, err error) {
	entry, err := s.History.Header(id)
	if err != nil {
		return p, err
	}
	for i, move := range moves {
		for e, err := range s.History.Walk(move.value.ID, history.OwnLine) {
			switch {
			case err != nil:
				return p, err
			case e.ID == id:
				p = point{Operation: move.Operation, value: from[i]}
				p.value.Kind, p.value.ID = move.value.Kind, id
				return p, nil
			}
			if e.ID == from[i].ID || e.Seq < entry.Seq {
				break
			}
		}
	}
	return p, nil
}

// valueAfter returns the point of a branch after an operation.
func valueAfter(b openBranch, ref string, number uint64) (point, error) {
	p := point{Operation: number, value: b.tip}
	err := b.s.Refs.Backward(b.view, func(r refs.Record) bool {
		if r.Op.Number <= number {
			return false
		}
		for _, u := range r.Op.Refs {
			if u.Name == ref {
				p.value = u.Old
			}
		}
		return true
	})
	if err == nil && p.value.ID.IsZero() {
		err = fmt.Errorf("%w: after operation %d there was no branch %s/%s", history.NoStep, number,
			oneLine(b.name), b.branch)
	}
	return p, err
}

// lines returns what is compared, at one point.
func (o *diffOptions) lines(b openBranch, p *point) ([]string, error) {
	switch o.part {
	case diffForest:
		return forestLines(b, p.Operation)
	case diffBrief:
		work, err := b.s.Recall.WorkBriefOf(history.BranchName{Session: b.name, Branch: b.branch},
			p.value, view.BriefOptions(cmp.Or(o.budget, defaultBrief)))
		if err != nil {
			return nil, err
		}
		return digest.LinesOf(printedBrief(work.Lines)), nil
	}
	how := view.Options{Budget: o.budget, Format: view.Text}
	in, err := b.s.Recall.RenderInputOf(b.view, p.value, b.name, b.branch, how)
	if err != nil {
		return nil, err
	}
	out, err := view.Render(in, how)
	return digest.LinesOf(string(out.Bytes)), err
}

// forestLines returns a line for each cluster of the session.
func forestLines(b openBranch, operation uint64) ([]string, error) {
	list, err := clustersAt(b.s, b.view, operation)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range list {
		if c.First != nil && c.First.Session != b.name {
			continue
		}
		out = append(out,
			fmt.Sprintf("%d %s, %s: %s", c.Number,
				document.StateOf(&clusters.ClusterInfo{Tombstone: c.Tombstone}),
				plural(int(c.Count), "member", "members"), oneLine(c.Label)))
	}
	return out, nil
}

// edit is a line of a comparison: ' ' stands on both sides, '-' and '+' on one.
type edit struct {
	mark byte
	text string
}

// compared compares two texts.
func compared(from, to []string) (list []edit) {
	at := 0
	for i, partner := range replay.Pairs(from, to) {
		if partner < 0 {
			list = append(list, edit{'+', to[i]})
			continue
		}
		for ; at < partner; at++ {
			list = append(list, edit{'-', from[at]})
		}
		list = append(list, edit{' ', to[i]})
		at++
	}
	for ; at < len(from); at++ {
		list = append(list, edit{'-', from[at]})
	}
	return list
}

func (o *diffOptions) print(a *app, b openBranch, from, to point, sides [2][]string) error {
	list := compared(sides[0], sides[1])
	if a.json {
		changed := []string{}
		for _, e := range list {
			if e.mark != ' ' {
				changed = append(changed, string(e.mark)+e.text)
			}
		}
		return a.answer("session", b.name, "branch", b.branch, "part", o.part, "from", from, "to",
			to, "lines", changed)
	}
	if !slices.ContainsFunc(list, func(e edit) bool { return e.mark != ' ' }) {
		return nil
	}
	for i, p := range []point{from, to} {
		a.line("%s",
			a.paint(styleTitle,
				fmt.Sprintf("%s %s of %s/%s after operation %d, %s",
					[]string{"---", "+++"}[i], o.part,
					oneLine(sessions.ShortName(b.view, b.name)), b.branch, p.Operation,
					plural(int(p.Seq), "message", "messages"))))
	}
	near := make([]bool, len(list))
	for i, e := range list {
		if e.mark != ' ' {
			for k := max(0, i-o.context); k <= min(len(list)-1, i+o.context); k++ {
				near[k] = true
			}
		}
	}
	for i, e := range list {
		switch {
		case near[i]:
			style := map[byte]style{'-': styleGone, '+': styleNew}[e.mark]
			a.line("%s", a.paint(style, string(e.mark)+cleanLines(e.text)))
		case i == 0 || near[i-1]:
			a.line("%s", a.paint(styleID, "@@"))
		}
	}
	return a.out.err
}
