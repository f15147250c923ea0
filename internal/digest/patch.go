package digest

import "strings"

// patchLead begins a patch in the format of apply_patch.
const patchLead = "*** Begin Patch"

// patch adds a fact for each file of a patch. The patch has the format of apply_patch ("*** Update
// File: PATH", then lines that begin with +, - or a space) or is a unified diff.
func (d *Digester) patch(text string) {
	var f *Fact
	var before, after, now strings.Builder // after has the lines that name a place, too
	flush := func() {
		if f != nil {
			old, added := before.String(), after.String()
			f.Text = f.Key + " " + f.Path + named(f.Path, old, added)
			if f.Key == "edited" {
				f.Was, f.Now = hashOf(old), hashOf(now.String())
			}
			f.Key = ""
			d.add(*f)
			d.written(f.Path, old, added)
		}
		f = nil
		before.Reset()
		after.Reset()
		now.Reset()
	}
	for line := range strings.SplitSeq(text, "\n") {
		if verb, path, ok := patchHead(line); ok {
			flush()
			f = &Fact{Kind: Edit, Path: path, Key: verb}
			continue
		}
		if to, ok := strings.CutPrefix(line, "*** Move to: "); ok && f != nil {
			f.Key, f.Path = "moved "+f.Path+" to", to
			continue
		}
		switch {
		case f == nil:
		case strings.HasPrefix(line, "+"):
			f.Added++
			now.WriteString(line[1:] + "\n")
			after.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "-"):
			f.Removed++
			before.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "@@ "):
			after.WriteString(strings.Trim(line, "@ ") + "\n")
		}
	}
	flush()
}

// patchHead parses the line that begins a file of a patch.
func patchHead(line string) (verb, path string, ok bool) {
	for _, h := range [...]struct{ lead, verb string }{
		{"*** Update File: ", "edited"}, {"*** Add File: ", "wrote"},
		{"*** Delete File: ", "deleted"},
		{"+++ b/", "edited"},
	} {
		if path, ok = strings.CutPrefix(line, h.lead); ok {
			return h.verb, strings.TrimSpace(path), true
		}
	}
	return "", "", false
}

// addedBy returns the lines that a patch adds. Any other text is returned as it is.
func addedBy(text string) string {
	if !strings.Contains(text, patchLead) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if added, ok := strings.CutPrefix(line, "+"); ok {
			b.WriteString(added)
		}
	}
	return b.String()
}
