package eval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/lists"
)

const (
	messagesSuffix = ".messages.jsonl"
	factsSuffix    = ".facts.jsonl"
)

// maxEvalFile is the largest file of a corpus, in bytes: it is held in memory.
const maxEvalFile = 1 << 30

// filesToSets reads the files and directories that the command line names: a set for each file.
func (p *program) filesToSets(args []string) ([]Set, error) {
	var list []Set
	for _, arg := range args {
		files, err := messageFiles(environ.Under(p.Env.WorkDir, arg))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			set, err := readSet(file)
			if err != nil {
				return nil, err
			}
			list = append(list, set)
		}
	}
	if len(list) == 0 {
		return nil, command.Usagef("no corpus in %s: no file there has a name that ends in %s",
			quoteAll(args), messagesSuffix)
	}
	return list, nil
}

func quoteAll(args []string) string {
	return strings.Join(lists.Map(args, func(arg string) string {
		return fmt.Sprintf("%q", arg)
	}), " ")
}

// messageFiles returns path, or the files of messages in it, sorted, if it is a directory.
func messageFiles(path string) (files []string, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() && !strings.HasSuffix(path, messagesSuffix):
		return nil, command.WithHint(
			command.Usagef("not a corpus: %q does not end in %s", path, messagesSuffix),
			"`ctx import` takes a transcript, and `ctx eval -s SESSION` measures it")
	case !info.IsDir():
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), messagesSuffix) && !e.IsDir() {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, err
}

// readSet reads a file of messages, and that of the facts beside it if there is one.
func readSet(path string) (Set, error) {
	base := strings.TrimSuffix(path, messagesSuffix)
	set := Set{Name: filepath.Base(base)}
	err := readWith(path, func(f io.Reader) (err error) {
		set.Messages, err = corpus.Read(f)
		return err
	})
	if err != nil {
		return set, err
	}
	set.Facts, err = readFacts(base + factsSuffix)
	return set, err
}

// readFacts reads a file of facts, if there is one.
func readFacts(path string) (facts []corpus.Fact, err error) {
	err = readWith(path, func(f io.Reader) (err error) {
		facts, err = corpus.ReadFacts(f)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return facts, err
}

// readWith opens a file for read; what is wrong in it is an error that names the file.
func readWith(path string, read func(io.Reader) error) error {
	f, err := durable.OpenInput(path, maxEvalFile)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
