package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

type replaceOptions struct {
	branchFlags
	begin, partial bool
	commit         string
}

func newReplaceCmd(a *app) *cobra.Command {
	o := &replaceOptions{}
	cmd := &cobra.Command{
		Use:   "replace --begin [-s SESSION] ID... | --commit FILE [--partial]",
		Short: "Have a worker's text stand for messages, while the conversation goes on",
		Long: long(`A worker takes a claim over some messages, writes a text in its own time, and brings it back. From then on the text is rendered in the place
of the messages, which stay in the store: `+"`ctx expand`"+` of the replacement's id gives them back. Nothing is locked or reserved meanwhile.

With --begin nothing is changed: a claim is printed with what it is over, with --json as one line:

  {"v":1,"claim":"…","kind":"entries","tokens":null,"inputs":[…]}

with an input for each thing that is claimed: {"kind":"entry","id":"…","part":null,"role":"user","time":"…","text":"…"}.

An ID is an entry, ENTRY.PART for one of its parts (counted from 0), an earlier replacement, or a cluster. Entries and parts are in one claim; a
cluster has one of its own, whose "kind" is "cluster" and which says how many "tokens" the text may have. What a tool printed is claimed
together with the message that called it, or as a part.

--commit takes answers, a line each, about one branch, or about clusters:

  {"v":1,"claim":"…","text":"…","summarizer":"NAME"}

A text is taken if all that was claimed is still there and unchanged by id: not rewound, amended, forgotten, masked or replaced by another since.
If not, exit code 12 and one line name what moved, and nothing changes; with --partial what moved is left out and the text stands for the rest.
An answer that is there already is known, and changes nothing. The text for a cluster becomes its summary, and is rendered from the session's next
cut of its window on; if the cluster has grown, it stands for the members that were claimed.`,
			exitNoStore, exitLocked, exitStale, exitCorrupt, exitGone, exitNotFound),
		Example:           "  ctx replace --begin -s work --json @~3 @~2 | my-worker | ctx replace --commit -",
		Args:              between(0, -1),
		ValidArgsFunction: a.completeRevs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.BoolVar(&o.begin, "begin", false, "print a claim, and change nothing")
	f.StringVar(&o.commit, "commit", "", "take texts from a file, - for standard input")
	f.BoolVar(&o.partial, "partial", false, "with --commit: leave out what has moved")
	return cmd
}

func (o *replaceOptions) run(c context.Context, a *app, args []string) error {
	changed := o.cmd.Flags().Changed
	switch {
	case o.begin == changed("commit"):
		return usagef("replace needs one of --begin and --commit")
	case o.begin && o.partial:
		return usagef("--partial is for --commit")
	case o.begin && len(args) == 0:
		return usagef("--begin needs the ids that are to be replaced")
	case o.begin:
		return o.runBegin(a, args)
	case len(args) > 0 || changed("session") || changed("branch"):
		return usagef("--commit takes its answers from a file: a claim says what it is about")
	case o.commit == "":
		return usagef("--commit takes the name of a file, or - for standard input")
	}
	return o.runCommit(c, a)
}

// runBegin prints claims over what the arguments name.
func (o *replaceOptions) runBegin(a *app, args []string) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	name, branch, _, err := o.tip(view)
	if err != nil {
		return err
	}
	var targets []format.Target
	var clusters []format.ID
	for _, arg := range args {
		t, cluster, err := replaceTarget(s, view, arg, name, branch)
		switch {
		case err != nil:
			return err
		case cluster:
			clusters = append(clusters, t.Entry)
		default:
			targets = append(targets, t)
		}
	}
	claims, err := s.BeginReplace(view, name, branch, targets, clusters)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if err := printReplaceClaim(a, claim); err != nil {
			return err
		}
	}
	return nil
}

// replaceTarget finds what an argument names: an entry, a part, or a cluster by its node, a summary or a tombstone.
func replaceTarget(s *session.Store, view *refs.View, arg, name, branch string) (t format.Target, cluster bool, err error) {
	t.Part = format.WholeEntry
	id, err := resolve(s, view, inBranch(arg, name, branch))
	if session.IsMissing(err) {
		t, err = resolveTarget(s, view, arg, name, branch)
		return t, false, err
	}
	if err != nil {
		return t, false, err
	}
	t.Entry = id
	header, err := s.Objects.Header(id)
	if err != nil {
		return t, true, nil // the node of a cluster that is not written yet
	}
	kind, _, err := format.HeaderKind(header)
	return t, kind != "entry", err
}

