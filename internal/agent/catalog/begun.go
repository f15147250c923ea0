package catalog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Begun is a transcript, and what its records say of where the session began: the first directory
// that they name counts, wherever the agent went later.
type Begun struct {
	File string
	identity.Session
	// Parent is the transcript of the session that this one is a subagent's of: it goes where that
	// goes.
	Parent string
	// Folder is where the agent keeps the transcript; nil if that says nothing of a directory. Named
	// are the directories that fit it and that the agent worked in, where no record says the one in
	// which the session began.
	Folder *Folder
	Named  []string
}

// Judged is a transcript with the verdict whether it is the project's.
type Judged struct {
	Begun
	identity.Verdict
}

// Judge says of each transcript whether it is the project's. A directory that the session of one
// agent proves to have been the project's counts for those of all agents.
//
// also are directories of the project, for a transcript that names no directory, and for one that
// names a directory that is gone and whose folder has another name: somebody moved the transcript.
// Such a transcript is taken if it lies in the folder of one of them, and the agent would keep the
// sessions of no other directory there that is on this machine, or that a transcript there names.
func Judge(list []Begun, look *identity.Look, also []string) []Judged {
	out := make([]Judged, len(list))
	at := map[string]int{}
	known := map[string][]string{} // the directories that fit a folder, by transcripts in it
	proof := map[string]string{}   // why a directory outside of the project is the project
	for i := range list {
		b := &list[i]
		out[i] = Judged{*b, look.Belongs(&b.Session)}
		at[Plain(b.File)] = i
		if of := out[i].Of; out[i].Ours && of != "" && proof[of] == "" {
			proof[of] = out[i].Why
			look.Learn(of)
		}
	}
	for i := range out {
		b := &out[i]
		if !b.Ours {
			if b.Verdict = look.Belongs(&b.Session); b.Ours && proof[b.Of] != "" {
				b.Why = proof[b.Of]
			}
		}
		if b.Dir == "" || b.Folder == nil {
			continue
		}
		if b.Folder.fits(b.Dir) {
			known[b.Folder.Path] = append(known[b.Folder.Path], b.Dir)
		}
		if b.Ours {
			also = append(also, b.Dir)
		}
	}
	also = append(also, look.Trees()...)
	slices.Sort(also)
	also = slices.Compact(also)
	below := sync.OnceValue(func() []string { return inside(also) })
	for i := range out {
		b := &out[i]
		if b.Folder == nil || b.Dir != "" && (b.Ours || b.Folder.fits(b.Dir) || look.There(b.Dir)) {
			continue
		}
		dirs := slices.Concat(b.Named, b.Folder.There(), known[b.Folder.Path])
		for _, dir := range also {
			if b.Folder.fits(dir) {
				dirs = append(dirs, dir)
			}
		}
		if b.Folder.Exact && len(dirs) == 0 {
			k := slices.IndexFunc(below(), b.Folder.fits)
			if k >= 0 {
				dirs = append(dirs, below()[k])
			}
		}
		b.Verdict = among(b, spelledOnce(dirs), look)
	}
	for i := range out {
		if k, ok := at[out[i].Parent]; ok {
			out[i].Verdict = out[k].Verdict
		}
	}
	return out
}

// among judges a session that began in one of some directories.
func among(b *Judged, dirs []string, look *identity.Look) identity.Verdict {
	for _, dir := range dirs {
		v := look.Belongs(&identity.Session{Dir: dir})
		if len(dirs) == 1 {
			return v
		}
		if v.Ours {
			slices.Sort(dirs)
			return identity.Verdict{Why: fmt.Sprintf("in %q, which does not say of which of %q they "+
				"are: `ctx import FILE` takes one", b.Folder.Path, dirs)}
		}
	}
	return b.Verdict
}

// The most that is read of a file to find out where its session began, and of its lines. Most
// records name the directory, so that the first few KB do.
const (
	maxHead     = 96 << 20
	headBuffer  = 8 << 10
	maxHeadLine = transcript.MaxLine
)

// headsOf calls see for the records at the beginning of a file of JSON lines that have a text in
// them, until it returns false.
func headsOf(file, with string, see func(jsonvalue.Object) bool) {
	in, end, err := open(file)
	if err != nil {
		return
	}
	defer end()
	r := bufio.NewReaderSize(io.LimitReader(in, maxHead), headBuffer)
	lines := transcript.NewLineReader(r, maxHeadLine, transcript.SkipMark(r))
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		if !bytes.Contains(line.Text, []byte(with)) {
			continue
		}
		if o, ok := jsonvalue.ParseObject(bytes.TrimSpace(line.Text)); ok && !see(o) {
			return
		}
	}
}

// begunIn returns the first record of a file in which of finds a directory.
func begunIn(file, with string, of func(jsonvalue.Object) identity.Session) (s identity.Session) {
	headsOf(file, with, func(o jsonvalue.Object) bool {
		s = of(o)
		return s.Dir == ""
	})
	return s
}

// wanted reports whether a file is one of those that only names; nil names all.
func wanted(only func(file string) bool, file string) bool { return only == nil || only(file) }

// begunByCwd is what a transcript says whose records have the directory.
func begunByCwd(file string) identity.Session {
	return begunIn(file, `"cwd"`, func(o jsonvalue.Object) identity.Session {
		return identity.Session{Dir: o.Text("cwd"), Branch: o.Text("gitBranch")}
	})
}

// namesIn returns the names in a directory; none if it cannot be read.
func namesIn(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	return lists.Map(list, func(entry os.DirEntry) string { return entry.Name() })
}

// inFolders returns the files of the directories below dir that match one of the patterns.
func inFolders(dir string, patterns ...string) (files []string) {
	for _, name := range namesIn(dir) {
		for _, pattern := range patterns {
			files = append(files, transcripts(filepath.Join(dir, name), pattern)...)
		}
	}
	return files
}

func forkOfPi(head jsonvalue.Object) (id, of string) {
	return head.Text("id"), shape.PiForkOf(head)
}

// Order sorts the files of one import: a transcript comes after the one that it begins with a copy
// of. path resolves a file. The order is changed no further.
func (a *Agent) Order(files []string, path func(string) string) []string {
	if a.ForkOf == nil {
		return files
	}
	byID, parent := map[string]string{}, map[string]string{}
	for _, file := range files {
		if file == "-" {
			continue
		}
		headsOf(path(file), "", func(head jsonvalue.Object) bool {
			id, of := a.ForkOf(head)
			byID[id], parent[file] = file, of
			return false
		})
	}
	depth := func(file string) (n int) {
		for ; n <= len(files); n++ {
			up, ok := byID[parent[file]]
			if !ok || parent[file] == "" {
				return n
			}
			file = up
		}
		return 0 // a ring
	}
	out := slices.Clone(files)
	slices.SortStableFunc(out, func(x, y string) int { return depth(x) - depth(y) })
	return out
}
