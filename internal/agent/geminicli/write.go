package geminicli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// writer is the codec of transcripts.
type writer struct {
	*transcript.Output
	of   string // the session of the store
	held []*heldAnswer
}

// heldAnswer is an answer of the model whose calls wait for their results.
type heldAnswer struct {
	of    *transcript.Message
	rec   jsonvalue.Object
	calls []*heldCall
	notes []jsonvalue.Object // that came meanwhile
	// after is what the model said behind the results of calls that its provider carried out
	after []json.RawMessage
}

type heldCall struct {
	format.Call
	args   json.RawMessage
	result []json.RawMessage
	of     *transcript.Message // that the result is in
	last   bool                // of the calls that the message answers
	failed bool
	never  bool // nobody answers it
	when   time.Time
}

// NewWriter begins a transcript that `gemini --session-file` reads.
func NewWriter(w io.Writer, o transcript.WriteOptions) transcript.Writer {
	return transcript.NewWriter(w, o,
		func(out *transcript.Output) transcript.Codec {
			c := &writer{Output: out}
			if o.Home != nil {
				c.of = o.Home.Session
			}
			return c
		})
}

// ProjectHash returns the name of a project's directory in a transcript of Gemini CLI.
func ProjectHash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// isAdded reports whether an export added a record, or a call's result, that nobody said.
func isAdded(o jsonvalue.Object) bool {
	h := transcript.ReadHints(o[transcript.HintName])
	return h != nil && (h.Added || h.Gone != "")
}

// isStandIn reports whether a message is one that an export added, where the agent did not keep the
// hint that says so.
func isStandIn(id string, parts []part) bool {
	return transcript.IsEntryUUID(id) &&
		(isSnapshot(parts, false) || len(parts) == 1 && parts[0].Text == cannedInterruption)
}

// Message writes a message, or holds it back until the results of its calls have come.
func (w *writer) Message(it *transcript.Item) bool {
	m := &it.Message
	switch {
	case m.Note:
		return w.note(it)
	case m.Gone != "":
		text, _ := w.StandIn(it)
		w.flush(m.Role == transcript.RoleModel)
		rec := w.recordOf(it, kindOf(m))
		rec["content"] = textContent(text)
		rec.Set(transcript.HintName, transcript.Hints{V: 1, Gone: m.Gone})
		w.write(rec)
	case m.Role == transcript.RoleModel:
		if !w.waits() {
			w.flush(true)
		}
		w.model(it)
	case w.answers(m):
	default:
		w.flush(false)
		w.user(it)
	}
	return true
}

func kindOf(m *transcript.Message) string {
	if m.Role == transcript.RoleModel {
		return "gemini"
	}
	return "user"
}

func textContent(s string) json.RawMessage {
	return jsonvalue.Array([]json.RawMessage{transcript.TextPart(s, nil)})
}

// Begin writes the header, and what stands for the conversation before the first message.
func (w *writer) Begin(first *transcript.Item) {
	start := transcript.Stamp(time.Time{})
	if first != nil {
		start = transcript.Stamp(first.Time)
	}
	head := jsonvalue.NewObject("sessionId", w.Session, "projectHash", ProjectHash(w.Dir),
		"startTime", start, "lastUpdated", transcript.Stamp(w.Now), "kind", "main")
	w.Line(head.Ordered("sessionId", "projectHash", "startTime", "lastUpdated", "kind"))
	if w.Before == "" {
		return
	}
	text := "<state_snapshot>\n" +
		strings.ReplaceAll(w.Before, "</state_snapshot>", "<\\/state_snapshot>") +
		"\n</state_snapshot>"
	w.write(jsonvalue.NewObject("id", transcript.UUID(Agent, "before", w.Session, w.Before),
		"timestamp", start, "type", "user",
		"content", textContent(text), transcript.HintName, transcript.Added()))
}

