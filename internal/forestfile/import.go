package forestfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Imported reports an Import.
type Imported struct {
	Session   string `json:"session"`
	Messages  int    `json:"messages"`  // new in this run
	Known     int    `json:"known"`     // there already
	Amended   int    `json:"amended"`   // newer versions of known messages
	Joined    int    `json:"joined"`    // messages that this run added to clusters
	Opened    int    `json:"opened"`    // clusters that this run created
	Summaries int    `json:"summaries"` // summaries that this run accepted
	Evicted   int    `json:"evicted"`   // clusters that this run evicted
	// Summaries and tombstones that are empty or do not match the cluster any more
	Lost     int                `json:"lost"`
	Redacted []sanitize.Finding `json:"-"`
}

// unionFindAgent is the agent in the sources of imported messages.
const unionFindAgent = "union-find-json"

// Import imports a forest from one file into the session as, or, if as is "", into a
// session named after the file's store. Its messages are appended. Each joins the cluster that the
// file assigns, whatever its content; summaries are accepted under the names of their summarizers,
// and tombstones are evicted. The same file, or a longer one, can be imported again, also after an
// interruption: known messages are not added twice, members stay in their clusters, and no summary
// of the store is replaced. It returns ErrRefused if the session has other messages that have not
// graduated.
func (s *Writer) Import(
	ctx context.Context, r io.Reader, as string,
) (Imported, error) {
	doc, err := Decode(r)
	if err != nil {
		return Imported{}, err
	}
	if as == "" {
		as = "union-find-" + doc.Store[:8]
	}
	im := &importer{Writer: s, doc: doc, out: Imported{Session: as}}
	err = im.run(ctx)
	return im.out, err
}

// batch is the largest number of messages or objects that one operation records.
const batch = 4096

// importer imports one file.
type importer struct {
	*Writer
	doc  *Document
	out  Imported
	ids  []format.ID // the entries of the nodes
	seen format.ID   // a tip up to which every message that has not graduated is of this file
	sums []format.ID // the ids of the file's summaries; zero for none
	raws []format.Raw

	offset []int                // of a node among its cluster's members in the file
	index  map[format.ID]uint64 // of an entry among its cluster's members in the store
	listed map[uint64]bool      // the clusters whose entries are in places
}

func (im *importer) run(ctx context.Context) error {
	if len(im.doc.Nodes) == 0 {
		return nil
	}
	free := im.checkOthers(nil)
	if free != nil && !errors.Is(free, history.ErrRefused) {
		return free
	}
	if free == nil {
		if err := im.append(ctx); err != nil {
			return err
		}
		if err := im.checkOthers(nil); err != nil {
			return err
		}
	} else if all, err := im.allKnown(); err != nil || !all {
		return cmp.Or(err, free)
	}
	if err := im.summaries(); err != nil {
		return err
	}
	for len(im.raws) > 0 {
		n := min(len(im.raws), batch)
		if err := im.store.Put(ctx, nil, im.raws[:n]...); err != nil {
			return err
		}
		im.raws = im.raws[n:]
	}
	return im.Locked(ctx, im.apply)
}

// checkOthers checks that every message of the session that has not graduated is of this file.
// Otherwise the file's messages could not graduate, because a frontier skips nothing. t is nil if
// the lock is not held.
func (im *importer) checkOthers(t *Tx) error {
	view, err := im.Refs.Read()
	if t != nil {
		view, err = t.store.View, nil
	}
	if err != nil {
		return err
	}
	v := view.Get(history.RefName(im.out.Session, history.MainBranch))
	if !v.Exists() {
		return nil
	}
	for e, err := range im.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return err
		}
		if e.Kind == format.KindMessage && e.Seq <= v.Frontier {
			break
		}
		if e.Kind == format.KindMessage &&
			(e.Source == nil || e.Source.Agent != unionFindAgent ||
				e.Source.Session != im.doc.Store) {
			return fmt.Errorf(
				"%w: session %q has messages of its own that have not graduated, such as %v",
				history.ErrRefused, history.Clip(im.out.Session), e.ID)
		}
		if e.ID == im.seen {
			break
		}
	}
	im.seen = v.ID
	return nil
}

// allKnown reports whether every node is in the session already, and sets their entries.
func (im *importer) allKnown() (bool, error) {
	view, err := im.Refs.Read()
	if err != nil {
		return false, err
	}
	past := im.History(view.Get(history.RefName(im.out.Session, history.MainBranch)).ID)
	for i := range im.doc.Nodes {
		found, err := im.Imported(view, unionFindAgent, im.doc.Store,
			im.doc.Nodes[i].Stable.String())
		if err != nil {
			return false, err
		}
		for _, at := range found {
			in, err := past.Has(at.ID)
			if err != nil {
				return false, err
			}
			if in && at.Kind == format.KindMessage {
				im.ids = append(im.ids, at.ID)
				break
			}
		}
		if len(im.ids) == i {
			return false, nil
		}
	}
	im.out.Known = len(im.ids)
	return true, nil
}

