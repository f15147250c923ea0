package replay

import "strings"

// patchLead begins a patch in the format of apply_patch.
const patchLead = "*** Begin Patch"

// patchChanges returns the changes of a patch: in the format of apply_patch, or a unified diff.
func patchChanges(text, dir string) []Change {
	p := &patchReader{dir: dir}
	if i := strings.Index(text, patchLead); i >= 0 {
		for line := range strings.SplitSeq(unixLines(text[i:]), "\n") {
			if strings.TrimSpace(line) == "*** End Patch" {
				break
			}
			p.line(line)
		}
	} else {
		for line := range strings.SplitSeq(unixLines(text), "\n") {
			p.unified(line)
		}
	}
	p.endFile()
	return p.out
}

type patchReader struct {
	dir  string
	out  []Change
	file *Change
	text strings.Builder // of a new file
	hunk Edit
	old  strings.Builder
	new  strings.Builder
	olds int  // the lines of old
	some bool // the hunk has a line
	from string
}

func (p *patchReader) line(line string) {
	for _, head := range [...]struct {
		lead string
		kind Kind
	}{{"*** Add File: ", Write}, {"*** Update File: ", Replace}, {"*** Delete File: ", Delete}} {
		if name, ok := strings.CutPrefix(line, head.lead); ok {
			p.begin(name, head.kind)
			return
		}
	}
	if p.file == nil {
		return
	}
	if to, ok := strings.CutPrefix(line, "*** Move to: "); ok {
		p.file.From, p.file.Path = p.file.Path, under(p.dir, strings.TrimSpace(to))
		return
	}
	if p.file.Kind == Write {
		if added, ok := strings.CutPrefix(line, "+"); ok {
			p.text.WriteString(added + "\n")
		}
		return
	}
	switch {
	case line == "*** End of File":
	case strings.HasPrefix(line, "@@"):
		p.endHunk()
		p.hunk.Anchor = strings.TrimSpace(strings.TrimPrefix(line, "@@"))
	default:
		p.body(line)
	}
}

func (p *patchReader) begin(name string, kind Kind) {
	p.endFile()
	p.file = &Change{Path: under(p.dir, strings.TrimSpace(name)), Kind: kind}
}

// body reads a line of a hunk.
func (p *patchReader) body(line string) {
	mark, rest := byte(' '), ""
	if line != "" {
		mark, rest = line[0], line[1:]
	}
	switch mark {
	case '+':
		p.new.WriteString(rest + "\n")
		p.hunk.Kept = append(p.hunk.Kept, -1)
	case '-':
		p.old.WriteString(rest + "\n")
		p.olds++
	case ' ':
		p.old.WriteString(rest + "\n")
		p.new.WriteString(rest + "\n")
		p.hunk.Kept = append(p.hunk.Kept, p.olds)
		p.olds++
	default:
		return
	}
	p.some = true
}

// unified reads a line of a unified diff.
func (p *patchReader) unified(line string) {
	switch {
	case strings.HasPrefix(line, "--- "):
		p.endFile()
		p.from = diffName(line[4:], "a/")
	case strings.HasPrefix(line, "+++ "):
		name := diffName(line[4:], "b/")
		switch {
		case name == "/dev/null":
			p.begin(p.from, Delete)
		case p.from == "/dev/null":
			p.begin(name, Write)
		default:
			p.begin(name, Replace)
			if p.from != "" && p.from != name {
				p.file.From = under(p.dir, p.from)
			}
		}
	case p.file == nil || strings.HasPrefix(line, `\`) || strings.HasPrefix(line, "diff "):
	case p.file.Kind == Write:
		if added, ok := strings.CutPrefix(line, "+"); ok {
			p.text.WriteString(added + "\n")
		}
	case strings.HasPrefix(line, "@@"):
		p.endHunk()
	case line != "":
		p.body(line)
	}
}

// diffName returns the file that a header of a unified diff names.
func diffName(s, lead string) string {
	s, _, _ = strings.Cut(s, "\t")
	return strings.TrimPrefix(strings.TrimSpace(s), lead)
}

func (p *patchReader) endHunk() {
	if p.file != nil && p.some {
		p.hunk.Old, p.hunk.New, p.hunk.Hunk = p.old.String(), p.new.String(), true
		p.file.Edits = append(p.file.Edits, p.hunk)
	}
	p.old.Reset()
	p.new.Reset()
	p.hunk, p.olds, p.some = Edit{}, 0, false
}

func (p *patchReader) endFile() {
	p.endHunk()
	if p.file != nil && p.file.Path != "" {
		p.file.Text = p.text.String()
		if p.file.Kind == Delete {
			p.file.Edits = nil
		}
		if p.file.Kind == Replace && len(p.file.Edits) == 0 {
			p.file.Kind = Touch
			if p.file.From != "" {
				p.file.Kind = Move
			}
		}
		p.out = append(p.out, *p.file)
	}
	p.file = nil
	p.text.Reset()
}
