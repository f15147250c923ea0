package geminicli

import (
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// toolCall is one element of a model message's toolCalls.
type toolCall struct {
	jsonvalue.Object
	call part
	used bool // the content holds the call too
}

// toolCalls returns the record's tool calls, each with an id, each id once.
func toolCalls(r record) []*toolCall {
	list, _ := r.Array("toolCalls")
	var out []*toolCall
	seen := map[string]bool{}
	nameless := map[string]int{}
	for _, raw := range list {
		o, ok := jsonvalue.ParseObject(raw)
		if !ok {
			continue
		}
		id, tool := o.Text("id"), o.Text("name")
		if id == "" {
			id = ordinalCallID(r.id, tool, nameless[tool])
			nameless[tool]++
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		out = append(out,
			&toolCall{Object: o, call: callPart(id, tool, o["args"])})
	}
	return out
}

// modelParts puts a model message together: thoughts, then the content as it stands, then the calls
// it does not hold.
func modelParts(r record, content []part, records []*toolCall) []part {
	parts := thoughts(r)
	seen := map[string]bool{}
	for _, p := range parts {
		seen[identity(p)] = true
	}
	nameless := map[string]int{}
	for _, tc := range records {
		if strings.HasPrefix(tc.call.ID, derivedPrefix) {
			nameless[tc.call.Tool]++
		}
	}
	for _, p := range content {
		if p.Kind == transcript.PartCall {
			p = identifyCall(r, p, records, nameless)
		}
		if p.Kind == transcript.PartCall || isThought(p) {
			if seen[identity(p)] {
				continue
			}
			seen[identity(p)] = true
		}
		parts = append(parts, p)
	}
	for _, tc := range records {
		if !seen[identity(tc.call)] {
			parts = append(parts, tc.call)
		}
	}
	return parts
}

// identifyCall gives a call in the content the id of the tool call it is a copy of.
func identifyCall(r record, p part, records []*toolCall, nameless map[string]int) part {
	for _, tc := range records {
		same := p.ID == tc.call.ID
		if p.ID == "" {
			same = !tc.used && callDigest(tc.call) == callDigest(p)
		}
		if same {
			tc.used = true
			return withCallID(p, tc.call.ID, tc.call.Tool)
		}
	}
	if p.ID != "" {
		return p
	}
	id := ordinalCallID(r.id, p.Tool, nameless[p.Tool])
	nameless[p.Tool]++
	return withCallID(p, id, "")
}

// thoughts returns the record's thoughts as the parts the agent makes of them when it resumes.
func thoughts(r record) []part {
	list, _ := r.Array("thoughts")
	var parts []part
	for _, raw := range list {
		o, ok := jsonvalue.ParseObject(raw)
		if !ok {
			continue
		}
		var words []string
		if subject := o.Text("subject"); subject != "" {
			words = append(words, "**"+subject+"**")
		}
		if description := o.Text("description"); description != "" {
			words = append(words, description)
		}
		if len(words) > 0 {
			parts = append(parts,
				transcript.ReadPart(transcript.ThoughtPart(strings.Join(words, " "), nil)))
		}
	}
	return parts
}

// spawned notes that a call was a subagent's work; the agent names it by the id of the subagent's
// session.
func (s *replay) spawned(tc *toolCall) {
	sp := transcript.Spawn{Call: transcript.Fit(tc.call.ID), Thread: tc.Text("agentId")}
	if sp.Thread != "" && !slices.Contains(s.stats.Spawned, sp) {
		s.stats.Spawned = append(s.stats.Spawned, sp)
	}
}

// recordedResult offers the result that a tool call carries, if it has one.
func (s *replay) recordedResult(r record, tc *toolCall) error {
	parts := parseContent(tc.Object["result"])
	if len(parts) == 0 || isAdded(tc.Object) {
		return nil
	}
	when := timeIn(tc.Object)
	if when.IsZero() {
		when = timeIn(r.Object)
	}
	r.hints = s.hintsOf(tc.Object)
	groups := groupResults(tc.call, parts)
	for i, group := range groups {
		id := group[0].ID
		if id == "" || len(groups) == 1 && !s.calls.made(id) {
			id = tc.call.ID
		}
		if own := group[0].ID; own == "" {
			s.calls.answered(group[0], id)
		} else if s.meet(own); own != id {
			s.calls.alias[own] = id
		}
		groups[i][0] = withCallID(group[0], id, tc.call.Tool)
		if err := s.result(r, id, when, group); err != nil {
			return err
		}
	}
	return nil
}

// result offers one result and binds it to the record that carries it.
func (s *replay) result(r record, callID string, when time.Time, parts []part) error {
	key := s.calls.resultKey(callID)
	s.meet(key)
	s.back = s.back || !s.calls.made(callID)
	s.view.bind(r.physical, key)
	s.restoredResult(key)
	m := transcript.Message{Role: transcript.RoleTool, Time: when}
	return s.offerResult(
		candidate{key: key, msg: m, parts: parts, fromSet: r.fromSet, hints: r.hints})
}

// groupResults cuts the result of a call into responses, each with the media and texts that follow
// it. A result without a response is put into one.
func groupResults(call part, parts []part) [][]part {
	var groups [][]part
	var before []part
	for _, p := range parts {
		switch {
		case p.Kind == transcript.PartResult:
			groups = append(groups, []part{p})
		case len(groups) == 0:
			before = append(before, p)
		default:
			last := len(groups) - 1
			groups[last] = append(groups[last], p)
		}
	}
	if len(groups) > 0 {
		groups[0] = append(groups[0], before...)
		return groups
	}
	response := map[string]string{}
	if output := joinText(before); output != "" {
		response["output"] = output
	}
	group := []part{transcript.ReadPart(
		transcript.ResultPart(call.ID, call.Tool, jsonvalue.Encode(response), nil))}
	for _, p := range before {
		if !isText(p) {
			group = append(group, p)
		}
	}
	return [][]part{group}
}

// splitResults takes the responses out of a user message, each with the media that follow it.
func splitResults(parts []part) (results [][]part, rest []part) {
	for _, p := range parts {
		switch {
		case p.Kind == transcript.PartResult:
			results = append(results, []part{p})
		case isOther(p) && len(results) > 0 && len(rest) == 0:
			last := len(results) - 1
			results[last] = append(results[last], p)
		default:
			rest = append(rest, p)
		}
	}
	return results, rest
}
