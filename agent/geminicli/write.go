package geminicli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
)

// Agent is what the source of a message names that Gemini CLI wrote.
const Agent = "gemini-cli"

// WriteOptions are for NewWriter.
type WriteOptions struct {
	transcript.WriteOptions
	// Before stands for what was said before the first message: the agent takes it as a summary of its own. "" for nothing.
	Before string
}

// Writer writes messages as a transcript that `gemini --session-file` reads, oldest first. The same messages give the same bytes.
type Writer struct {
	out    *bufio.Writer
	o      WriteOptions
	begun  bool
	held   []*heldAnswer
	when   time.Time
	report transcript.Written
}

// heldAnswer is what the model said, with calls whose results are to come.
type heldAnswer struct {
	rec   transcript.Object
	calls []*heldCall
	notes []transcript.Object // said meanwhile
}

type heldCall struct {
	format.Call
	args   json.RawMessage
	result []json.RawMessage
	failed bool
	never  bool // nobody answers it
	when   time.Time
}

// NewWriter begins a transcript. Close ends it.
func NewWriter(w io.Writer, o WriteOptions) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, 64<<10), o: o, report: transcript.NewWritten()}
}

// ProjectHash is how Gemini CLI names a project's directory in a transcript.
func ProjectHash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// added marks a record, or a call's result, that stands for nothing that was said.
func added() json.RawMessage { return transcript.Encode(transcript.Hints{V: 1, Added: true}) }

// isAdded reports whether ctx put a record there that nobody said.
func isAdded(o object) bool {
	h := transcript.ReadHints(o[transcript.HintName])
	return h != nil && (h.Added || h.Gone != "")
}

// Add writes the next message.
func (w *Writer) Add(it transcript.Item) error {
	m := &it.Message
	w.when = m.Time
	w.begin()
	switch {
	case m.Note:
		w.note(&it)
		return nil
	case m.Gone != "":
		w.report.Changed["forgotten"]++
		w.flush(m.Role == transcript.RoleModel)
		rec := w.recordOf(&it, kindOf(m))
		rec["content"] = textContent(transcript.GoneText)
		rec.Set(transcript.HintName, transcript.Hints{V: 1, Gone: m.Gone})
		w.write(rec)
	case m.Role == transcript.RoleModel:
		if !w.waits() {
			w.flush(true)
		}
		w.model(&it)
	case w.answers(m):
	default:
		w.flush(false)
		w.user(&it)
	}
	w.report.Count(m)
	return nil
}

func kindOf(m *transcript.Message) string {
	if m.Role == transcript.RoleModel {
		return "gemini"
	}
	return "user"
}

func textContent(s string) json.RawMessage {
	return transcript.Array([]json.RawMessage{transcript.TextPart(s, nil)})
}

// begin writes the header, and what stands for the past.
func (w *Writer) begin() {
	if w.begun {
		return
	}
	w.begun = true
	head := transcript.Object{}
	head.Set("sessionId", w.o.Session)
	head.Set("projectHash", ProjectHash(w.o.Dir))
	head.Set("startTime", transcript.Stamp(w.when))
	head.Set("lastUpdated", transcript.Stamp(w.o.Now))
	head.Set("kind", "main")
	w.line(head.Ordered("sessionId", "projectHash", "startTime", "lastUpdated", "kind"))
	if w.o.Before == "" {
		return
	}
	rec := transcript.Object{}
	rec.Set("id", transcript.Derive(32, "before", w.o.Session, w.o.Before))
	rec.Set("timestamp", transcript.Stamp(w.when))
	rec.Set("type", "user")
	rec["content"] = textContent("<state_snapshot>\n" + strings.ReplaceAll(w.o.Before, "</state_snapshot>", "<\\/state_snapshot>") + "\n</state_snapshot>")
	rec[transcript.HintName] = added()
	w.write(rec)
}

// entryDigits is how many digits of an entry's id go into the id of its record, and KnownDigits how many of them stand at its beginning as they are.
const (
	entryDigits = 32
	KnownDigits = 12
)

// EntryID is the id of the record of an entry that another agent, or a store, had first. Gemini CLI keeps it, whatever else it drops: by it an import knows the
// entry again.
func EntryID(entry string) string {
	return entry[:8] + "-" + entry[8:12] + "-8" + entry[13:16] + "-8" + entry[17:20] + "-" + entry[20:32]
}

// recordOf is a record without its content.
func (w *Writer) recordOf(it *transcript.Item, kind string) transcript.Object {
	m := &it.Message
	rec := transcript.Object{}
	id := m.Origin.Message
	if m.Origin.Agent != Agent {
		id = transcript.UUID(Agent, m.Origin.Agent, m.Origin.Session, m.Origin.Message)
		if len(it.Entry) >= entryDigits {
			id = EntryID(it.Entry)
		}
	}
	rec.Set("id", id)
	rec.Set("timestamp", transcript.Stamp(m.Time))
	rec.Set("type", kind)
	return rec
}

