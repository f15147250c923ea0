package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/exchange"
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
	was, _ := loadCopied(s, path)
	now := copiedFile{Path: path, Size: info.Size(), Time: info.ModTime().UnixNano(), Session: was.Session, Skipped: was.Skipped}
	if was == now {
		return copied{session: was.Session}, nil
	}
	// A copy that is cut short is known to the next hook, whatever session that is of.
	if err := (copiedFile{Path: path, Size: -1, Session: was.Session, Skipped: was.Skipped}).save(s); err != nil {
		return copied{}, err
	}
	done, changed, err := importWhole(ctx, s, agent, path, f)
	if err != nil {
		return done, err
	}
	now.Session, now.Skipped = done.session, skippedText(done.skipped)
	if now.Skipped == was.Skipped {
		done.skipped = nil // an earlier hook has said so
	}
	if err := now.save(s); err != nil {
		return done, err
	}
	return done, graduate(ctx, s, changed)
}

// importWhole imports a transcript from its beginning. path is that of its file, or "". changed
// are the sessions that have something new.
func importWhole(ctx context.Context, s *session.Store, agent, path string, in io.Reader) (done copied, changed []string, err error) {
	row, ok := catalog.Named(agent)
	if !ok {
		return copied{}, nil, fmt.Errorf("no transcripts of %q can be read", agent)
	}
	name := ""
	if path != "" {
		name = row.NameOf(path)
	}
	out, err := s.Exchange.ImportTranscript(ctx, func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return row.Read(name, in, emit)
	}, "")
	if err == nil {
		err = s.Exchange.NoteDrift(exchange.DriftOf(agent, path, &out))
	}
	return report(out, true), out.Changed, err
}

// graduate moves what is due in sessions into clusters.
func graduate(ctx context.Context, s *session.Store, names []string) error {
	for _, name := range names {
		if _, err := s.Conversation.GraduateAndAdopt(ctx, name, history.MainBranch); err != nil {
			return err
		}
	}
	return nil
}

// copiedFile is what the cache knows of a transcript that was copied. If it is lost, the next copy
// reads the transcript again, which changes nothing.
type copiedFile struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"` // negative while the first copy has not come to its end
	Time    int64  `json:"time"` // of the last change, in nanoseconds since 1970
	Session string `json:"session"`
	Skipped string `json:"skipped"` // what could not be used
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
	return s.History.Cache.Store(cache.CursorName(c.Path), cache.Stamp{Number: uint64(max(0, c.Size))}, b)
}

// leftOver returns those of some transcripts that a hook has copied, and those of their subagents,
// that have changed since, because a later hook was missed. It leaves out own, and transcripts that
// no hook has ever copied: nobody asked ctx to record them.
func leftOver(s *session.Store, own string, others []string) (paths []string) {
	for _, path := range others {
		c, ok := loadCopied(s, path)
		if path == own || !ok {
			continue
		}
		if changed(c, path) {
			paths = append(paths, path)
		}
		for _, sub := range besideIt(strings.TrimSuffix(path, filepath.Ext(path))) {
			if c, _ := loadCopied(s, sub); changed(c, sub) {
				paths = append(paths, sub)
			}
		}
	}
	return paths
}

// An agent that writes its transcript late gets a moment for that when a session ends, as no hook
// may follow: until the file has been the same for settleStill, settleMost at most. Copilot CLI
// 1.0.102 writes 0.1 to 0.3 s later.
const (
	settleStep  = 25 * time.Millisecond
	settleStill = 8
	settleMost  = 40
)

// settle waits until nobody writes a file any more, for a second at most.
func settle(ctx context.Context, path string) {
	var size int64 = -1
	for still, n := 0, 0; still < settleStill && n < settleMost && ctx.Err() == nil; n++ {
		info, err := os.Stat(path)
		if err != nil || info.Size() != size {
			still = 0
		}
		if err == nil {
			size = info.Size()
			still++
		}
		time.Sleep(settleStep)
	}
}

// changed reports whether a transcript is there and not as it was copied.
func changed(c copiedFile, path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.Size() != c.Size || info.ModTime().UnixNano() != c.Time)
}

// missed returns other transcripts of the project that a hook has copied only in part.
func (h *hook) missed() []string {
	if h.agent.Live {
		return unfinished(h.s, h.event)
	}
	own := h.event.Transcript
	if h.agent.Others != nil {
		return leftOver(h.s, own, h.agent.Others(own))
	}
	return leftOver(h.s, own, newestIn(filepath.Dir(own)))
}
