package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// maxTimeTail is how many bytes at the end of a transcript are searched for its newest time. A
// record with a long output may be the last one.
const maxTimeTail = 256 << 10

// timeFields are the fields of records that have a time: as text, or in milliseconds. The first one
// that the end of a transcript has counts.
var timeFields = [...]string{`"timestamp"`, `"created_at"`, `"lastUpdated"`,
	`"updated"`, `"created"`}

// inOrderOfTime sorts transcripts by the time of their newest message, as far as the ends of the
// files tell it, or else by the time of the files.
func inOrderOfTime(list []found) {
	when := make(map[string]time.Time, len(list))
	for _, f := range list {
		if f.listed != nil {
			when[f.file] = time.UnixMilli(f.listed.Updated)
			continue
		}
		when[f.file] = ending(f.file)
	}
	slices.SortStableFunc(list, func(a, b found) int { return when[a.file].Compare(when[b.file]) })
}

// ending returns the newest time of a transcript; the zero time if the file cannot be read.
func ending(file string) time.Time {
	f, err := durable.Open(file)
	if err != nil {
		return time.Time{} // the import says why
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}
	}
	for _, most := range []int64{endBytes, maxTimeTail} {
		n := min(info.Size(), most)
		tail := make([]byte, n)
		if _, err := io.ReadFull(io.NewSectionReader(f, info.Size()-n, n), tail); err != nil {
			return time.Time{}
		}
		if t := newestTime(tail); !t.IsZero() {
			return t
		}
		if n == info.Size() {
			break
		}
	}
	return info.ModTime()
}

// newestTime returns the last time in the end of a transcript; zero if there is none.
func newestTime(tail []byte) time.Time {
	for _, field := range timeFields {
		for end := len(tail); end > 0; {
			at := bytes.LastIndex(tail[:end], []byte(field))
			if at < 0 {
				break
			}
			if t := timeValue(tail[at+len(field):]); !t.IsZero() {
				return t
			}
			end = at
		}
	}
	return time.Time{}
}

// timeValue parses what follows the name of a field: a colon, and a time.
func timeValue(b []byte) time.Time {
	b, ok := bytes.CutPrefix(bytes.TrimLeft(b[:min(len(b), 64)], " \t"), []byte(":"))
	if !ok {
		return time.Time{}
	}
	b = bytes.TrimLeft(b, " \t")
	if text, ok := bytes.CutPrefix(b, []byte(`"`)); ok {
		text, _, _ = bytes.Cut(text, []byte(`"`))
		t, err := time.Parse(time.RFC3339Nano, string(text))
		if err != nil {
			return time.Time{}
		}
		return t
	}
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	if ms, err := strconv.ParseInt(string(b[:n]), 10, 64); err == nil && n >= 12 && n <= 14 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}

// useNewest makes HEAD name the session with the newest message, unless somebody wants another one:
// HEAD stays where `ctx session use` has put it, if that was not the newest session before the
// import, either.
func useNewest(c context.Context, s *session.Store, before *refs.View) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	newest, err := s.Recall.NewestSession(view)
	if err != nil || newest == "" || newest == view.Get("HEAD").Name {
		return err
	}
	if follows, err := headFollows(s, before); err != nil || !follows {
		return err
	}
	return s.Conversation.Use(c, newest)
}

// headFollows reports whether HEAD names the newest session of a view, or one that nobody chose.
func headFollows(s *session.Store, view *refs.View) (bool, error) {
	head := view.Get("HEAD").Name
	if head == "" || !view.Get(history.RefName(head, history.MainBranch)).Exists() {
		return true, nil
	}
	newest, err := s.Recall.NewestSession(view)
	if err != nil || newest == head {
		return err == nil, err
	}
	chosen := false
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			if u.Name == "HEAD" {
				chosen = r.Op.Verb == refs.VerbSessionUse
				return false
			}
		}
		return true
	})
	return !chosen, err
}