// note writes what was said about the conversation. The agent shows it, and no model sees it.
func (w *Writer) note(it *transcript.Item) {
	rec := w.recordOf(it, "info")
	text := transcript.Words(&it.Message)
	if it.Gone != "" {
		text = transcript.GoneText
		rec.Set(transcript.HintName, transcript.Hints{V: 1, Gone: it.Gone})
	}
	if text == "" {
		w.report.Left["notes without words"]++
		return
	}
	rec["content"] = contentOf(&it.Message, text)
	w.report.Count(&it.Message)
	if n := len(w.held); n > 0 {
		w.held[n-1].notes = append(w.held[n-1].notes, rec)
		return
	}
	w.write(rec)
}

// contentOf is the content of a message that has no calls: its text, or those of its parts that Gemini CLI knows.
func contentOf(m *transcript.Message, text string) json.RawMessage {
	if m.Parts == nil || m.Gone != "" {
		return textContent(text)
	}
	var list []json.RawMessage
	for _, p := range transcript.PartsOf(m) {
		if p.Kind != transcript.PartHidden {
			list = append(list, bare(p))
		}
	}
	return transcript.Array(list)
}

// bare is a part without what another agent keeps in it.
func bare(p transcript.Part) json.RawMessage {
	if p.Body == nil {
		return p.Raw
	}
	out := transcript.Object{}
	changed := false
	for name, value := range p.Body {
		if of, _ := transcript.TraitsOf(name); of.Keeps {
			changed = true
		} else {
			out[name] = value
		}
	}
	if !changed {
		return p.Raw
	}
	return transcript.Encode(out)
}

// user writes what a person said, or a result that no call of the answer before it asked for.
func (w *Writer) user(it *transcript.Item) {
	m := &it.Message
	rec := w.recordOf(it, "user")
	if m.Parts == nil && len(m.Results) > 0 {
		var list []json.RawMessage
		for _, p := range transcript.PartsOf(m) {
			list = append(list, p.Raw)
		}
		rec["content"] = transcript.Array(list)
	} else {
		rec["content"] = contentOf(m, m.Text)
	}
	text := strings.TrimSpace(transcript.Words(m))
	if it.Orphan {
		w.report.Changed["results without a call"]++
	} else if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?") {
		w.report.Changed["commands, which no model sees"]++
	}
	w.write(rec)
}

// model begins an answer.
func (w *Writer) model(it *transcript.Item) {
	m := &it.Message
	rec := w.recordOf(it, "gemini")
	if m.Author != "" {
		rec.Set("model", m.Author)
	}
	if m.Tokens > 0 {
		rec.Set("tokens", map[string]uint64{"input": 0, "output": m.Tokens, "cached": 0, "total": m.Tokens})
	}
	var thoughts, content, inOrder []json.RawMessage
	held := &heldAnswer{rec: rec}
	trailing, leading := true, true
	for _, p := range transcript.PartsOf(m) {
		switch p.Kind {
		case transcript.PartHidden:
			if p.Text == "" {
				continue
			}
			if leading {
				thoughts = append(thoughts, thoughtOf(p.Text, transcript.Stamp(m.Time)))
			}
			inOrder = append(inOrder, transcript.ThoughtPart(p.Text, nil))
			trailing = trailing && leading
		case transcript.PartCall:
			held.calls = append(held.calls, &heldCall{Call: format.Call{ID: p.ID, Tool: p.Tool}, args: p.Args, when: m.Time})
			inOrder = append(inOrder, bare(p))
			leading = false
		default:
			trailing = trailing && len(held.calls) == 0
			leading = false
			content = append(content, bare(p))
			inOrder = append(inOrder, bare(p))
		}
	}
	switch {
	case !trailing:
		rec["content"] = transcript.Array(inOrder)
	case m.Parts == nil && len(m.Calls) == 0:
		rec.Set("content", m.Text)
	case len(content) == 0:
		rec.Set("content", "")
	default:
		rec["content"] = transcript.Array(content)
	}
	if trailing && len(thoughts) > 0 {
		rec["thoughts"] = transcript.Array(thoughts)
	}
	for _, c := range held.calls {
		c.never = slices.Contains(it.Open, c.ID)
	}
	if len(held.calls) > 0 || len(w.held) > 0 {
		w.held = append(w.held, held)
		return
	}
	w.write(rec)
}

