package catalog

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Place is a directory that an agent has sessions of.
type Place struct {
	Dir string
	// Remote returns the address of the repository that a session says the directory had; "" if none
	// says it.
	Remote func() string
}

// Places lists the directories that an agent has sessions of under root, each once. It leaves out
// those of a project.
func (a *Agent) Places(root string, except Project) []Place {
	p := &places{except: except, seen: map[string]bool{}}
	if a.Found != nil {
		a.Found(root, p)
	}
	return p.list
}

type places struct {
	except Project
	list   []Place
	seen   map[string]bool
}

func (p *places) add(dir string, remote func() string) {
	if dir == "" || p.seen[dir] || p.except.has(dir) || !filepath.IsAbs(filepath.FromSlash(dir)) {
		return
	}
	p.seen[dir] = true
	p.list = append(p.list, Place{Dir: filepath.Clean(filepath.FromSlash(dir)), Remote: remote})
}

func noRemote() string { return "" }

// headOf returns the first bytes of a file; nil if it cannot be read.
func headOf(file string, most int64) []byte {
	f, err := durable.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return b
}

// member returns the text of the first member with a quoted name; "" if there is none.
func member(b []byte, name string) string {
	_, rest, ok := bytes.Cut(b, []byte(name))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(":"))
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	for end := 1; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '"':
			s, _ := jsonvalue.Text(rest[:end+1])
			return s
		}
	}
	return ""
}