// append adds the nodes to the session as messages.
func (im *importer) append(ctx context.Context) error {
	for start := 0; start < len(im.doc.Nodes); start += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := im.doc.Nodes[start:min(start+batch, len(im.doc.Nodes))]
		list := make([]conversation.Message, len(part))
		for i := range part {
			list[i] = im.message(&part[i])
		}
		done, found, err := im.conversation.Append(ctx, im.out.Session, history.MainBranch, list,
			conversation.AppendOptions{Verb: refs.VerbImport, Orphan: true, NoGraduation: true})
		if err != nil {
			return err
		}
		for _, a := range done {
			im.ids = append(im.ids, a.ID)
			switch {
			case a.Known:
				im.out.Known++
			case a.Amended:
				im.out.Amended++
			default:
				im.out.Messages++
			}
		}
		im.out.Redacted = sanitize.AddFindings(im.out.Redacted, found)
	}
	return nil
}

func (im *importer) message(n *Node) conversation.Message {
	return conversation.Message{
		Role: n.Role, Author: n.Author, Text: n.Said(), Parts: n.Parts, Time: n.Time.Time,
		Tokens: n.Tokens, Invocation: n.Invocation,
		Calls:   slices.Concat([]format.Call{}, n.Calls),
		Results: slices.Concat([]string{}, n.Results),
		Source: &conversation.Source{Agent: unionFindAgent, Session: im.doc.Store,
			Message: n.Stable.String()},
	}
}

// entries returns the entries of nodes.
func (im *importer) entries(nodes []int) []format.ID {
	return lists.Map(nodes, func(n int) format.ID { return im.ids[n] })
}

// summaries writes the file's summaries as objects. A summary names its inputs: the earlier
// summaries that exist, and the members that those do not stand for.
func (im *importer) summaries() error {
	im.offset = make([]int, len(im.doc.Nodes))
	for _, c := range im.doc.Clusters {
		for at, n := range c.Members {
			im.offset[n] = at
		}
	}
	im.sums = make([]format.ID, len(im.doc.Lineage))
	generation := make([]uint64, len(im.doc.Lineage))
	forgotten, err := im.ForgottenWords()
	if err != nil {
		return err
	}
	for i := range im.doc.Lineage {
		from := &im.doc.Lineage[i]
		text, err := im.cleanText(from.Said())
		if err != nil {
			return err
		}
		if from.Gone != "" || strings.TrimSpace(text) == "" || forgotten.InAnswer(text) {
			continue
		}
		members := im.entries(from.Members)
		sum := &format.Summary{Generation: 1, Interim: from.Interim, Summarizer: from.Summarizer,
			Version: from.Version, Prompt: from.Prompt}
		if sum.Node, err = im.node(members); err != nil {
			return err
		}
		raw, at := []format.ID(nil), 0
		for _, p := range im.byFirst(from.Parents) {
			part := im.doc.Lineage[p].Members
			start := im.offset[part[0]] - im.offset[from.Members[0]]
			if im.sums[p].IsZero() || start < at {
				continue
			}
			raw, at = append(raw, members[at:start]...), start+len(part)
			sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: im.sums[p]})
			sum.Generation = max(sum.Generation, generation[p]+1)
		}
		if raw = append(raw, members[at:]...); len(raw) > 0 {
			node, err := im.node(raw)
			if err != nil {
				return err
			}
			sum.Inputs = append(sum.Inputs, format.Input{ID: node})
		}
		object, err := im.SealNew([]byte(text),
			format.MediaText, func(b format.Body) ([]byte, error) {
				sum.Body = b
				return sum.Encode()
			})
		if err != nil {
			return err
		}
		im.sums[i], generation[i] = object.ID(), sum.Generation
		im.raws = append(im.raws, object)
	}
	return nil
}

// byFirst returns summaries of the lineage, sorted by the first member that they stand for.
func (im *importer) byFirst(ids []format.ID) []int {
	list := lists.Map(ids, im.doc.SummaryAt)
	first := func(p int) int { return im.offset[im.doc.Lineage[p].Members[0]] }
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(first(a), first(b)) })
	return list
}

func (im *importer) cleanText(text string) (string, error) {
	clean, found, err := sanitize.Text([]byte(text))
	if err != nil {
		return "",
			fmt.Errorf("%w: cannot sanitize a summary, so it is not stored: %w",
				history.ErrInput, err)
	}
	im.out.Redacted = sanitize.AddFindings(im.out.Redacted, found)
	return string(clean), nil
}

func (im *importer) node(run []format.ID) (format.ID, error) {
	raws, id, err := clusters.NodeObjects(run)
	im.raws = append(im.raws, raws...)
	return id, err
}
