package main

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/lists"
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

// inOrderOfForks puts a transcript behind the one that it begins with a copy of. The files of each
// agent keep the places that all of them have.
func inOrderOfForks(
	files []string, agent func(file string) *catalog.Agent, path func(string) string,
) {
	places := map[string][]int{}
	for i, file := range files {
		if f := agent(file); f != nil && f.ForkOf != nil {
			places[f.Name] = append(places[f.Name], i)
		}
	}
	for _, at := range places {
		own := lists.Map(at, func(i int) string { return files[i] })
		for k, file := range agent(own[0]).Order(own, path) {
			files[at[k]] = file
		}
	}
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