// waits reports whether a result is to come of what is held: other agents make several calls in several messages before the first result.
func (w *Writer) waits() bool {
	return slices.ContainsFunc(w.held, func(h *heldAnswer) bool {
		return slices.ContainsFunc(h.calls, func(c *heldCall) bool { return c.result == nil && !c.never })
	})
}

// thoughtOf takes a thought apart as the agent has it: a subject in bold, and what follows.
func thoughtOf(text, when string) json.RawMessage {
	o := transcript.Object{}
	subject, description := "", text
	if rest, ok := strings.CutPrefix(text, "**"); ok {
		if s, d, ok := strings.Cut(rest, "** "); ok && s != "" && d != "" {
			subject, description = s, d
		} else if s, ok := strings.CutSuffix(rest, "**"); ok && s != "" && !strings.Contains(s, "** ") {
			subject, description = s, ""
		}
	}
	o.Set("subject", subject)
	o.Set("description", description)
	o.Set("timestamp", when)
	return o.Ordered("subject", "description", "timestamp")
}

// answers takes results to the calls of the answer that is held, if that is all a message has.
func (w *Writer) answers(m *transcript.Message) bool {
	if len(w.held) == 0 || len(m.Results) == 0 || len(m.Calls) > 0 || m.Role != transcript.RoleTool {
		return false
	}
	parts := transcript.PartsOf(m)
	if len(parts) == 0 || parts[0].Kind != transcript.PartResult {
		return false
	}
	for _, p := range parts {
		if p.Kind == transcript.PartResult && w.open(p.ID) == nil {
			return false
		}
	}
	var to *heldCall
	for _, p := range parts {
		switch p.Kind {
		case transcript.PartHidden:
		case transcript.PartResult:
			to = w.open(p.ID)
			_, to.failed = p.Said()
			to.when = m.Time
			to.result = append(to.result, bare(p))
		default:
			to.result = append(to.result, bare(p))
		}
	}
	return true
}

// open is a call that waits for its result; nil for none.
func (w *Writer) open(id string) *heldCall {
	for _, h := range slices.Backward(w.held) {
		if i := slices.IndexFunc(h.calls, func(c *heldCall) bool { return c.ID == id && c.result == nil }); i >= 0 {
			return h.calls[i]
		}
	}
	return nil
}

// flush writes the answers that are held. goesOn says that the model speaks next: where it does not, the agent wants to hear something of it after a
// result, and would put words of its own there.
func (w *Writer) flush(goesOn bool) {
	held := w.held
	w.held = nil
	for _, h := range held {
		w.answer(h)
	}
	if len(held) == 0 || goesOn || len(held[len(held)-1].calls) == 0 {
		return
	}
	last := held[len(held)-1].rec
	rec := transcript.Object{}
	rec.Set("id", transcript.UUID(Agent, "after", last.Text("id")))
	rec["timestamp"] = last["timestamp"]
	rec.Set("type", "gemini")
	rec.Set("content", cannedInterruption)
	rec[transcript.HintName] = added()
	w.write(rec)
	w.report.Changed["answers that end with a result"]++
}

// answer writes an answer with the results of its calls, and an error for each that has none.
func (w *Writer) answer(h *heldAnswer) {
	var list []json.RawMessage
	for _, c := range h.calls {
		o := transcript.Object{}
		o.Set("id", c.ID)
		o.Set("name", c.Tool)
		o["args"] = c.args
		o.Set("timestamp", transcript.Stamp(c.when))
		o.Set("status", "success")
		if c.failed {
			o.Set("status", "error")
		}
		if c.result == nil {
			o.Set("status", "cancelled")
			o[transcript.HintName] = added()
			c.result = []json.RawMessage{transcript.ResultPart(c.ID, c.Tool, transcript.Encode(map[string]string{"error": transcript.NoResult}), nil)}
			w.report.Changed["calls answered with an error"]++
		}
		o["result"] = transcript.Array(c.result)
		list = append(list, o.Ordered("id", "name", "args", "status", "timestamp", "result"))
	}
	if len(list) > 0 {
		h.rec["toolCalls"] = transcript.Array(list)
	}
	w.write(h.rec)
	for _, rec := range h.notes {
		w.write(rec)
	}
}

func (w *Writer) write(rec transcript.Object) {
	w.line(rec.Ordered("id", "timestamp", "type", "content", "thoughts", "tokens", "model", "toolCalls"))
	w.report.Records++
}

func (w *Writer) line(raw json.RawMessage) {
	_, _ = w.out.Write(raw)
	_ = w.out.WriteByte('\n') // the first error is kept, and Close returns it
}

// Close writes what is left, and returns what was written, or the first error that writing met.
func (w *Writer) Close() (transcript.Written, error) {
	w.begin()
	w.flush(false)
	return w.report, w.out.Flush()
}
