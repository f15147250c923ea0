package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
)

// catchUp imports a transcript of an agent whose transcripts are read as a whole. A transcript that
// has not changed since the last copy is not read.
func catchUp(ctx context.Context, s *session.Store, agent, path string) (copied, error) {
	f, info, err := openTranscript(path)
	if err != nil {
		return copied{}, err
	}
	defer f.Close()
	now := copiedFile{Path: path, Size: info.Size(), Time: info.ModTime().UnixNano()}
	if now.known(s) {
		return copied{}, nil
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	done, err := importWhole(ctx, s, agent, name, f)
	if err == nil {
		err = now.save(s)
	}
	return done, err
}

// importWhole imports a transcript from its beginning, and graduates what is due. name is that of
// its file without its ending, or "".
func importWhole(ctx context.Context, s *session.Store, agent, name string, in io.Reader) (copied, error) {
	row, ok := catalog.Named(agent)
	if !ok {
		return copied{}, fmt.Errorf("no transcripts of %q can be read", agent)
	}
	done, err := s.Exchange.ImportTranscript(ctx, func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return row.Read(name, in, emit)
	}, "")
	for _, changed := range done.Changed {
		if err == nil {
			_, err = s.Conversation.GraduateAndAdopt(ctx, changed, history.MainBranch)
		}
	}
	return report(done, true), err
}

// copiedFile is what the cache knows of a transcript that was copied. If it is lost, the next copy
// reads the transcript again, which changes nothing.
type copiedFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Time int64  `json:"time"` // of the last change, in nanoseconds since 1970
}

// known reports whether the file was copied as it is now.
func (c copiedFile) known(s *session.Store) bool {
	was, ok := loadCopied(s, c.Path)
	return ok && was == c
}

func loadCopied(s *session.Store, path string) (c copiedFile, ok bool) {
	payload, _, ok := s.History.Cache.Load(cache.CursorName(path))
	return c, ok && json.Unmarshal(payload, &c) == nil && c.Path == path
}

func (c copiedFile) save(s *session.Store) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.History.Cache.Store(cache.CursorName(c.Path), cache.Stamp{Number: uint64(c.Size)}, b)
}

// leftOver returns the transcripts in a directory that a hook has copied, and that have changed
// since, because a later hook was missed. It leaves out own, and transcripts that no hook has ever
// copied: nobody asked ctx to record them.
func leftOver(s *session.Store, own string) (paths []string) {
	for _, path := range newestIn(filepath.Dir(own)) {
		c, ok := loadCopied(s, path)
		if path == own || !ok {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil, info.Size() != c.Size, info.ModTime().UnixNano() != c.Time:
			paths = append(paths, path)
		}
	}
	return paths
}

// missed returns other transcripts of the project that a hook has copied only in part.
func (h *hook) missed() []string {
	if h.agent.Name == GeminiCLI {
		return unfinished(h.s, h.event)
	}
	return leftOver(h.s, h.event.Transcript)
}
