package digest

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// TakenBack is the key of the fact that a file is as before a commit, which was undone.
const TakenBack = "taken back"

// commits returns the indexes of the commits that stand, the oldest first, but for one.
func (d *Digester) commits(but int) (list []int) {
	for i := range d.Made {
		f := &d.Made[i]
		switch {
		case f.Kind != Commit || f.IsRequest() || i == but:
		case f.State == Passed:
			list = append(list, i)
		case f.State == Dropped:
			for n, at := range slices.Backward(list) {
				if d.Made[at].Text == f.Text {
					list = slices.Delete(list, n, n+1)
					break
				}
			}
		}
	}
	return list
}

// amended reads what git commit --amend did: the new commit stands in the place of the one before.
func (d *Digester) amended(made int) {
	list := d.commits(made)
	if made < 0 || len(list) == 0 || d.Made[made].State != Passed {
		return
	}
	old, again := d.Made[list[len(list)-1]], d.Made[made]
	if titleOf(again.Text, "committed") == amending { // git was told to print nothing
		again.Text, _, _ = strings.Cut(old.Text, " (")
	}
	d.Made[made].State = ""
	d.Made[made].Text = again.Text
	old.State = Dropped
	d.add(old)
	d.add(again)
}

// reset reads what git reset does: it takes commits back, and with --hard the files, too.
func (d *Digester) reset(words []string) {
	hard := slices.Contains(words, "--hard")
	list := d.commits(-1)
	kept := len(list)
	for _, w := range words {
		if w == "--" {
			break
		}
		if n, ok := d.before(list, w); ok {
			kept = n
		}
	}
	gone := list[kept:]
	for _, i := range slices.Backward(gone) {
		f := d.Made[i]
		f.State = Dropped
		d.add(f)
	}
	if hard {
		if len(gone) > 0 {
			d.unmade(list, kept, len(list))
		}
		d.gone(Everything)
	}
}

// reverted reads what git revert does: a commit, the newest or one that is named, is taken back.
func (d *Digester) reverted(words []string, own int) {
	if prose.HasAny(strings.Join(words, " "),
		[]string{"--abort", "--quit", "--skip", "--continue"}) {
		return
	}
	list := d.commits(own)
	for _, w := range words {
		if n, ok := d.before(list, w); ok && n > 0 && w[0] != '-' {
			d.unmade(list, n-1, n)
		}
	}
}

// before returns how many of some commits are at or before a revision: HEAD, HEAD~2, @^, or the
// hash of one of them. ok is false for any other word.
func (d *Digester) before(list []int, revision string) (n int, ok bool) {
	rest, isHead := strings.CutPrefix(revision, "HEAD")
	if !isHead {
		rest, isHead = strings.CutPrefix(revision, "@")
	}
	if isHead {
		back := strings.Count(rest, "^") + strings.Count(rest, "~")
		if _, digits, _ := strings.Cut(rest, "~"); digits != "" {
			back, _ = strconv.Atoi(digits)
		}
		return max(len(list)-max(back, 0), 0), strings.Trim(rest, "^~0123456789") == ""
	}
	if len(revision) < minHash || !isHex(revision) {
		return 0, false
	}
	for n, i := range list {
		if _, hash := d.Made[i].Committed(); hash != "" && strings.HasPrefix(revision, hash) {
			return n + 1, true
		}
	}
	return 0, false
}

// unmade adds the facts that files are as they were before some commits of a list, if nothing else
// changed them.
func (d *Digester) unmade(list []int, first, end int) {
	begin, last := -1, list[end-1]
	if first > 0 {
		begin = list[first-1]
	}
	var inside []string
	outside := map[string]bool{}
	for i, f := range d.Made {
		if f.Kind != Edit || f.Undone() {
			continue
		}
		if i > begin && (i < last || d.Made[i].Seq == d.Made[last].Seq) {
			if !slices.Contains(inside, f.Path) {
				inside = append(inside, f.Path)
			}
		} else if i < last || end < len(list) {
			outside[f.Path] = true
		}
	}
	for _, file := range inside {
		if !outside[file] {
			d.add(Fact{Kind: Edit, Key: TakenBack, Path: file, State: Dropped,
				Text: "restored " + file})
		}
	}
}

// undoes reports whether an edit puts back what the edits of the file since the newest commit
// changed: each of them was taken back by its opposite.
func (d *Digester) undoes(edit int) bool {
	const most = 2000 // facts that are looked at
	last := &d.Made[edit]
	if last.Was == 0 {
		return false
	}
	left := [][2]uint64{{last.Was, last.Now}} // the edits that have not met their opposites
	for i := edit - 1; i >= max(edit-most, 0); i-- {
		f := &d.Made[i]
		if f.Kind == Commit && f.State == Passed {
			break
		}
		if f.Kind != Edit || f.Undone() && f.State != Dropped ||
			f.Path != last.Path && f.Path != Everything {
			continue
		}
		if f.State == Dropped {
			break
		}
		top := len(left) - 1
		if top >= 0 && f.Was == left[top][1] && f.Now == left[top][0] && f.Was != 0 {
			left = left[:top]
		} else {
			left = append(left, [2]uint64{f.Was, f.Now})
		}
	}
	return len(left) == 0
}

// hashOf is a number that equal texts share, for Fact.Was and Fact.Now. It is never 0.
func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64() | 1
}
