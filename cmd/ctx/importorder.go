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
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// firstTime is a pattern that finds the time that a transcript begins with: of a record, of a session of
// Gemini CLI, or of one of opencode, which counts milliseconds.
const firstTime = `"(?:timestamp|startTime)"\s*:\s*"([^"]{10,40})"|"created"\s*:\s*([0-9]{12,14})`

// maxTimeHead is how much of a transcript is read to find out when it begins. Before its first record with a time stand summaries of a line each.
const maxTimeHead = 1 << 20

// inOrderOfTime sorts transcripts by when they begin. One that does not say is taken to begin when its file was last changed.
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
	f, err := lock.Open(file)
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
	return name != "" && view.Get(session.RefName(name, session.MainBranch)).Exists(), nil
}

// useNewest has HEAD name the session in which something was said last. Of several it is the first in order.
func useNewest(c context.Context, s *session.Store, sessions []string) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	var newest time.Time
	named := ""
	for _, name := range sessions {
		if _, isChild, err := s.ParentOf(view, name); err != nil || isChild {
			if err != nil {
				return err
			}
			continue
		}
		tip := view.Get(session.RefName(name, session.MainBranch)).ID
		err := s.Back(tip, func(_ format.ID, e *format.Entry) bool {
			if e.Kind != format.KindMessage {
				return true
			}
			if named == "" || e.Time.After(newest) {
				named, newest = name, e.Time
			}
			return false
		})
		if err != nil {
			return err
		}
	}
	if named == "" {
		return nil
	}
	return s.Use(c, named)
}

// parentsFirst puts a rollout of Codex after the one whose history it begins with, and changes the order of files no further.
func parentsFirst(a *app, files []string) []string {
	byID, parent := map[string]string{}, map[string]string{}
	for _, file := range files {
		if file == "-" {
			continue
		}
		meta := codexMeta(a.path(file))
		byID[meta.Text("id")] = file
		if parent[file] = meta.Text("forked_from_id"); parent[file] == "" {
			parent[file] = meta.Object("source").Object("subagent").Object("thread_spawn").Text("parent_thread_id")
		}
	}
	depth := func(file string) (n int) {
		for ; n <= len(files); n++ {
			up, ok := byID[parent[file]]
			if !ok || parent[file] == "" {
				return n
			}
			file = up
		}
		return 0 // a ring
	}
	out := slices.Clone(files)
	slices.SortStableFunc(out, func(x, y string) int { return depth(x) - depth(y) })
	return out
}
