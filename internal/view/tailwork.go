package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/pasted"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// tailPart is the divisor of the budget that the newest messages may take from a prefix made of
// facts.
const tailPart = 5

// actSizes are the sizes in bytes, largest first, to which results and arguments of the newest
// messages are cut until they fit.
var actSizes = []actSize{
	{1500, 1000}, {1000, 800}, {600, 600}, {300, 500}, {0, 400},
}

type actSize struct{ result, argument int }

// shortActSizes is actSizes in a short rendering: what was done and how it ended, not what was
// written and read.
var shortActSizes = []actSize{{0, 0}}

// longestAnnouncement is the number of bytes of the longest text that only announces a call.
const longestAnnouncement = 200

// compact returns messages with a description in place of each call, and with short results. It
// leaves out messages without any text then, and those that only announce what the model does. It
// uses the largest of the sizes that fit into the room.
func (w *Work) compact(all []messageItems, r room, sizes []actSize) []messageItems {
	root, said := w.Root.Of(w.Whole), map[string]bool{}
	facts, over := w.factsOf(all, root)
	all = withoutRuns(all, facts, over)
	newest := true              // the newest words of the model say what is at hand
	edited := map[string]bool{} // files: to have read them before says nothing more
	for i, m := range slices.Backward(all) {
		list := facts[m.ID]
		for _, f := range list {
			edited[f.Path] = edited[f.Path] || f.Kind == digest.Edit
		}
		if len(list) > 0 && !slices.ContainsFunc(list, func(f digest.Fact) bool {
			return f.Kind != digest.Read || !edited[f.Path]
		}) {
			m.items = slices.DeleteFunc(slices.Clone(m.items), func(it item) bool {
				said[it.id] = said[it.id] || it.kind == callItem
				return it.kind == callItem
			})
			all[i] = m
		}
		if saysAll(facts[m.ID]) {
			for _, it := range m.items {
				said[it.id] = it.kind == callItem
			}
		}
		if m.Role != "model" || m.words() == "" {
			continue
		}
		if all[i] = m.without(over[m.ID]); !newest && m.announces(facts[m.ID]) {
			all[i].items = nil
		}
		newest = false
	}
	var out []messageItems
	for _, size := range sizes {
		out = out[:0]
		total := 0
		for _, m := range all {
			if m = m.describeCalls(facts[m.ID], root, size.result, size.argument,
				said); len(m.items) > 0 {
				out = append(out, m)
				total += cost(messageText(m, true))
			}
		}
		if r.holds(total) {
			break
		}
	}
	// The result of a call stands right behind it, not behind the calls that were made beside it
	slices.SortStableFunc(out, func(a, b messageItems) int { return cmp.Compare(a.start, b.start) })
	for i := range out {
		out[i].start = i
	}
	return out
}

// factsByMessage are in order.
type factsByMessage = map[format.ID][]digest.Fact

// factsOf returns the facts of messages, which are in the order of the branch, and those that later
// ones overrule.
func (w *Work) factsOf(all []messageItems, root brief.Root) (facts, over factsByMessage) {
	first := ^uint64(0)
	for i := range all {
		if !all[i].Update {
			first = min(first, all[i].Seq)
		}
	}
	begin, _ := slices.BinarySearchFunc(w.Whole, first,
		func(f digest.Fact, seq uint64) int { return cmp.Compare(f.Seq, seq) })
	facts, over = factsByMessage{}, factsByMessage{}
	for _, f := range w.Whole[begin:] {
		facts[f.Entry] = append(facts[f.Entry], f)
	}
	for _, f := range brief.Overruled(w.Whole[begin:], root) {
		over[f.Entry] = append(over[f.Entry], f)
	}
	return facts, over
}

// without returns a message of the model without what later ones overrule.
func (m messageItems) without(over []digest.Fact) messageItems {
	items := slices.Clone(m.items)
	for i, it := range items {
		if it.kind != textItem || m.Role != "model" {
			continue
		}
		var kept strings.Builder
		for line := range strings.Lines(it.text) {
			left, plain := line, prose.WithoutBold(line)
			if strings.HasPrefix(line, "|") {
				kept.WriteString(line) // a table says nothing without one of its rows
				continue
			}
			for _, f := range over {
				if before, after, ok := strings.Cut(plain, f.Text); ok {
					plain = before + strings.TrimLeft(after, " ")
					left = plain
				}
			}
			if left == line || prose.HasWord(left) {
				kept.WriteString(left)
			}
		}
		if kept.Len() < len(it.text) {
			items[i], m.cut = textOf(kept.String()), true
		}
	}
	m.items = items
	return m
}

