// Package markdown reads transcripts that are Markdown, written for people: a text that lines of a
// known form divide into turns. An agent is a form, which makes turns of lines. The package is
// pure: bytes in, values out; no clock, no environment, no files. Begin with form.
package markdown

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// form is where an agent puts what.
type form struct {
	agent string
	// turns divides a text. It sets the session and the version in the statistics, and returns nil
	// for a text that the agent has not written.
	turns func(text string, stats *transcript.Stats) []turn
	// parts makes parts of the text of a turn of the model, and of results that stand in it. name
	// is that of the turn, and no other one's.
	parts func(name, text string) (parts, results []json.RawMessage)
	marks *transcript.Voices
	// typed reports whether a text in the user's name is the person's, whatever marks it has; nil for
	// none.
	typed func(text string) bool
}

// turn is what somebody said at once.
type turn struct {
	role   string // of the transcript package; "" for a note
	author string
	thread string // of a subagent; "" is the main conversation
	when   time.Time
	lines  []string
}

// text returns the words of a turn, without empty lines at their ends; "" for none.
func (t *turn) text() string {
	text := strings.Trim(strings.Join(t.lines, "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// read reads a transcript whole: no line says where the last turn ends. A turn is named by its
// role, its time and its first line, so that one that has grown is a newer version of itself.
func (f *form) read(
	r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := transcript.NewFlat(f.agent, emit)
	nuls := &transcript.SpaceForNUL{R: r}
	b, err := io.ReadAll(nuls)
	if err != nil {
		return d.Stats, &transcript.ReadError{Err: err}
	}
	d.Stats.Skip(transcript.SkipNULRun, nuls.Runs)
	d.Stats.Bytes = int64(len(b))
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	text := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\r\n", "\n")
	list := f.turns(text, &d.Stats)
	if list == nil && strings.TrimSpace(text) != "" {
		d.Stats.Skip(transcript.SkipUnknown, 1)
	}
	for _, t := range list {
		said := t.text()
		switch {
		case said == "":
			continue
		case len(said) > transcript.MaxRecord:
			d.Stats.Skip(transcript.SkipLong, 1)
		default:
			if err := f.say(d, &t, said); err != nil {
				return d.Stats, err
			}
		}
		d.Stats.Records++
	}
	return d.Stats, nil
}

func (f *form) say(d *transcript.Flat, t *turn, said string) error {
	first, _, _ := strings.Cut(said, "\n")
	name := d.Names.Next("derived:" +
		transcript.Derive(16, t.role+t.thread, transcript.Stamp(t.when), first))
	d.Thread = t.thread
	m := transcript.Message{Origin: d.Origin(name), Role: t.role, Author: transcript.Fit(t.author),
		Time: t.when}
	parts := []json.RawMessage{transcript.TextPart(said, nil)}
	var results []json.RawMessage
	switch t.role {
	case "":
		m.Note, m.Role = true, transcript.RoleSystem
	case transcript.RoleModel:
		parts, results = f.parts(name, said)
	case transcript.RoleUser:
		if f.typed != nil && f.typed(said) {
			break
		}
		if parts, m.Note = transcript.Divide(f.agent, f.marks, parts); m.Note {
			m.Role = transcript.RoleSystem
		}
	}
	o := jsonvalue.NewObject("role", t.role, "text", said)
	if err := d.Say(o, m, parts, jsonvalue.Object{}); err != nil || results == nil {
		return err
	}
	m.Origin.Message, m.Role, m.Author = name+":results", transcript.RoleTool, ""
	return d.Say(o, m, results, jsonvalue.Object{})
}
