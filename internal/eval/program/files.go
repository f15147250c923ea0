package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/sanitize"
)

const (
	linesSuffix    = ".jsonl"
	messagesSuffix = ".messages.jsonl"
	factsSuffix    = ".facts.jsonl"
)

// maxEvalFile is the largest file of a corpus, in bytes: it is held in memory.
const maxEvalFile = 1 << 30

// filesToSets reads the files and directories that the command line names: a set for each file of
// messages, and one for all transcripts that an argument names.
func (p *program) filesToSets(args []string) ([]sets.Set, error) {
	var list []sets.Set
	for _, arg := range args {
		path := environ.Under(p.Env.WorkDir, arg)
		files, isDir, err := evalFiles(path)
		if err != nil {
			return nil, err
		}
		transcripts := sets.Set{Name: transcriptSetName(path)}
		for _, file := range files {
			if strings.HasSuffix(file, messagesSuffix) {
				set, err := readSet(file)
				if err != nil {
					return nil, err
				}
				list = append(list, set)
				continue
			}
			known, err := addTranscript(&transcripts, file)
			switch {
			case err != nil:
				return nil, err
			case !known && !isDir:
				return nil, clierr.Usagef(
					"not a corpus: %q is no transcript of Claude Code or Codex, and its name "+
						"does not end in %s",
					arg, messagesSuffix,
				)
			case !known && !p.quiet:
				fmt.Fprintf(p.err,
					"ctx: eval: %s is no transcript of Claude Code or Codex: left out\n",
					sanitize.Line(file))
			}
		}
		if len(transcripts.Transcripts) > 0 {
			list = append(list, transcripts)
		}
	}
	if len(list) == 0 {
		return nil, clierr.Usagef(
			"no corpus in %s: no file there is a transcript, or has a name that ends in %s",
			quoteAll(args),
			messagesSuffix,
		)
	}
	return list, nil
}

func quoteAll(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = fmt.Sprintf("%q", arg)
	}
	return strings.Join(quoted, " ")
}

// transcriptSetName is the name of a set of transcripts: that of its directory, or of its one file.
func transcriptSetName(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return strings.TrimSuffix(filepath.Base(path), linesSuffix)
}

// evalFiles returns path, or the files in it whose names end in .jsonl, sorted, if it is a
// directory. Files of facts belong to others and are left out.
func evalFiles(path string) (files []string, isDir bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, false, err
	case !info.IsDir():
		return []string{path}, false, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, true, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), linesSuffix) && !strings.HasSuffix(e.Name(), factsSuffix) &&
			!e.IsDir() {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	slices.Sort(files)
	return files, true, nil
}

// addTranscript adds a file to a set, with its facts, if it is a transcript that can be measured.
func addTranscript(set *sets.Set, path string) (known bool, err error) {
	data, err := durable.ReadInput(path, maxEvalFile)
	if err != nil {
		return false, err
	}
	agent := sets.AgentOf(data)
	if agent == "" {
		return false, nil
	}
	base := strings.TrimSuffix(path, linesSuffix)
	facts, err := readFacts(base + factsSuffix)
	set.Transcripts = append(
		set.Transcripts, sets.Transcript{Name: filepath.Base(base), Agent: agent, Data: data},
	)
	set.Facts = append(set.Facts, facts...)
	return true, err
}

// readSet reads a file of messages, and that of the facts beside it if there is one.
func readSet(path string) (sets.Set, error) {
	base := strings.TrimSuffix(path, messagesSuffix)
	set := sets.Set{Name: filepath.Base(base)}
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
