package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
)

// copied says what a copy brought into the store.
type copied struct {
	new     int            // messages, notes, newer versions and rewinds
	skipped map[string]int // number of records that could not be used, by reason
	whole   bool           // the transcript was read from its beginning
	empty   bool           // the whole has no record
	session string         // that it belongs to

	children []importer.Child // sessions of subagents that the transcript names
}

func report(done importer.ImportedTranscript, whole bool) copied {
	return copied{session: done.Session,
		new: done.Messages + done.Notes + done.Amended + done.Rewinds, skipped: done.Stats.Skipped,
		whole: whole, empty: whole && done.Stats.Records == 0, children: done.Children}
}

// catchUp brings into the store what is new in a transcript. It reads on where the last copy ended
// if the transcript has only grown since; else it reads the whole. With check it first makes sure
// that the file still holds every byte that earlier copies read.
func catchUp(
	ctx context.Context, s *session.Store, agent, path string, check bool,
) (copied, error) {
	f, info, err := openTranscript(path)
	if err != nil {
		return copied{}, err
	}
	defer f.Close()
	row, ok := catalog.Named(agent)
	if !ok {
		return copied{}, fmt.Errorf("no transcripts of %q can be read", agent)
	}
	was, known := loadCopied(s, path)
	now := copiedFile{
		Path: path, Size: info.Size(), Time: info.ModTime().UnixNano(), Session: was.Session,
		Skipped: was.Skipped, File: fileID(f, info),
	}
	same := !check || was.same(f)
	if same && was.Size == now.Size && was.Time == now.Time && was.File == now.File {
		return copied{session: was.Session}, nil
	}
	if !known {
		// A copy that is cut short is known to the next hook, whatever session that is of.
		if err := (copiedFile{Path: path, Size: -1}).save(s); err != nil {
			return copied{}, err
		}
	}
	name := row.NameOf(path)
	done, on, err := copied{}, false, error(nil)
	if same {
		done, on, err = was.readOn(ctx, s, &row, name, f, &now)
	}
	var changed []string
	if !on && err == nil {
		was.Sum = nil
		done, changed, err = importWhole(ctx, s, &row, path,
			io.NewSectionReader(f, 0, now.Size), &now.Mark)
		now.Session, now.Skipped = done.session, skippedText(done.skipped)
		if now.Skipped == was.Skipped {
			done.skipped = nil // an earlier hook has said so
		}
	}
	if err != nil {
		return done, err
	}
	if err := now.sum(f, &was); err != nil {
		return done, err
	}
	if err := now.save(s); err != nil {
		return done, err
	}
	return done, graduate(ctx, s, changed)
}

// Finish reads a transcript to its end if hooks copy it and the last one did not come to its end,
// so that the next one reads on from there. Hooks alone are stopped by the deadline each time, in a
// transcript that takes longer.
func Finish(ctx context.Context, s *session.Store, agent, path string) error {
	if c, ok := loadCopied(s, path); !ok || !changed(c, path) {
		return nil
	}
	_, err := catchUp(ctx, s, agent, path, false)
	return err
}

// readOn imports what follows the last copy of a transcript, and notes in now where it ended. ok is
// false if the whole has to be read: the transcript was written anew, what follows leads back, or
// the session's newest entry is not what the last copy ended with.
func (c *copiedFile) readOn(
	ctx context.Context, s *session.Store, row *catalog.Agent, name string, f *os.File,
	now *copiedFile,
) (done copied, ok bool, err error) {
	resumes := catalog.TraitsOf(row.Source).Resumes
	if row.ReadOn == nil || c.Mark.State == nil || c.Size < 0 || c.Size > now.Size ||
		c.File != now.File || resumes && !c.begun(s) || !c.endsAt(s, row.Source) {
		return copied{}, false, nil
	}
	if sum, err := ends(f, c.Size); err != nil || !bytes.Equal(sum, c.Ends) {
		return copied{}, false, nil
	}
	mark := c.Mark
	// The session of the copy may be one that the transcript goes on with.
	out, err := s.Importer.ImportLive(
		ctx, c.Session, func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return row.ReadOn(name, io.NewSectionReader(f, mark.Offset, now.Size-mark.Offset),
				&mark, row.WithBeside(c.Path, func(st transcript.Step) error {
					st.Begins = "" // it began before
					return emit(st)
				}))
		})
	if errors.Is(err, transcript.ErrWhole) {
		return copied{}, false, nil
	}
	if err == nil {
		err = s.Importer.AddDrift(importer.DriftOf(row.Name, c.Path, &out))
	}
	now.Mark = mark
	done = report(out, false)
	done.session = c.Session
	return done, true, err
}

// begun reports whether the session of a copy is there. Before its first message nobody knows which
// session the transcript goes on with.
func (c *copiedFile) begun(s *session.Store) bool {
	view, err := s.Refs.Read()
	return err == nil && view.Get(history.RefName(c.Session, history.MainBranch)).Exists()
}

// endsAt reports whether the newest entry of the session is the message that the last copy ended
// with, where that matters to what follows.
func (c *copiedFile) endsAt(s *session.Store, source string) bool {
	if c.Mark.Last == "" {
		return true
	}
	view, err := s.Refs.Read()
	if err != nil {
		return false
	}
	for e, err := range s.History.Walk(
		view.Get(history.RefName(c.Session, history.MainBranch)).ID, history.WithJoined) {
		if err != nil || e.Source == nil || e.Source.Agent != source {
			return false
		}
		if !transcript.IsBeside(e.Source.Message) {
			return e.Source.Message == c.Mark.Last
		}
	}
	return false
}

// importWhole imports a transcript from its beginning. path is that of its file, or "". changed are
// the sessions that have something new. It leaves m where the transcript ended.
func importWhole(
	ctx context.Context, s *session.Store, row *catalog.Agent, path string, in io.Reader,
	m *transcript.Mark,
) (copied, []string, error) {
	name := ""
	if path != "" {
		name = row.NameOf(path)
	}
	text, packed, end, err := catalog.Text(in)
	if err != nil {
		return copied{whole: true}, nil, err
	}
	defer end()
	read := func(emit func(transcript.Step) error) (transcript.Stats, error) {
		emit = row.WithBeside(path, emit)
		if row.ReadOn != nil && text == in {
			stats, err := row.ReadOn(name, in, m, emit)
			row.Placed(path, &stats)
			return stats, err
		}
		stats, err := row.Read(name, text, emit) // it has no place to go on from
		row.Placed(path, &stats)
		if packed != nil {
			packed.CountIn(&stats)
		}
		return stats, err
	}
	out, err := s.Importer.ImportTranscript(ctx, read, "")
	if err == nil {
		err = s.Importer.NoteDrift(importer.DriftOf(row.Name, path, &out))
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
	own := h.event.Transcript
	if h.agent.Others != nil {
		return leftOver(h.s, own, h.agent.Others(own))
	}
	return leftOver(h.s, own, newestIn(filepath.Dir(own)))
}
