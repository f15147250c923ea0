package main

import (
	"context"
	"github.com/gemini-ctx/ctx/internal/history"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/session"
)

// firstTime is a pattern that finds the time that a transcript begins with: of a record, of a
// session of Gemini CLI, or of one of opencode, which counts milliseconds.
const firstTime = `"(?:timestamp|startTime)"\s*:\s*"([^"]{10,40})"|"created"\s*:\s*([0-9]{12,14})`

// maxTimeHead is how much of a transcript is read to find out when it begins. Before its first
// record with a time stand summaries of a line each.
const maxTimeHead = 1 << 20

// inOrderOfTime sorts transcripts by when they begin. One that does not say is taken to begin when
// its file was last changed.
func inOrderOfTime(list []found) {
	pattern := regexp.MustCompile(firstTime)
	when := map[string]time.Time{}
	for _, f := range list {
		when[f.file] = beginning(f.file, pattern)
	}
	slices.SortStableFunc(list, func(a, b found) int { return when[a.file].Compare(when[b.file]) })
}

// beginning is when a transcript begins; the zero time where nothing says it.
func beginning(file string, pattern *regexp.Regexp) time.Time {
	f, err := durable.Open(file)
	if err != nil {
		return time.Time{} // the import says why
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxTimeHead))
	if err != nil {
		return time.Time{}
	}
	if m := pattern.FindSubmatch(head); m != nil {
		if t, err := time.Parse(time.RFC3339Nano, string(m[1])); err == nil {
			return t
		}
		if ms, err := strconv.ParseInt(string(m[2]), 10, 64); err == nil {
			return time.UnixMilli(ms)
		}
	}
	if info, err := os.Stat(file); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// hasHEAD reports whether HEAD names a session.
func hasHEAD(s *session.Store) (bool, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return false, err
	}
	name := view.Get("HEAD").Name
	return name != "" && view.Get(history.RefName(name, history.MainBranch)).Exists(), nil
}

// useNewest has HEAD name the session in which something was said last. Of several it is the first
// in order.
func useNewest(c context.Context, s *session.Store, sessions []string) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	var newest time.Time
	named := ""
	for _, name := range sessions {
		if _, isChild, err := s.History.ParentOf(view, name); err != nil || isChild {
			if err != nil {
				return err
			}
			continue
		}
		tip := view.Get(history.RefName(name, history.MainBranch)).ID
		for e, err := range s.History.Walk(tip, history.WithJoined) {
			if err != nil {
				return err
			}
			if e.Kind != format.KindMessage {
				continue
			}
			if named == "" || e.Time.After(newest) {
				named, newest = name, e.Time
			}
			break
		}
	}
	if named == "" {
		return nil
	}
	return s.Conversation.Use(c, named)
}
