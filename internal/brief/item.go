package brief

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// maxNames is the largest number of names of functions and types in the line of a changed file.
const maxNames = 8

// maxReadNames is the same for a file that was read. With more, lists of names would displace
// words.
const maxReadNames = 5

// item is a line that may be chosen.
type item struct {
	fact  *digest.Fact // the newest fact of the line
	line  Line
	uses  []uint64 // the seqs of all facts of the line
	terms []int32
	cost  int // 0 if not yet computed
	taken bool

	heeded bool // it stands among what the user told to heed
	over   bool // it was true when it was said, and is not
	picked bool // the next prompt names it, as an item of a list

	list [2]int // the items of the short list that it is in
	name string // what stands in it for the item, "" for all of it
	lead int    // the number of items back to the one that a later sentence of it begins with

	judged, bare bool // bare is set once judged is

	held digest.Held // of a changed file
	gone bool        // the file was put back

	names          []string // of a changed or read file, newest first
	added, removed int
}

// itemsOf makes one item of all facts with the same subject: the edits of a file, the runs of a
// command, the states of a todo item, equal lines. The newest fact determines the text and the
// place, so the newest item is the last.
func itemsOf(facts []digest.Fact, root Root) []item {
	passed := passing(facts)
	at := map[string]int{}
	items := make([]item, 0, len(facts))
	held := digest.Holds{}
	for n := range facts {
		f := &facts[n]
		if held.Add(f, root.Name); f.Kind == digest.Edit && f.State == digest.Dropped {
			putBack(items, at, held, root)
		}
		if (f.Kind == digest.Edit || f.Kind == digest.Written) && f.Undone() ||
			f.Kind == digest.Question && f.State == digest.Done {
			continue
		}
		key := keyOf(f, root)
		i, ok := at[key]
		if ok && isWord(f) && items[i].line.Seq == f.Seq { // rows of one message
			key += "\x00" + f.Text
			i, ok = at[key]
		}
		if !ok {
			i = len(items)
			at[key] = i
			items = append(items, item{})
		}
		items[i].join(f, root)
		items[i].line.Section = sectionOf(f, passed)
	}
	for _, i := range at {
		items[i].held = held[root.Name(items[i].fact.Path)]
	}
	items = slices.DeleteFunc(items, func(it item) bool {
		return it.gone || it.fact.State == digest.Dropped
	})
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.line.Seq, b.line.Seq), cmp.Compare(a.line.Pos, b.line.Pos))
	})
	return items
}

// putBack marks the items of files that no longer have the edits, and forgets their keys.
func putBack(items []item, at map[string]int, held digest.Holds, root Root) {
	for key, i := range at {
		it := &items[i]
		if k := it.fact.Kind; k == digest.Edit || k == digest.Written && it.fact.Path != "" {
			if _, ok := held[root.Name(it.fact.Path)]; !ok {
				it.gone = true
				delete(at, key)
			}
		}
	}
}