type replaceClaimDoc struct {
	V      int               `json:"v"`
	Claim  string            `json:"claim"`
	Kind   string            `json:"kind"`   // entries or cluster
	Tokens *int              `json:"tokens"` // the most that the text may have; null where there is no bound
	Inputs []replaceInputDoc `json:"inputs"`
}

type replaceInputDoc struct {
	Kind   string `json:"kind"` // entry, part or replacement
	ID     string `json:"id"`
	Part   *int   `json:"part"` // null for a whole entry
	Role   string `json:"role"`
	Author string `json:"author,omitempty"`
	Time   string `json:"time"`
	Call   string `json:"call,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Text   string `json:"text"`
}

func printReplaceClaim(a *app, claim session.ReplaceClaim) error {
	d := replaceClaimDoc{V: 1, Claim: claim.ID, Kind: "entries", Inputs: []replaceInputDoc{}}
	if claim.Cluster {
		d.Kind, d.Tokens = "cluster", &claim.Tokens
	}
	for _, in := range claim.Inputs {
		one := replaceInputDoc{
			Kind: in.Kind, ID: in.Entry.String(), Role: in.Role, Author: in.Author, Time: timeText(in.Time), Call: in.Call, Tool: in.Tool, Text: in.Text,
		}
		if in.Part != format.WholeEntry {
			one.Part = &in.Part
		}
		d.Inputs = append(d.Inputs, one)
	}
	if a.json {
		return a.printJSON(d)
	}
	a.line("%s", d.Claim)
	return nil
}

type replacedDoc struct {
	V        int       `json:"v"`
	IDs      []string  `json:"ids"`      // the replacements, in the order of the answers
	Replaced int       `json:"replaced"` // entries and parts
	Settled  int       `json:"settled"`  // clusters
	Carried  int       `json:"carried"`  // clusters that have grown since
	Known    int       `json:"known"`    // answers
	Lost     []lostDoc `json:"lost"`
	Unseen   int       `json:"unseen"` // of replaced: in clusters by now, whose summaries are rendered
}

type lostDoc struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// runCommit takes texts. All of them are read before the first is looked at.
func (o *replaceOptions) runCommit(c context.Context, a *app) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	in, closeInput, err := a.input(o.commit)
	if err != nil {
		return err
	}
	defer closeInput()
	answers, err := readReplaceAnswers(in)
	if err != nil {
		return err
	}
	done, err := s.CommitReplace(c, answers, session.ReplaceOptions{Partial: o.partial})
	if err != nil {
		return err
	}
	for _, l := range done.Lost {
		a.say("ctx: replace: left out: %v", l)
	}
	if done.Unseen > 0 {
		a.say("ctx: replace: %d of %d are in clusters by now: these are rendered by their summaries", done.Unseen, done.Replaced)
	}
	if a.json {
		d := replacedDoc{1, []string{}, done.Replaced, done.Settled, done.Carried, done.Known, []lostDoc{}, done.Unseen}
		for _, id := range done.Entries {
			d.IDs = append(d.IDs, id.String())
		}
		for _, l := range done.Lost {
			d.Lost = append(d.Lost, lostDoc{l.What, l.Why})
		}
		return a.printJSON(d)
	}
	for _, id := range done.Entries {
		a.line("%v", id)
	}
	if n := done.Settled + done.Carried; n > 0 {
		a.say("ctx: replace: %s summarised anew: it shows when a session's window is cut", plural(n, "cluster", "clusters"))
	}
	if done.Known > 0 {
		a.say("ctx: replace: %s there already", plural(done.Known, "answer was", "answers were"))
	}
	return nil
}

func readReplaceAnswers(in io.Reader) ([]session.ReplaceAnswer, error) {
	lines := newLineReader(in)
	var list []session.ReplaceAnswer
	size := 0
	for number := 1; ; number++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err == nil && len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		var answer session.Answer
		if err == nil {
			answer, err = readAnswerTo(line, session.CheckReplaceClaim)
		} else if !errors.Is(err, errLongLine) {
			return nil, err
		}
		if size += len(line); err == nil && size > maxAnswers {
			err = fmt.Errorf("more than %d MiB of answers", maxAnswers>>20)
		}
		if err != nil {
			return nil, withHint(usagef("line %d: %v", number, err), "nothing was taken: `ctx help replace` shows what an answer is")
		}
		list = append(list, session.ReplaceAnswer(answer))
	}
}
