package brief

import (
	"path"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// Root is the directory from which the files of a session are named. The zero Root is that of
// sessions of which it is not known where they began.
type Root struct {
	dir     string // clean, with slashes; "" if it is not known
	project string // the same of the project that the session is in, or ""
	guessed bool   // from the files
	sub     string // where below dir the session began: relative names are from there
}

// NewRoot returns the root of a session that began in a directory, "" if it is not known: the work
// tree that the directory is in, as far as its name tells, or else the project that it is in, or
// else the directory itself. Both may be paths of any system.
func NewRoot(began, project string) Root {
	r := Root{dir: slashed(began), project: slashed(project)}
	if within(r.dir, r.project) {
		r.dir = r.project
	}
	if tree := workTree(slashed(began)); len(tree) > len(r.dir) {
		r.dir = tree
	}
	if sub := slashed(began); within(sub, r.dir) {
		r.sub = strings.TrimPrefix(sub[len(r.dir):], "/")
	}
	return r
}

// workTree returns the work tree that a path is in: what agents and people make below a directory
// for work trees; "" for none.
func workTree(dir string) string {
	for _, parent := range [...]string{"/.worktrees/", "/.claude/worktrees/"} {
		if i := strings.LastIndex(dir, parent); i >= 0 {
			name, _, _ := strings.Cut(dir[i+len(parent):], "/")
			return dir[:i+len(parent)] + name
		}
	}
	return ""
}

// Of returns the root for facts of the session. If they have no file below it, it is the directory
// that most of their files are in.
func (r Root) Of(facts []digest.Fact) Root {
	below, inProject := false, false
	for i := range facts {
		p := slashed(facts[i].Path)
		below = below || within(p, r.dir)
		inProject = inProject || within(p, r.project)
	}
	switch {
	case below:
	case inProject && r.dir == "":
		r.dir = r.project
	default:
		if most := mostly(facts); most != "" {
			r.dir, r.sub, r.guessed = most, "", true
		}
	}
	return r
}

// mostly returns the deepest directory that holds four fifths of the absolute paths, or "" if there
// is none.
func mostly(facts []digest.Fact) string {
	count := map[string]int{}
	total := 0
	for i := range facts {
		p := slashed(facts[i].Path)
		if !isAbs(p) {
			continue
		}
		total++
		for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
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

// Name returns the name of a file: "." of the root, from the root if it is below or beside it, or
// else its path with slashes.
func (r Root) Name(file string) string {
	if isWindows(r.dir) && !strings.HasPrefix(file, "/") {
		file = strings.ReplaceAll(file, `\`, "/")
	}
	if r.sub != "" && file != "" && !isAbs(file) {
		file = path.Join(r.sub, file)
	}
	switch p := slashed(file); {
	case !within(p, r.dir):
	case len(p) > len(r.dir):
		return p[len(r.dir)+1:]
	case r.dir != "":
		return "."
	}
	if p := slashed(file); within(p, r.parent()) && len(p) > len(r.parent()) {
		return "../" + p[len(r.parent())+1:]
	}
	if isWindows(file) {
		return slashed(file)
	}
	return file
}

// parent returns the directory that the root is in, "" if that is the top, or the root is a guess.
func (r Root) parent() string {
	if r.guessed {
		return ""
	}
	return slashed(path.Dir(r.dir))
}

// base returns the last element of the root, "" if it is not known.
func (r Root) base() string {
	if r.dir == "" {
		return ""
	}
	return path.Base(r.dir)
}

// Shorten returns a text in which files below the root are named from it.
func (r Root) Shorten(text string) string {
	if r.dir == "" {
		return text
	}
	text = cutPaths(text, r.dir+"/", "")
	if isWindows(r.dir) {
		text = cutPaths(text, strings.ReplaceAll(r.dir, "/", `\`)+`\`, "")
	}
	if up := r.parent(); up != "" {
		text = cutPaths(text, up+"/", "../")
	}
	return text
}

// cutPaths replaces the beginning of paths in a text, where no longer path ends with it.
func cutPaths(text, start, by string) string {
	if !strings.Contains(text, start) {
		return text
	}
	var w strings.Builder
	for {
		i := strings.Index(text, start)
		if i < 0 {
			w.WriteString(text)
			return w.String()
		}
		w.WriteString(text[:i])
		if i > 0 && inPath(text[i-1]) {
			w.WriteString(start)
		} else {
			w.WriteString(by)
		}
		text = text[i+len(start):]
	}
}

// inPath reports whether a byte before a path shows that the path is the end of a longer one.
func inPath(c byte) bool {
	return c == '/' || c == '\\' || c == '.' || c == '-' || c == '_' || c == '~' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// within reports whether a path with slashes is a directory or in it. A path of Windows is however
// it spells capitals.
func within(p, dir string) bool {
	if dir == "" || len(p) < len(dir) || len(p) > len(dir) && p[len(dir)] != '/' {
		return false
	}
	if isWindows(dir) {
		return strings.EqualFold(p[:len(dir)], dir)
	}
	return p[:len(dir)] == dir
}

// slashed returns a clean path, with slashes if it is one of Windows; "" for a path that is not
// absolute, and for the root of a file system.
func slashed(p string) string {
	if isWindows(p) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if !isAbs(p) {
		return ""
	}
	if clean := path.Clean(p); len(clean) > len("c:/") || clean[0] == '/' && len(clean) > 1 {
		return clean
	}
	return ""
}

// isAbs reports whether a path is absolute on any system.
func isAbs(p string) bool { return strings.HasPrefix(p, "/") || isWindows(p) }

// isWindows reports whether a path is an absolute one of Windows.
func isWindows(p string) bool {
	return strings.HasPrefix(p, `\\`) || len(p) > 2 && p[1] == ':' &&
		'a' <= p[0]|0x20 && p[0]|0x20 <= 'z' && (p[2] == '\\' || p[2] == '/')
}