// recordOf returns a record without its content. A message of the session that is written keeps its
// id. Any other one has an id that tells its entry: the agent keeps ids, and nothing else that is
// sure to tell where a message comes from.
func (w *writer) recordOf(it *transcript.Item, kind string) jsonvalue.Object {
	m := &it.Message
	id := m.Origin.Message
	if !w.own(m) {
		id = cmp.Or(transcript.EntryUUID(it.Entry, w.of),
			transcript.UUID(Agent, m.Origin.Agent, m.Origin.Session, m.Origin.Message))
	}
	return jsonvalue.NewObject("id", id, "timestamp", transcript.Stamp(m.Time), "type", kind)
}

// own reports whether a message was said in the session that is written.
func (w *writer) own(m *transcript.Message) bool {
	return m.Origin.Agent == Agent && m.Origin.Session == w.Session
}

// hint adds to a record of one message, which was said elsewhere, what makes that message of it.
func (w *writer) hint(rec jsonvalue.Object, m *transcript.Message) {
	if got := w.decode(rec); len(got) == 1 && !w.own(m) && !rec.Has(transcript.HintName) {
		rec.Set(transcript.HintName, transcript.Diff(m, &got[0]))
	}
}

// decode returns the messages that a reader makes of a record.
func (w *writer) decode(rec jsonvalue.Object) (list []transcript.Message) {
	s := newReplay(func(st transcript.Step) error {
		list = append(list, st.Message)
		return nil
	})
	s.stats.Session = w.Session
	_ = s.message(rec, false, s.derived) // no step fails
	return list
}

// note writes a note. The agent shows it, and no model sees it.
func (w *writer) note(it *transcript.Item) bool {
	rec := w.recordOf(it, "info")
	text := transcript.Words(&it.Message)
	kept := transcript.KeptIn(Agent, &it.Message)
	switch {
	case it.Gone != "":
		text, kept = transcript.GoneText, nil
		rec.Set(transcript.HintName, transcript.Hints{V: 1, Gone: it.Gone})
	case kept.Has("type"): // a record of a kind that is not known, as it was
		maps.Copy(rec, kept)
	case len(kept) > 0: // an operation: it has no name
		rec = kept
	case text == "":
		w.Report.Left["notes without words"]++
		return false
	}
	if text != "" {
		rec["content"] = w.contentOf(&it.Message, text)
	}
	w.hint(rec, &it.Message)
	if n := len(w.held); n > 0 {
		w.held[n-1].notes = append(w.held[n-1].notes, rec)
	} else {
		w.write(rec)
	}
	return true
}

// contentOf returns the content of a message without calls: its text, or the parts that are not
// hidden.
func (w *writer) contentOf(m *transcript.Message, text string) json.RawMessage {
	if m.Parts == nil || m.Gone != "" {
		return textContent(text)
	}
	var list []json.RawMessage
	for _, p := range transcript.PartsOf(m) {
		switch {
		case transcript.IsPiece(Agent, p.Body):
			list = append(list, p.Raw)
		case p.Kind != transcript.PartHidden:
			list = append(list, w.bare(p))
		}
	}
	return jsonvalue.Array(transcript.Joined(Agent, list))
}

// bare returns a part without the members that other agents keep in it.
func (w *writer) bare(p transcript.Part) json.RawMessage {
	out := w.Plain(p.Body)
	if len(out) == len(p.Body) {
		return p.Raw
	}
	return jsonvalue.Encode(out)
}

// user writes a message of a person, or a result that the held answers have no call for.
func (w *writer) user(it *transcript.Item) {
	m := &it.Message
	rec := w.recordOf(it, "user")
	if m.Parts == nil && len(m.Results) > 0 {
		list := lists.Map(transcript.PartsOf(m), func(p transcript.Part) json.RawMessage {
			return p.Raw
		})
		rec["content"] = jsonvalue.Array(list)
	} else {
		rec["content"] = w.contentOf(m, m.Text)
	}
	text := strings.TrimSpace(transcript.Words(m))
	if it.Orphan {
		w.Report.Changed[transcript.ChangedOrphans]++
	} else if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?") {
		w.Report.Changed["commands, which no model sees"]++
	}
	w.hint(rec, m)
	w.write(rec)
}

