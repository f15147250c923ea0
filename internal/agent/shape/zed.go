package shape

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the text threads of Zed: one JSON object with a text, and where in it each
// message begins. zedthread.go reads those of agents. docs/agents/zed.md lists what becomes of a
// message.

// Zed is the Form of a thread.
func Zed() *Form { return &Form{Head: "version", Unfold: zedUnfold, Hidden: zedHidden} }

// zedSpan is a piece of the text, in bytes.
type zedSpan struct {
	from, to int
	kind     string // the type of its block
}

// zedUnfold makes a record of each message. A message is named by its place: a person may edit it.
func zedUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("messages")
	if !ok || doc.Text("zed") != "context" {
		return zedThread(doc, stats)
	}
	stats.Session = cmp.Or(doc.Text("id"), stats.Session)
	text := doc.Text("text")
	var spans []zedSpan
	for member, kind := range map[string]string{"thought_process_output_sections": "thinking",
		"slash_command_output_sections": "command"} {
		sections, _ := doc.Array(member)
		for _, raw := range sections {
			at := jsonvalue.AsObject(raw).Object("range")
			from, to := zedPlace(at, "start", text), zedPlace(at, "end", text)
			spans = append(spans, zedSpan{from, to, kind})
		}
	}
	slices.SortFunc(spans, func(x, y zedSpan) int { return x.from - y.from })
	head := jsonvalue.NewObject("version", doc.Text("version"))
	if title := doc.Text("summary"); title != "" {
		head.Set("title", title)
	}
	list := []jsonvalue.Object{head}
	for i, raw := range messages {
		m := jsonvalue.AsObject(raw)
		from, to := zedPlace(m, "start", text), len(text)
		if i+1 < len(messages) {
			to = max(from, zedPlace(jsonvalue.AsObject(messages[i+1]), "start", text))
		}
		o := jsonvalue.NewObject("id", "message-"+strconv.Itoa(i), "role",
			m.Object("metadata").Text("role"), "content", zedBlocks(text, from, to, spans))
		if status := m.Object("metadata")["status"]; len(status) > 0 && status[0] == '{' {
			o["status"] = status // an error
		}
		list = append(list, o)
	}
	return list
}

// zedPlace returns an offset in the text; its end for one that is outside of it.
func zedPlace(o jsonvalue.Object, member, text string) int {
	return int(min(o.Number(member), uint64(len(text))))
}

// zedBlocks divides a message. What a command put into it is no word of the person.
func zedBlocks(text string, from, to int, spans []zedSpan) (list []json.RawMessage) {
	add := func(at, end int, kind string) {
		said := strings.TrimSpace(strings.ToValidUTF8(text[at:end], ""))
		if said == "" {
			return
		}
		member := "text"
		if kind == "thinking" {
			member = kind
		}
		list = append(list, jsonvalue.Encode(jsonvalue.NewObject("type", kind, member, said)))
	}
	for _, s := range spans {
		if s.from < from || s.to > to || s.from >= s.to {
			continue
		}
		add(from, s.from, "text")
		add(s.from, s.to, s.kind)
		from = s.to
	}
	add(from, to, "text")
	return list
}
