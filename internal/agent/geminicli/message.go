package geminicli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// record is a message record with its id settled.
type record struct {
	jsonvalue.Object
	physical string // the id that a rewind would name
	id       string // the key: physical, or the id of the message that this one repeats
	kind     string // "user", "gemini", "info", …
	hints    *transcript.Hints
	fromSet  bool
}

// timeIn returns the time that a record names.
func timeIn(o jsonvalue.Object) time.Time {
	t, _ := transcript.TimeOf(o["timestamp"])
	return t
}

// hintsOf returns the hints of a record or a call, if an export made the transcript. An agent that
// goes on from an export copies records into a session of its own, most with their hints: what is
// known of them their ids tell, as they do of other copies.
func (s *replay) hintsOf(o jsonvalue.Object) *transcript.Hints {
	h := transcript.ReadHints(o[transcript.HintName])
	if h != nil && h.Home != nil && h.Home.As == s.stats.Session {
		s.stats.ReadHome(h)
	}
	if s.stats.Home == nil {
		return nil
	}
	return h
}

// message applies one message record. counts numbers the equal records without an id: in the whole
// transcript for lines, in one list for copies.
func (s *replay) message(o jsonvalue.Object, fromSet bool, counts transcript.Names) error {
	r := record{Object: o, kind: recordKind(o), fromSet: fromSet, hints: s.hintsOf(o)}
	parts := parseContent(o["content"])
	if isAdded(o) || isStandIn(o.Text("id"), parts) {
		return nil // an export put it there, and nobody said it
	}
	if !isKnown(r.kind) {
		rest := o.Without("id", "timestamp", "content", transcript.HintName)
		if len(rest.Without("type")) > 0 {
			parts = appendPart(parts, transcript.Kept(Agent, rest))
		}
	}
	r.id = o.Text("id")
	if r.id == "" {
		s.back = true
		r.id = counts.Next(derive("message", r.kind, o.Text("timestamp"),
			string(normalParts(parts))))
	}
	r.physical = r.id
	if key, ok := s.restore.alias[r.id]; ok {
		r.id, r.fromSet = key, true
	}
	s.meet(r.physical)
	s.view.add(r.physical)
	afterSnapshot := s.afterSnapshot
	s.afterSnapshot = false
	switch r.kind {
	case "user":
		return s.userMessage(r, parts)
	case "gemini":
		return s.modelMessage(r, parts, afterSnapshot)
	case "info":
		if isImportNotice(r.id, parts) {
			s.stats.Pass(passedNotice)
			return nil
		}
	case "error", "warning":
	case "":
		s.stats.Skip(transcript.SkipUnknown, 1)
		if len(parts) == 0 {
			return nil
		}
	default:
		if s.chain.current[r.id] == nil { // lists and later versions repeat it
			s.stats.Kept[transcript.Fit(r.kind)]++
		}
	}
	return s.offerAs(true, transcript.RoleSystem, r, parts)
}

// isKnown reports whether a kind of record is one whose members this reader understands, or none.
func isKnown(kind string) bool {
	return slices.Contains([]string{"", "user", "gemini", "info", "error", "warning"}, kind)
}