// model begins an answer.
func (w *writer) model(it *transcript.Item) {
	m := &it.Message
	rec := w.recordOf(it, "gemini")
	if m.Author != "" {
		rec.Set("model", m.Author)
	}
	if m.Tokens > 0 {
		rec.Set("tokens",
			map[string]uint64{"input": 0, "output": m.Tokens, "cached": 0, "total": m.Tokens})
	}
	var thoughts, content, inOrder []json.RawMessage
	held := &heldAnswer{of: m, rec: rec}
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
		case transcript.PartResult:
			if c := held.open(p.ID); c != nil { // the provider carried it out
				_, c.failed = p.Said()
				c.of, c.result = m, append(c.result, w.bare(p))
				continue
			}
			inOrder, trailing = append(inOrder, w.bare(p)), false
		case transcript.PartCall:
			held.calls = append(held.calls,
				&heldCall{Call: format.Call{ID: p.ID, Tool: p.Tool}, args: p.Args, when: m.Time})
			inOrder = append(inOrder, w.bare(p))
			leading = false
		default:
			if n := len(held.calls); n > 0 && held.calls[n-1].result != nil {
				held.after = append(held.after, w.bare(p))
				continue
			}
			trailing = trailing && len(held.calls) == 0
			leading = false
			content = append(content, w.bare(p))
			inOrder = append(inOrder, w.bare(p))
		}
	}
	switch {
	case !trailing:
		rec["content"] = jsonvalue.Array(inOrder)
	case m.Parts == nil && len(m.Calls) == 0:
		rec.Set("content", m.Text)
	case len(content) == 0:
		rec.Set("content", "")
	default:
		rec["content"] = jsonvalue.Array(content)
	}
	if trailing && len(thoughts) > 0 {
		rec["thoughts"] = jsonvalue.Array(thoughts)
	}
	for _, c := range held.calls {
		c.never = slices.Contains(it.Open, c.ID)
	}
	if len(held.calls) > 0 || len(w.held) > 0 {
		w.held = append(w.held, held)
		return
	}
	w.hint(rec, m)
	w.write(rec)
}

// waits reports whether a held call waits for its result. Other agents may make calls in several
// messages before the first result.
func (w *writer) waits() bool {
	return slices.ContainsFunc(w.held, func(h *heldAnswer) bool {
		return slices.ContainsFunc(h.calls,
			func(c *heldCall) bool { return c.result == nil && !c.never })
	})
}

// thoughtOf returns a thought as the agent has it: with a subject, which is in bold in the text.
func thoughtOf(text, when string) json.RawMessage {
	subject, description := "", text
	if rest, ok := strings.CutPrefix(text, "**"); ok {
		if s, d, ok := strings.Cut(rest, "** "); ok && s != "" && d != "" {
			subject, description = s, d
		} else if s, ok := strings.CutSuffix(rest, "**"); ok && s != "" &&
			!strings.Contains(s, "** ") {
			subject, description = s, ""
		}
	}
	o := jsonvalue.NewObject("subject", subject, "description", description, "timestamp", when)
	return o.Ordered("subject", "description", "timestamp")
}

// answers adds the results of a message to the held calls. It returns false, and adds nothing, if
// the message is anything but results of held calls.
func (w *writer) answers(m *transcript.Message) bool {
	if len(w.held) == 0 || len(m.Results) == 0 || len(m.Calls) > 0 ||
		m.Role != transcript.RoleTool {
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
			if to != nil {
				to.last = false
			}
			to = w.open(p.ID)
			_, to.failed = p.Said()
			to.of, to.last, to.when = m, true, m.Time
			to.result = append(to.result, w.bare(p))
		default:
			to.result = append(to.result, w.bare(p))
		}
	}
	return true
}

// open returns the held call that waits for a result; nil for none.
func (w *writer) open(id string) *heldCall {
	for _, h := range slices.Backward(w.held) {
		if c := h.open(id); c != nil {
			return c
		}
	}
	return nil
}

