package brief

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// maxNames is how many names of functions and types the line of a changed file gives.
const maxNames = 8

// item is a line that may be chosen.
type item struct {
	fact  digest.Fact // the newest that the line stands for
	line  Line
	uses  []uint64 // the seqs of all facts that it stands for
	terms []int32
	cost  int // 0 where nobody has asked
	taken bool

	names          []string // of a changed file, newest first
	added, removed int
}

// itemsOf makes items of facts, one for all facts that say the same: the edits of a file, the runs of
// a command, the states of a todo item, equal lines. The newest gives the text and the place.
func itemsOf(facts []digest.Fact, root string) []item {
	passed := passing(facts)
	at := map[string]int{}
	items := make([]item, 0, len(facts))
	for _, f := range facts {
		if f.Kind == digest.Edit && f.State == digest.Failed {
			continue
		}
		key := keyOf(f)
		i, ok := at[key]
		if !ok {
			i = len(items)
			at[key] = i
			items = append(items, item{})
		}
		items[i].join(f, root)
		items[i].line.Section = sectionOf(f, passed)
	}
	return items
}

// join makes f the newest fact of an item.
func (it *item) join(f digest.Fact, root string) {
	it.fact = f
	it.uses = append(it.uses, f.Seq)
	text := f.Text
	switch f.Kind {
	case digest.Edit:
		text = it.edited(f, root)
	case digest.Read:
		text = it.read(f, root)
	case digest.Prompt:
		text = "> " + text
	case digest.Todo:
		text = string(f.State) + ": " + text
	}
	if root != "" {
		text = strings.ReplaceAll(text, root+"/", "")
	}
	it.line = Line{Entry: f.Entry, Seq: f.Seq, Pos: f.Pos, Text: text}
}

// edited words all edits of a file as one: how much was changed, and which names.
func (it *item) edited(f digest.Fact, root string) string {
	head, names, _ := strings.Cut(f.Text, ": ")
	if names != "" {
		it.names = front(strings.Split(names, ", "), it.names)
	}
	it.added += f.Added
	it.removed += f.Removed
	verb, _, _ := strings.Cut(head, " ")
	text := verb + " " + relative(f.Path, root)
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

// read words all reads of a file as one.
func (it *item) read(f digest.Fact, root string) string {
	_, names, _ := strings.Cut(f.Text, ": ")
	if names != "" && f.State != digest.Failed {
		it.names = front(strings.Split(names, ", "), it.names)
	}
	text := "read " + relative(f.Path, root)
	if f.State == digest.Failed {
		text += ": failed"
	}
	if len(it.names) > 0 {
		text += ": " + strings.Join(it.names[:min(len(it.names), maxReadNames)], ", ")
	}
	return text
}

// maxReadNames is how many names the line of a file that was read gives.
const maxReadNames = 8

// front returns now, and after it those of before that it lacks.
func front(now, before []string) []string {
	out := slices.Clone(now)
	for _, s := range before {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func keyOf(f digest.Fact) string {
	switch f.Kind {
	case digest.Edit, digest.Read:
		return string(f.Kind) + "\x00" + f.Path
	case digest.Todo, digest.Command:
		return string(f.Kind) + "\x00" + f.Key
	}
	return "\x00" + f.Text
}

// passing returns the keys of commands whose newest run passed.
func passing(facts []digest.Fact) map[string]bool {
	passed := map[string]bool{}
	for _, f := range facts {
		if f.Kind == digest.Command && f.State != "" {
			passed[f.Key] = f.State == digest.Passed
		}
	}
	return passed
}

func sectionOf(f digest.Fact, passed map[string]bool) Section {
	switch f.Kind {
	case digest.Decision, digest.Question:
		return Decided
	case digest.Edit:
		return Changed
	case digest.Todo:
		return Todos
	case digest.Failure:
		if !passed[f.Key] {
			return Failing
		}
	case digest.Command:
		if f.State == digest.Failed {
			return Failing
		}
	}
	return Story
}

// Root returns the directory that most files lie in: the deepest that holds four fifths of the
// absolute paths; "" where there is none.
func Root(facts []digest.Fact) string {
	count := map[string]int{}
	total := 0
	for _, f := range facts {
		if !path.IsAbs(f.Path) {
			continue
		}
		total++
		for dir := path.Dir(f.Path); len(dir) > 1; dir = path.Dir(dir) {
			count[dir]++
		}
	}
	best := ""
	for dir, n := range count {
		if 5*n >= 4*total && (len(dir) > len(best) || len(dir) == len(best) && dir < best) {
			best = dir
		}
	}
	return best
}

func relative(p, root string) string {
	if rest, ok := strings.CutPrefix(p, root+"/"); ok && root != "" {
		return rest
	}
	return p
}