// isImportNotice reports whether a record is the agent's remark that --session-file brought the
// messages after it. It is the first record of the session then, and nobody said it: with it, the
// copy would not begin as the session does that it goes on with.
func isImportNotice(id string, parts []part) bool {
	digits, ok := strings.CutPrefix(id, "import-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == "" &&
		len(parts) == 1 && strings.HasPrefix(parts[0].Text, "Imported session from ")
}

// offerAs offers the record's own message.
func (s *replay) offerAs(note bool, role string, r record, parts []part) error {
	s.view.bind(r.physical, r.id)
	m := transcript.Message{Note: note, Role: role, Time: timeIn(r.Object)}
	if role == transcript.RoleModel {
		m.Author, m.Tokens = transcript.Fit(r.Text("model")), outputTokens(r.Object)
	}
	return s.offer(candidate{key: r.id, msg: m, parts: parts, fromSet: r.fromSet, hints: r.hints})
}

func (s *replay) userMessage(r record, parts []part) error {
	if len(parts) == 0 {
		s.stats.Pass(passedEmpty)
		return nil
	}
	parts, hooks := stripWrapped(parts, "hook_context")
	s.stats.PassN(passedHook, hooks)
	parts, environment := stripEnvironment(r.id, parts)
	s.stats.PassN(passedEnvironment, environment)
	s.beginRestore(r, environment)
	results, rest := splitResults(parts)
	for i, res := range results {
		head := res[0]
		s.meetResult(head)
		id := s.calls.identify(head, r.id, i)
		res[0] = withCallID(head, id, "")
		if err := s.result(r, id, timeIn(r.Object), res); err != nil {
			return err
		}
		rest = s.without(rest, id)
	}
	if len(rest) == 0 {
		return nil
	}
	if len(results) == 0 && isSnapshot(rest, r.fromSet) {
		s.afterSnapshot = true
		return s.offerAs(true, transcript.RoleSystem, r, rest)
	}
	rest, note := divided(rest)
	if note {
		return s.offerAs(true, transcript.RoleSystem, r, rest)
	}
	var err error
	if r, err = s.restored(r, transcript.RoleUser, rest); err != nil {
		return err
	}
	return s.offerAs(false, transcript.RoleUser, r, rest)
}

// without drops the parts that the result of call id holds.
func (s *replay) without(parts []part, id string) (kept []part) {
	known := s.chain.current[s.calls.resultKey(id)]
	if known == nil {
		return parts
	}
	seen := identities(known.parts)
	for _, p := range parts {
		if !seen[identity(p)] {
			kept = append(kept, p)
		}
	}
	return kept
}

// stripEnvironment drops the agent's description of its environment; what a user said after it
// stays.
func stripEnvironment(id string, parts []part) (kept []part, dropped int) {
	parts, dropped = stripWrapped(parts, "session_context")
	for i, p := range parts {
		first := i == 0 && dropped == 0 && id == environmentID
		if isText(p) &&
			(first || strings.HasPrefix(strings.TrimLeft(p.Text, " \t\r\n"), "<session_context>")) {
			dropped++
			continue
		}
		kept = append(kept, p)
	}
	return kept, dropped
}

func (s *replay) modelMessage(r record, content []part, afterSnapshot bool) error {
	responses, content := split(content,
		func(p part) bool { return p.Kind == transcript.PartResult })
	records := toolCalls(r)
	parts := modelParts(r, content, records)
	if r.fromSet && s.chain.current[r.id] == nil {
		if canned(parts, afterSnapshot) {
			return s.offerAs(true, transcript.RoleSystem, r, parts)
		}
		r.id = s.knownAs(r.id, parts)
	}
	var err error
	if r, err = s.restored(r, transcript.RoleModel, parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Kind == transcript.PartCall {
			s.meet(p.ID)
			s.calls.claim(r.id, p)
		}
	}
	if err := s.offerAs(false, transcript.RoleModel, r, parts); err != nil {
		return err
	}
	for _, call := range records {
		s.spawned(call)
		if err := s.recordedResult(r, call); err != nil {
			return err
		}
	}
	for i, p := range responses {
		s.meetResult(p)
		id := s.calls.identify(p, r.id, i)
		if err := s.result(r, id, timeIn(r.Object), []part{withCallID(p, id, "")}); err != nil {
			return err
		}
	}
	return nil
}

// knownAs returns the id of the message that made the same calls: a rewritten list may give a turn
// a new id.
func (s *replay) knownAs(id string, parts []part) string {
	known, found := id, false
	for _, p := range parts {
		if p.Kind != transcript.PartCall {
			continue
		}
		maker, ok := s.calls.maker(p)
		if !ok || s.chain.current[maker] == nil || found && maker != known {
			return id
		}
		known, found = maker, true
	}
	return known
}

func canned(parts []part, afterSnapshot bool) bool {
	if len(parts) != 1 {
		return false
	}
	return afterSnapshot && parts[0].Text == cannedAck || parts[0].Text == cannedInterruption
}

func outputTokens(o jsonvalue.Object) uint64 {
	tokens, ok := jsonvalue.ParseObject(o["tokens"])
	if !ok {
		return 0
	}
	var n json.Number
	if json.Unmarshal(tokens["output"], &n) != nil {
		return 0
	}
	if whole, err := n.Int64(); err == nil && whole > 0 {
		return uint64(whole)
	}
	return 0
}

// ordinalCallID makes the derived id of the nth call of a tool in a message, counting those without
// an id.
func ordinalCallID(message, tool string, n int) string {
	return derive("tool call", message, tool, fmt.Sprint(n))
}

// clientMarks are what the agent writes into messages of the user, beside the elements that are
// stripped: the files that a prompt names, a command that a person ran beside the talk, with its
// output, what an editor shows, and how the agent has the model go on. docs/agents/gemini-cli.md
// has the table.
func clientMarks() *transcript.Voices {
	return &transcript.Voices{
		Leads: []transcript.Lead{
			{Open: "I ran the following shell command:\n```sh\n"},
			{Open: "System: Please continue."},
			{Open: "System: Potential loop detected."},
			{Open: "This is the Gemini CLI. We are setting up the context for our chat."},
			{Open: "Here is the user's editor context as a JSON object."},
			{Open: "Here is a summary of changes in the user's editor context"},
			// What a person types while the model works
			{Open: "User steering update:", Close: "<user_input>"},
		},
		After: []string{"</user_input>\nInternal instruction: "},
		Whole: []string{"Please continue."},
		Spans: []transcript.Lead{
			{Open: "--- Content from referenced files ---", Close: "--- End of content ---"}},
	}
}

// divided hides what the agent wrote in the parts of a message of the user. note says that nobody
// else said anything.
func divided(parts []part) (list []part, note bool) {
	raw, note := transcript.Divide(Agent, clientMarks(), transcript.RawOf(parts))
	for _, one := range raw {
		list = appendPart(list, one)
	}
	return list, note
}