// join adds f, the newest fact, to an item.
func (it *item) join(f *digest.Fact, root Root) {
	it.fact = f
	it.uses = append(it.uses, f.Seq)
	text, heading := f.Text, ""
	switch f.Kind {
	case digest.Edit:
		text = it.edited(f, root)
	case digest.Read:
		text = it.read(f, root)
	case digest.Prompt:
		text = "> " + text
	case digest.Said, digest.Answer:
		text = prose.WithoutNext(text)
		if f.Heading != "" {
			heading = root.Shorten(f.Heading + ": ")
		}
	case digest.Written:
		if f.Path != "" {
			heading = "in " + path.Base(strings.ReplaceAll(f.Path, `\`, "/")) + ": "
		}
	case digest.Todo:
		text = string(f.State) + ": " + text
	case digest.Question:
		text = "asked, without an answer: " + text
	case digest.Told, digest.Noted:
		text = noteText(f)
	}
	it.line = Line{Entry: f.Entry, Seq: f.Seq, Pos: f.Pos, Text: heading + root.Shorten(text),
		Heading: heading}
}

// edited returns the text for all edits of a file: the number of changed lines, and the names.
func (it *item) edited(f *digest.Fact, root Root) string {
	head, names := textAndNames(f)
	if names != "" {
		it.names = front(strings.Split(names, ", "), it.names)
	}
	it.added += f.Added
	it.removed += f.Removed
	verb, _, _ := strings.Cut(head, " ")
	text := verb + " " + root.Name(f.Path)
	if verb == "moved" {
		text = head
	}
	if it.added+it.removed > 0 {
		text += fmt.Sprintf(" (+%d -%d)", it.added, it.removed)
	}
	if len(it.names) > 0 {
		text += ": " + strings.Join(it.names[:min(len(it.names), maxNames)], ", ")
	}
	return text
}

// textAndNames splits the text of an edit or a read from the names at its end.
func textAndNames(f *digest.Fact) (text, names string) {
	i := strings.LastIndex(f.Text, f.Path)
	if i < 0 || f.Path == "" {
		return f.Text, ""
	}
	i += len(f.Path)
	names, _ = strings.CutPrefix(f.Text[i:], ": ")
	return f.Text[:i], names
}

// read returns the text for all reads of a file.
func (it *item) read(f *digest.Fact, root Root) string {
	_, names := textAndNames(f)
	if names != "" && !f.Undone() {
		it.names = front(strings.Split(names, ", "), it.names)
	}
	text := "read " + root.Name(f.Path)
	if f.State == digest.Failed {
		text += ": failed"
	}
	if len(it.names) > 0 {
		text += ": " + strings.Join(it.names[:min(len(it.names), maxReadNames)], ", ")
	}
	return text
}

// front returns now followed by the elements of before that now does not have.
func front(now, before []string) []string {
	isNow := func(s string) bool { return slices.Contains(now, s) }
	return slices.Concat(now, slices.DeleteFunc(slices.Clone(before), isNow))
}

func keyOf(f *digest.Fact, root Root) string {
	switch f.Kind {
	case digest.Edit, digest.Read:
		return string(f.Kind) + "\x00" + root.Name(f.Path)
	case digest.Todo, digest.Command, digest.Unmerged:
		return string(f.Kind) + "\x00" + f.Key
	case digest.Decision: // the newest answer to a question holds
		question, _, _ := strings.Cut(f.Text, " → ")
		return string(f.Kind) + "\x00" + question
	}
	text := "\x00" + strings.TrimSuffix(f.Text, ".")
	if isListed(f) && unicode.IsDigit(rune(f.Text[0])) { // another list has other items
		return fmt.Sprint(f.Seq, "\x00", f.Pos)
	}
	counts := []string{" test", " cover", " lines", " warnings", " errors"}
	if isWord(f) && prose.HasAny(text, counts) { // another number replaces what was said
		return strings.Join(strings.FieldsFunc(text, unicode.IsDigit), "#")
	}
	return text
}

// passing returns the keys of acts of which nothing is failing: the newest run of a check passed,
// or the act is no check, so that its failure was a slip or an answer. What did not build does,
// once tests run or another check passes.
func passing(facts []digest.Fact) map[string]bool {
	passed, builds := map[string]bool{}, map[string]bool{}
	for i := range facts {
		switch f := &facts[i]; f.Kind {
		case digest.Command:
			if f.Ran() {
				passed[f.Key] = f.State == digest.Passed || !f.Checks()
			}
			if f.Checks() && (f.Test || f.State == digest.Passed) {
				maps.Copy(passed, builds)
				clear(builds)
			}
			if f.Builds() {
				builds[f.Key] = true
			}
		case digest.Edit, digest.Read, digest.Search, digest.Act, digest.Commit:
			passed[f.ActKey()] = true
		}
	}
	return passed
}

func sectionOf(f *digest.Fact, passed map[string]bool) Section {
	switch f.Kind {
	case digest.Decision:
		return Decided
	case digest.Edit:
		return Changed
	case digest.Todo:
		return Todos
	case digest.Told, digest.Noted:
		return ofNote(f)
	case digest.Recap:
		return Recap
	case digest.Output, digest.Returned:
		return Tool
	case digest.Failure:
		if !passed[f.Key] {
			return Failing
		}
		return Tool
	case digest.Command:
		if f.State == digest.Failed && f.Checks() {
			return Failing
		}
	}
	return Story
}
