package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// copied is what a copy brought into the store.
type copied struct {
	new     int            // messages, newer versions and rewinds
	skipped map[string]int // what could not be used
	whole   bool           // the transcript was read from its beginning

	children []session.Child // sessions of subagents that it tells of
}

// copyTranscript brings into the store what a transcript has that no copy has seen. With check it first makes sure that what was seen before is still
// what the file has.
func copyTranscript(ctx context.Context, s *session.Store, path string, check bool) (copied, error) {
	f, info, err := openTranscript(path)
	if err != nil {
		return copied{}, err
	}
	defer f.Close()
	c := loadCursor(s, path)
	if c != nil && c.fits(f, info) && (!check || c.same(f)) {
		if c.Offset == info.Size() {
			return copied{}, nil
		}
		done, err := s.ImportGeminiOn(ctx, io.NewSectionReader(f, c.Offset, info.Size()-c.Offset), &c.mark)
		if err == nil {
			err = c.save(s, f)
		}
		if !errors.Is(err, geminicli.ErrWhole) {
			return report(done, false), err
		}
	}
	// What the agent writes meanwhile is for the next time.
	done, mark, err := s.ImportGeminiMarked(ctx, io.NewSectionReader(f, 0, info.Size()))
	if err == nil {
		c = &cursor{Path: path, File: fileID(f, info), mark: mark}
		err = c.save(s, f)
	}
	if err == nil && done.Messages+done.Amended+done.Rewinds > 0 {
		_, err = s.GraduateAndLeave(ctx, done.Session, session.MainBranch)
	}
	return report(done, true), err
}

func report(done session.Imported, whole bool) copied {
	return copied{new: done.Messages + done.Notes + done.Amended + done.Rewinds, skipped: done.Skipped, whole: whole, children: done.Children}
}

// openTranscript opens what an agent says is its transcript. Anything but a regular file is refused: a pipe would make the hook wait.
func openTranscript(path string) (*os.File, os.FileInfo, error) {
	if !filepath.IsAbs(path) {
		return nil, nil, fmt.Errorf("the transcript's path is not absolute: %.200q", path)
	}
	f, info, err := lock.OpenAtMost(path, lock.MaxInput)
	if errors.Is(err, lock.ErrNotFile) {
		err = fmt.Errorf("the transcript is not a file: %q", path)
	}
	return f, info, err
}

// maxBeside is how many transcripts in a directory are looked at, the newest.
const maxBeside = 64

// subagents returns the transcripts that the agent wrote for the subagents of a session: they are in a directory of the session's name beside its own.
func subagents(e Event) []string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, e.Session)
	if name == "" {
		return nil
	}
	return newestIn(filepath.Join(filepath.Dir(e.Transcript), name))
}

// unfinished returns the transcripts beside that of an event which have more than was read of them: a hook was missed, as when the agent was killed. Those that no
// hook has ever read are nobody's who asked for it.
func unfinished(s *session.Store, e Event) []string {
	return slices.DeleteFunc(newestIn(filepath.Dir(e.Transcript)), func(path string) bool {
		c := loadCursor(s, path)
		info, err := os.Stat(path)
		return path == e.Transcript || c == nil || err != nil || info.Size() == c.Offset
	})
}

// newestIn returns the newest transcripts in a directory.
func newestIn(dir string) (paths []string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil // there are none
	}
	var files []fs.FileInfo
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(entry.Name(), ".jsonl") {
			files = append(files, info)
		}
	}
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range files[:min(len(files), maxBeside)] {
		paths = append(paths, filepath.Join(dir, info.Name()))
	}
	return paths
}
