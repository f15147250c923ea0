package transcripts

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// recorder is what both writers have in common: ids, times, files, and the lines that were written.
type recorder struct {
	*script
	disk *disk
	n    int // ids that were given out
	now  time.Time
	out  bytes.Buffer
}

func newRecorder(s *script) *recorder {
	return &recorder{script: s, disk: newDisk(s), now: s.start}
}

// sum is a new id as hexadecimal digits.
func (r *recorder) sum() string {
	r.n++
	return fmt.Sprintf("%x", sha256.Sum256([]byte(r.id+"/"+strconv.Itoa(r.n))))
}

// uuid is a new id in the form of a random UUID.
func (r *recorder) uuid() string {
	s := r.sum()
	return s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-8" + s[17:20] + "-" + s[20:32]
}

// time is a little later than the last one.
func (r *recorder) time() string {
	// a prime, for pauses that differ
	r.now = r.now.Add(time.Duration(1900+r.n*7919%31000) * time.Millisecond)
	return r.now.UTC().Format("2006-01-02T15:04:05.000Z")
}

// record writes a line.
func (r *recorder) record(v any) {
	e := json.NewEncoder(&r.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("transcripts: " + err.Error()) // strings and maps can be encoded
	}
}

// span is what a read step names: a path, and lines of it.
func span(arg string) (path string, from, count int) {
	fields := strings.Fields(arg)
	count = 2000
	if len(fields) == 3 {
		from, _ = strconv.Atoi(fields[1])
		count, _ = strconv.Atoi(fields[2])
	}
	return fields[0], from, count
}

// search is what a search step names.
func search(arg string) (pattern, path string) {
	pattern, path, _ = strings.Cut(arg, " in ")
	return pattern, path
}

// todo is a line of a plan.
type todo struct{ text, state string }

func todos(body string) []todo {
	states := map[string]string{"[x]": "completed", "[>]": "in_progress", "[ ]": "pending"}
	var list []todo
	for line := range strings.SplitSeq(body, "\n") {
		if len(line) > 4 {
			list = append(list, todo{line[4:], states[line[:3]]})
		}
	}
	return list
}
