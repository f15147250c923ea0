package geminicli

// merge returns what a message says after the agent wrote it again in a list of its own. Such a
// copy may lack thoughts, calls and media, and may have shortened texts and arguments. It can add,
// and it can change a text for one at least as long; it takes nothing away. The known parts come
// back as they are if the copy says nothing new.
func merge(known, copied []part) []part {
	seen := identities(known)
	var added []part
	for _, p := range copied {
		if p.kind != partText && !seen[p.identity()] {
			seen[p.identity()] = true
			added = append(added, p)
		}
	}
	oldText, newText := joinText(known), joinText(copied)
	retext := newText != oldText && len(newText) >= len(oldText) && !contains(known, copied)
	if !retext {
		return append(known[:len(known):len(known)], added...)
	}
	var out []part
	out = appendKind(out, known, partThought)
	out = appendKind(out, added, partThought)
	out = appendKind(out, copied, partText)
	for _, list := range [][]part{known, added} {
		for _, p := range list {
			if p.kind != partThought && p.kind != partText {
				out = append(out, p)
			}
		}
	}
	return out
}

func appendKind(dst, src []part, kind partKind) []part {
	for _, p := range src {
		if p.kind == kind {
			dst = append(dst, p)
		}
	}
	return dst
}

// contains reports whether everything that some says is in all.
func contains(all, some []part) bool {
	seen := identities(all)
	for _, p := range some {
		if !seen[p.identity()] {
			return false
		}
	}
	return true
}

func identities(parts []part) map[string]bool {
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		seen[p.identity()] = true
	}
	return seen
}