// withoutRuns returns messages without the runs that later ones overrule, and their results.
func withoutRuns(all []messageItems, facts, over factsByMessage) []messageItems {
	gone := map[string]bool{}
	all = slices.Clone(all)
	for i, m := range all {
		if n := len(facts[m.ID]); n > 0 && n == len(over[m.ID]) {
			for _, it := range m.items {
				gone[it.id] = it.kind == callItem
			}
		}
		all[i].items = slices.DeleteFunc(slices.Clone(m.items),
			func(it item) bool { return it.id != "" && gone[it.id] })
	}
	return all
}

// words returns the texts of a message without calls and results.
func (m messageItems) words() string {
	var b strings.Builder
	for _, it := range m.items {
		if it.kind == textItem {
			b.WriteString(it.text + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// announces reports whether a message of the model has only sentences that tell nothing beside its
// calls.
func (m messageItems) announces(facts []digest.Fact) bool {
	if m.Role != "model" || m.Update || m.Gone || len(m.Replaced) > 0 || m.isReplacement() {
		return false
	}
	size := 0
	for _, it := range m.items {
		if size += len(it.text); it.kind != textItem || size > longestAnnouncement {
			return false
		}
	}
	return !slices.ContainsFunc(facts, func(f digest.Fact) bool { return !prose.IsBare(f.Text) })
}

// isForClient reports whether a message is only a command to the client, or a note of the client.
func (m messageItems) isForClient() bool {
	if m.Role != "user" || m.Parts != nil || m.Update || m.Gone || m.isReplacement() {
		return false
	}
	return digest.IsForClient(m.Text)
}

// withTail returns work whose facts are also those of the tail, so that the newest state is known.
// If the whole tail is printed, and the rendering is not short, there is nothing to add: the facts
// then change only when the pin does, except for those about a state that the tail tells anew.
func (w *Work) withTail(printed map[format.ID]bool, short bool) *Work {
	hidden := slices.ContainsFunc(w.Tail, func(f digest.Fact) bool { return !printed[f.Entry] })
	all := *w
	if all.Facts = w.Whole; !hidden && !short {
		told := lists.Set(lists.Map(w.Tail, func(f digest.Fact) digest.Kind { return stateOf(&f) }))
		gone := map[string]bool{}
		all.Facts = slices.DeleteFunc(slices.Clone(w.Facts), func(f digest.Fact) bool {
			if kind := stateOf(&f); kind != "" && told[kind] {
				gone[f.Key] = true
				return true
			}
			return f.Kind == digest.Failure && gone[f.Key] // whose run it was is not there
		})
	}
	return &all
}

// stateOf returns the kind of a fact of which the newest alone holds, "" for any other.
func stateOf(f *digest.Fact) digest.Kind {
	if f.Kind == digest.Branch || f.Kind == digest.Todo || f.Checks() {
		return f.Kind
	}
	return ""
}

// wholeTurns is the number of the newest turns that are printed message by message.
const wholeTurns = 2

// newestTurns returns the index of the message with which the newest turns begin, and the newest
// that changed something: lines tell the others.
func (w *Work) newestTurns(all []messageItems) int {
	if w == nil {
		return 0
	}
	changed := uint64(0)
	for i := range w.Whole {
		if w.Whole[i].Kind == digest.Edit {
			changed = w.Whole[i].Seq
		}
	}
	turns := 0
	for i, m := range slices.Backward(all) {
		if m.Role == "user" && !m.Update {
			if turns++; turns >= wholeTurns && m.Seq <= changed {
				return i
			}
		}
	}
	return 0
}

// withEarlier adds the newest messages before the tail that fit.
func (w *Work) withEarlier(tail []messageItems, r room, sizes []actSize) []messageItems {
	for _, m := range tail {
		r -= room(cost(messageText(m, true)))
	}
	earlier := w.compact(readAll(w.Earlier), r, sizes)
	first := len(earlier)
	for first > 0 {
		n := cost(messageText(earlier[first-1], true))
		if !r.holds(n) {
			break
		}
		r -= room(n)
		if first--; earlier[first].Role == "user" {
			break
		}
	}
	for first < len(earlier) && earlier[first].Role == "tool" {
		first++ // its call is not there
	}
	all := slices.Concat(earlier[first:], tail)
	for i := range all {
		all[i].start = i
	}
	return all
}

// saysAll reports whether facts of a message with calls are changes of files or lists, files that
// were read or searched and can be again, and checks that passed, alone. A result without facts
// says nothing beside them: how a call failed is a fact.
func saysAll(facts []digest.Fact) bool {
	return len(facts) > 0 && !slices.ContainsFunc(facts, func(f digest.Fact) bool {
		return f.Kind != digest.Edit && f.Kind != digest.Written && f.Kind != digest.Todo &&
			f.Kind != digest.Read && f.Kind != digest.Search &&
			!((f.Checks() || f.Kind == digest.Commit) && f.State == digest.Passed)
	})
}

// describeCalls returns a message with its calls and results described in text. said are the ids of
// calls whose results say nothing more.
func (m messageItems) describeCalls(
	facts []digest.Fact, root brief.Root, result, argument int, said map[string]bool,
) messageItems {
	if m.Update || len(m.Replaced) > 0 || m.isReplacement() {
		return m
	}
	m.inWords = true
	var items []item
	for _, it := range m.items {
		switch it.kind {
		case callItem:
			if text := callText(it, facts, root, argument); text != "" {
				items = append(items, textOf(text))
			}
		case resultItem:
			most := result
			if said[it.id] {
				most = 0
			}
			if text := resultText(it, facts, most); text != "" {
				items = append(items, textOf(text))
			}
		default:
			if m.Role == "user" && !digest.IsRecap(m.Text) {
				said := cmp.Or(digest.Typed(it.text), it.text)
				if folded := pasted.Fold(said); folded != it.text {
					it, m.cut = textOf(folded), true
				}
			}
			if strings.TrimSpace(it.text) != "" {
				items = append(items, it)
			}
		}
	}
	m.cut = m.cut || len(items) < len(m.items)
	m.items = items
	return m
}

// callText describes a call, with up to most bytes of what it wrote.
func callText(it item, facts []digest.Fact, root brief.Root, most int) string {
	var lines []string
	for _, f := range facts {
		switch f.Kind {
		case digest.Command:
			lines = append(lines, f.Ended())
		case digest.Edit, digest.Read, digest.Search, digest.Commit, digest.Act, digest.Question:
			lines = append(lines, f.Text)
		case digest.Todo:
			lines = append(lines, string(f.State)+": "+f.Text)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if passed := passedOn(it, facts, lines, most); passed != "" && most > 0 {
		if whole := uncut(lines[0], passed, most); len(lines) == 1 && whole != "" {
			lines[0] = whole
		} else {
			lines = append(lines, prose.Cut(passed, most))
		}
	}
	for i := range lines {
		lines[i] = root.Shorten(lines[i])
	}
	return strings.Join(slices.Compact(lines), "\n")
}

// maxDone is the length in bytes of the longest words that say what was done with a text.
const maxDone = 24

// uncut returns a line that was cut with so many bytes of the text which it begins to tell, or ""
// if it does not.
func uncut(line, text string, most int) string {
	told, rest, cut := strings.Cut(line, "…")
	told = strings.TrimRight(told, " ")
	for i := range min(len(told), maxDone) {
		if cut && i > 0 && told[i-1] == ' ' && strings.HasPrefix(oneLine(text), told[i:]) {
			return told[:i] + prose.Cut(text, most) + rest
		}
	}
	return ""
}

// passedOn returns the text that a call passed on if the lines do not contain all of it: what an
// edit changed or wrote, a script that was cut, the prompt of a subagent. The line of a command, a
// search or a file that was read lacks only what shortens the output, and that of a commit what
// made it.
func passedOn(it item, facts []digest.Fact, lines []string, most int) string {
	edits, whole := false, true
	for _, f := range facts {
		edits = edits || f.Kind == digest.Edit
		whole = whole && !strings.Contains(f.Text, "…") && (f.Kind == digest.Read ||
			f.Kind == digest.Search || f.Kind == digest.Command || f.Kind == digest.Commit)
	}
	if change := changeText(it); edits && change != "" && len(change) <= most {
		return change
	}
	passed := squeezed(digest.TextOf(it.args))
	if edits || !whole && len(passed) > len(strings.Join(lines, " ")) {
		return passed
	}
	return ""
}

// changeText returns the lines that an edit takes away and adds, with their marks.
func changeText(it item) string {
	var lines []string
	for line := range strings.Lines(digest.Change(it.args)) {
		if text := oneLine(line); strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			if text != "+" && text != "-" {
				lines = append(lines, text)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// resultText returns the facts of a result, or the beginning of its text without numbered lines. If
// most is 0, what a tool printed is left out, unless it failed.
func resultText(it item, facts []digest.Fact, most int) string {
	var lines []string
	for _, f := range facts {
		switch f.Kind {
		case digest.Failure, digest.Decision, digest.Branch:
			lines = append(lines, f.Text)
		case digest.Output:
			if most > 0 {
				lines = append(lines, f.Text)
			}
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	if most == 0 {
		return ""
	}
	return prose.Cut(digest.Plain(withNotes(it)), most)
}

// squeezed returns the lines of a text with single spaces, without those that are empty.
func squeezed(s string) string {
	var lines []string
	for l := range strings.Lines(s) {
		if l = oneLine(l); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// cutLine cuts a text to most bytes and makes it one line.
func cutLine(s string, most int) string { return prose.Cut(oneLine(s), most) }
