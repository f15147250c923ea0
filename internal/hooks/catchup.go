package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// catchUp brings into the store what is new in a transcript. It reads on where the last copy ended
// if the transcript has only grown since; else it reads the whole.
func catchUp(ctx context.Context, s *session.Store, agent, path string) (copied, error) {
	f, info, err := openTranscript(path)
	if err != nil {
		return copied{}, err
	}
	defer f.Close()
	row, ok := catalog.Named(agent)
	if !ok {
		return copied{}, fmt.Errorf("no transcripts of %q can be read", agent)
	}
	was, _ := loadCopied(s, path)
	now := copiedFile{
		Path: path, Size: info.Size(), Time: info.ModTime().UnixNano(), Session: was.Session, Skipped: was.Skipped, File: fileID(f, info),
	}
	if was.Size == now.Size && was.Time == now.Time && was.File == now.File {
		return copied{session: was.Session}, nil
	}
	// A copy that is cut short is known to the next hook, whatever session that is of.
	if err := (copiedFile{Path: path, Size: -1, Session: was.Session, Skipped: was.Skipped}).save(s); err != nil {
		return copied{}, err
	}
	name := row.NameOf(path)
	done, on, err := was.readOn(ctx, s, &row, name, f, &now)
	var changed []string
	if !on && err == nil {
		done, changed, err = importWhole(ctx, s, &row, path, io.NewSectionReader(f, 0, now.Size), &now.Mark)
		now.Session = done.session
	}
	if err != nil {
		return done, err
	}
	now.Skipped = skippedText(done.skipped)
	if now.Skipped == was.Skipped {
		done.skipped = nil // an earlier hook has said so
	}
	if now.Ends, err = ends(f, now.Size); err != nil {
		return done, err
	}
	if err := now.save(s); err != nil {
		return done, err
	}
	return done, graduate(ctx, s, changed)
}

// readOn imports what follows the last copy of a transcript, and notes in now where it ended. ok is
// false if the whole has to be read: the transcript was written anew, what follows leads back, or
// the session's newest entry is not what the last copy ended with.
func (c *copiedFile) readOn(ctx context.Context, s *session.Store, row *catalog.Agent, name string, f *os.File, now *copiedFile) (done copied, ok bool, err error) {
	if row.ReadOn == nil || c.Mark.State == nil || c.Size < 0 || c.Size > now.Size || c.File != now.File || !c.endsAt(s, row.Source) {
		return copied{}, false, nil
	}
	if sum, err := ends(f, c.Size); err != nil || !bytes.Equal(sum, c.Ends) {
		return copied{}, false, nil
	}
	mark := c.Mark
	out, err := s.Exchange.ImportLive(ctx, func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return row.ReadOn(name, io.NewSectionReader(f, mark.Offset, now.Size-mark.Offset), &mark, func(st transcript.Step) error {
			st.Begins = "" // it began before
			return emit(st)
		})
	}, true)
	if errors.Is(err, transcript.ErrWhole) {
		return copied{}, false, nil
	}
	if err == nil {
		err = s.Exchange.AddDrift(exchange.DriftOf(row.Name, c.Path, &out))
	}
	now.Mark = mark
	done = report(out, false)
	done.session = c.Session
	return done, true, err
}

// endsAt reports whether the newest entry of the session is the message that the last copy ended
// with.
func (c *copiedFile) endsAt(s *session.Store, source string) bool {
	view, err := s.Refs.Read()
	if err != nil {
		return false
	}
	tip, err := s.History.Header(view.Get(history.RefName(c.Session, history.MainBranch)).ID)
	return err == nil && tip.Source != nil && tip.Source.Agent == source && tip.Source.Message == c.Mark.Last
}

// importWhole imports a transcript from its beginning. path is that of its file, or "". changed are
// the sessions that have something new. It leaves m where the transcript ended.
func importWhole(ctx context.Context, s *session.Store, row *catalog.Agent, path string, in io.Reader, m *transcript.Mark) (done copied, changed []string, err error) {
	name := ""
	if path != "" {
		name = row.NameOf(path)
	}
	out, err := s.Exchange.ImportTranscript(ctx, func(emit func(transcript.Step) error) (transcript.Stats, error) {
		if row.ReadOn != nil {
			return row.ReadOn(name, in, m, emit)
		}
		return row.Read(name, in, emit)
	}, "")
	if err == nil {
		err = s.Exchange.NoteDrift(exchange.DriftOf(row.Name, path, &out))
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

	File string          `json:"file"` // fileID of the transcript; "" if the system has none
	Ends []byte          `json:"ends"` // digest of its first and last bytes
	Mark transcript.Mark `json:"mark"` // where the last copy ended
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