func (h *heldAnswer) open(id string) *heldCall {
	if i := slices.IndexFunc(h.calls,
		func(c *heldCall) bool { return c.ID == id && c.result == nil }); i >= 0 {
		return h.calls[i]
	}
	return nil
}

// flush writes the held answers. goesOn says that the model speaks next. If it does not, flush adds
// the words that the agent itself would put after a last result.
func (w *writer) flush(goesOn bool) {
	held := w.held
	w.held = nil
	for _, h := range held {
		w.answer(h)
	}
	if len(held) == 0 || goesOn {
		return
	}
	last := held[len(held)-1]
	if len(last.calls) == 0 || len(last.after) > 0 {
		return
	}
	w.goOn(last.rec, cannedInterruption)
	w.Report.Changed["answers that end with a result"]++
}

// goOn writes what the model says after the results of an answer.
func (w *writer) goOn(of jsonvalue.Object, content any) {
	w.write(jsonvalue.NewObject("id", transcript.UUID(Agent, "after", of.Text("id")), "timestamp",
		of["timestamp"], "type", "gemini", "content", content,
		transcript.HintName, transcript.Added()))
}

// answer writes an answer with the results of its calls, and an error for each that has none.
func (w *writer) answer(h *heldAnswer) {
	var calls []jsonvalue.Object
	for _, c := range h.calls {
		o := jsonvalue.NewObject("id", c.ID, "name", c.Tool, "args", c.args, "timestamp",
			transcript.Stamp(c.when), "status", "success")
		if c.failed {
			o.Set("status", "error")
		}
		if c.result == nil {
			o.Set("status", "cancelled")
			o.Set(transcript.HintName, transcript.Added())
			c.result = []json.RawMessage{transcript.ResultPart(c.ID, c.Tool,
				jsonvalue.Encode(map[string]string{"error": transcript.NoResult}), nil)}
			w.Report.Changed[transcript.ChangedCalls]++
		}
		o["result"] = jsonvalue.Array(c.result)
		calls = append(calls, o)
	}
	setCalls(h.rec, calls)
	w.hintAnswer(h, calls)
	w.write(h.rec)
	if len(h.after) > 0 {
		w.goOn(h.rec, h.after)
	}
	for _, rec := range h.notes {
		w.write(rec)
	}
}

func setCalls(rec jsonvalue.Object, calls []jsonvalue.Object) {
	list := lists.Map(calls, func(o jsonvalue.Object) json.RawMessage {
		return o.Ordered("id", "name", "args", "status", "timestamp", "result")
	})
	if len(list) > 0 {
		rec["toolCalls"] = jsonvalue.Array(list)
	}
}

// hintAnswer is hint for an answer, and for the messages of which it has the results. A message
// with several of them is that of the last one.
func (w *writer) hintAnswer(h *heldAnswer, calls []jsonvalue.Object) {
	got := w.decode(h.rec)
	for i, c := range h.calls {
		at := slices.IndexFunc(got, func(m transcript.Message) bool {
			return len(m.Calls) == 0 && slices.Contains(m.Results, transcript.Fit(c.ID))
		})
		switch {
		case c.of == nil || at < 0 || w.own(c.of):
		case c.last:
			calls[i].Set(transcript.HintName, transcript.Diff(c.of, &got[at]))
		default:
			calls[i].Set(transcript.HintName, transcript.Added())
		}
	}
	setCalls(h.rec, calls)
	if len(got) > 0 && !w.own(h.of) {
		h.rec.Set(transcript.HintName, transcript.Diff(h.of, &got[0]))
	}
}

func (w *writer) write(rec jsonvalue.Object) {
	if home := w.TakeHome(); home != nil {
		h := transcript.ReadHints(rec[transcript.HintName])
		if h == nil {
			h = &transcript.Hints{V: 1}
		}
		as := *home
		as.As = w.Session
		h.Home = &as
		rec.Set(transcript.HintName, h)
	}
	w.Record(rec.Ordered("id", "timestamp", "type", "content", "thoughts", "tokens",
		"model", "toolCalls"))
}

// End writes the answers that are held back.
func (w *writer) End() { w.flush(false) }
