package main

import (
	"context"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
)

// firstTime is a pattern that finds the first time in a transcript. opencode writes milliseconds.
const firstTime = `"(?:timestamp|startTime|created_at)"\s*:\s*"([^"]{10,40})"|"created"\s*:\s*([0-9]{12,14})`

// maxTimeHead is how many bytes of a transcript are searched for the first time. Long summaries may
// precede the first record with a time.
const maxTimeHead = 1 << 20

// inOrderOfTime sorts transcripts by their first time, or by the time of their files if they have
// none.
func inOrderOfTime(list []found) {
	pattern := regexp.MustCompile(firstTime)
	when := map[string]time.Time{}
	for _, f := range list {
		when[f.file] = beginning(f.file, pattern)
	}
	slices.SortStableFunc(list, func(a, b found) int { return when[a.file].Compare(when[b.file]) })
}

// beginning returns the first time of a transcript; the zero time if it is unknown.
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

// useNewest makes HEAD name the session with the newest message. It ignores child sessions, and
// prefers the first of several.
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
