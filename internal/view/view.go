// Package view turns what a branch renders into bytes: text for people, one JSON document for
// programs, or the messages of a request to a model provider. It is pure: values go in, bytes come
// out, and the bytes are the same on every platform. It reads no store and no clock.
//
// A rendering has a prefix and a suffix. The prefix is the initial block of the epoch, and one
// block that stands for everything up to the pin of the branch: clusters with their summaries, then
// tombstones. It depends only on the epoch, the pin, the format, the budget and the expanded
// clusters, so that the prompt cache of a provider stays valid while the branch grows. Only the
// block of an agent's work under a budget knows the whole branch, if not all of it is printed. The
// suffix is the tail: every message after the pin, word for word, and between them the updates of
// the epoch. Text in the block of clusters is a quotation and is escaped. The tail is the
// conversation itself and is not escaped. An update is escaped, so that nothing in it can end it.
//
// Begin with Render. Input (input.go) goes through these stages: sections.go makes a section of
// each cluster, choose*.go fills the block within its room, tail*.go selects messages, and
// print*.go knows the formats. items.go, pairs.go and turns.go bring messages of all providers into
// one form.
package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Format names what Render writes.
type Format string

// The formats. Gemini, OpenAI and Anthropic are request bodies without the name of a model: roles
// alternate, a user turn comes first, and a result follows every tool call. They may end in a model
// turn; the caller then appends the prompt.
const (
	Text      Format = "text"
	JSON      Format = "json"
	Gemini    Format = "gemini"
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
)

// ParseFormat returns the format with a name, or an error for an unknown name.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case Text, JSON, Gemini, OpenAI, Anthropic:
		return f, nil
	}
	return "", fmt.Errorf("unknown format: %.40q", s)
}

// Options say how to render.
type Options struct {
	// Budget is the largest number of tokens of the output, in any format, by summarize.Tokens; 0
	// means no limit. The prefix gets at most seven eighths, or three quarters if it consists of
	// facts about an agent's work, and the tail gets the rest. Output longer than 100,000 UTF-16
	// units is held to the stricter estimate of short texts, so that the cost of the whole is the
	// sum of its parts.
	Budget int
	// Expand holds, by cluster, the messages to print in place of its summary, escaped because they
	// are in the block. A tombstone named here is printed as a cluster. An id that is neither comes
	// after all clusters.
	Expand map[format.ID][]Message
	Format Format // Text when empty
}

// Reads returns how many bytes of text of all ranked lists together are enough for a rendering.
func (o Options) Reads() int {
	if o.Budget == 0 {
		return 2 * perToken * maxSentenceTokens
	}
	return perToken * poolSize(budgetRoom(o.Budget))
}

// Output is what Render made.
type Output struct {
	Bytes   []byte // ends in a newline, or is empty
	Tokens  int    // summarize.Tokens of Bytes
	Prefix  int    // the length of the prefix
	Dropped []Drop // what is missing or shortened; nil if nothing is
}

// Render renders in. The output never exceeds o.Budget. If not even an empty document fits, Bytes
// is empty and Dropped names everything. Render returns an error for a negative budget or an
// unknown format, and never because of a message: it prints parts that it cannot read as text.
func Render(in Input, o Options) (Output, error) {
	o.Format = cmp.Or(o.Format, Text)
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return Output{}, err
	}
	if o.Budget < 0 {
		return Output{}, errors.New("budget is negative")
	}
	budget := o.Budget
	if in.Growth != nil {
		o.Budget -= o.Budget / 2
	}
	var drops dropList
	if !epochFits(in, o) {
		drops.add(DropEpoch, 1, in.EpochID)
		in.Epoch = nil
	}
	p := newPrinter(in, o)
	all, grown := readAll(in.Tail), []messageItems(nil)
	if in.Growth != nil { // a result that grows may answer a call of the tail
		both := readAll(slices.Concat(in.Tail, in.Growth.Messages))
		grown = in.grown(p, both[len(in.Tail):], budget)
	}
	total := budgetRoom(o.Budget)
	acts := in.Work != nil && total != endless && p.describesCalls()
	whole := all
	f := fitter{p: p, first: matched(in), short: brief.IsShort(o.Budget), work: in.Work}
	sizes := actSizes
	if f.short {
		sizes = shortActSizes
	}
	if acts {
		if f.short {
			whole = slices.DeleteFunc(whole, messageItems.isForClient)
		}
		all = in.Work.compact(whole, total/tailPart, sizes)
	}
	clusters, tombstones := arrange(in, o)
	worst := worstTally(tallyOf(drops))
	if !total.holds(cost(p.base()) + cost(p.suffix(suffix{bare: true, drops: worst}))) {
		return Output{Dropped: merge(drops, nothingPrinted(clusters, tombstones, all))}, nil
	}
	most := prefixRoom(p, o.Budget, in.prefixShare(), worst)
	how := brief.Options{Short: f.short, InOrder: !f.short}
	if in.Work != nil && total != endless {
		if f.short && len(in.Matches) == 0 { // else the answers come first
			most = min(most, total-f.shortRoom(all, total))
		}
		how.Printed = f.printed(all, total, most)
		in.Work = in.Work.withTail(how.Printed, f.short)
	}
	f.work = in.Work
	if len(in.Matches) > 0 && p.digests() {
		f.first = nil
		if !acts { // else the tail is shortened, and may lack the answer
			in.Matches = without(in.Matches, f.plan(all, total, most))
		}
	}
	block, unchosen := choose(clusters, tombstones, in, p, most, how)
	prefix := p.base()
	if block != nil {
		prefix = p.prefix(block)
		if how.Printed != nil { // room that the block leaves prints more of the tail
			block.leaveOut(f.printed(all, total, room(cost(prefix))))
			prefix = p.prefix(block)
		}
	}
	drops = merge(drops, unchosen)
	if acts {
		all = in.Work.compact(whole, left(total, prefix), sizes)
		tail := len(all)
		all = in.Work.withEarlier(all, left(total, prefix), sizes[len(sizes)-1:])
		if block != nil {
			block.leaveOut(idsOf(all[:len(all)-tail]))
			prefix = p.prefix(block)
		}
	}
	if in.Unread > 0 {
		drops = merge(drops, []Drop{{Kind: DropMessage, Count: in.Unread}}) // their ids are unknown
	}
	f.r, f.quotes = suffix{prefix: prefix, bare: block == nil, drops: tallyOf(drops)},
		block.answers()
	kept, untold := f.tail(all, total)
	if how.Printed != nil && block != nil && tallyOf(untold).Shortened == 0 {
		block.leaveOut(idsOf(kept))
		prefix = p.prefix(block)
	}
	drops, kept = merge(drops, untold), append(kept, grown...)
	body := p.suffix(suffix{prefix: prefix, bare: block == nil, tail: kept, drops: tallyOf(drops)})
	out := Output{Bytes: []byte(prefix + body), Prefix: len(prefix), Dropped: drops}
	out.Tokens = summarize.Tokens(string(out.Bytes))
	return out, nil
}

func idsOf(messages []messageItems) map[format.ID]bool {
	return lists.Set(lists.Map(messages, func(m messageItems) format.ID { return m.ID }))
}

// left returns the rest of a room after a text is printed.
func left(r room, text string) room { return r - room(cost(text)) }

// epochFits reports whether the initial block fits into the room of the prefix. It is printed whole
// or not at all, because half of it would mislead the model.
func epochFits(in Input, o Options) bool {
	if len(in.Epoch) == 0 || o.Budget == 0 {
		return true
	}
	p := newPrinter(in, o)
	return prefixRoom(p, o.Budget, in.prefixShare(), worstTally(tally{})).holds(cost(p.base()))
}

// without returns the matches that are not among ids.
func without(matches []Match, ids map[format.ID]bool) []Match {
	return slices.DeleteFunc(slices.Clone(matches), func(m Match) bool { return ids[m.ID] })
}
