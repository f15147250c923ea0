package homes

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// object is a JSON object.
type object map[string]any

// lines encodes records as JSON lines.
func lines(records []object) (b []byte) {
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			panic("homes: " + err.Error()) // maps of strings can be encoded
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

var noName = regexp.MustCompile(`[^a-zA-Z0-9]`)

// slug is the name that Claude Code and Qwen Code give to a directory. It counts UTF-16 units,
// which for the names of homes are runes.
func slug(dir string) string { return noName.ReplaceAllString(dir, "-") }

// claude writes a session of Claude Code.
type claude struct {
	s       *Session
	records []object
	last    any // uuid of the record that the next one follows
	twice   bool
}

func writeClaude(h *Home, s *Session, more []*Session) error {
	dir := filepath.Join(h.Dir, ".claude", "projects", slug(s.Cwd))
	c := &claude{s: s}
	for i := range s.Said {
		c.say(i)
	}
	for _, of := range more {
		var err error
		if of.Shape == Forked {
			err = of.store(filepath.Join(dir, of.ID+".jsonl"), c.fork(of))
		} else {
			err = of.store(filepath.Join(dir, s.ID, "subagents", "agent-"+of.ID[:8]+".jsonl"),
				c.subagent(of))
		}
		if err != nil {
			return err
		}
	}
	switch s.Shape {
	case Rewritten:
		for _, r := range slices.Clone(c.records[:len(c.records)/2]) {
			again := object{}
			for k, v := range r {
				again[k] = v
			}
			again["gitBranch"] = "later"
			if m, ok := r["message"].(object); ok {
				again["message"] = with(m, "context_management", nil)
			}
			c.records = append(c.records, again)
		}
	}
	b := lines(c.records)
	if s.Shape == Torn {
		s.Said[len(s.Said)-1].Gone = true
		b = b[:len(b)-20]
	}
	return s.store(filepath.Join(dir, s.ID+".jsonl"), b)
}

func with(o object, key string, value any) object {
	out := object{key: value}
	for k, v := range o {
		out[k] = v
	}
	return out
}

// say writes the record of a text, and what the shape of the session puts before it.
func (c *claude) say(i int) {
	said := &c.s.Said[i]
	third := len(c.s.Said) / 3
	prompt := said.Who == Person
	switch {
	case c.s.Shape == Compacted && prompt && i >= third && !c.has("compact_boundary"):
		c.compact(i, c.last)
	case c.s.Shape == Twice && prompt && i > 0:
		c.compactTwice(i)
	case c.s.Shape == Rewound && prompt && i > 0 && i+3 > len(c.s.Said):
		c.rewind(i)
	}
	switch {
	case said.Who == Tool:
		id := "toolu_" + said.id
		c.record(object{"type": "assistant", "uuid": beside(said.id, 'a'),
			"message": answer(c.s, object{"type": "tool_use", "id": id, "name": "Bash",
				"input": object{"command": "count"}})})
		result := []object{{"type": "tool_result", "tool_use_id": id, "content": said.Text}}
		if c.s.Shape == Beside && i+1 < len(c.s.Said) {
			next := &c.s.Said[i+1]
			result = append(result, object{"type": "text", "text": next.Text})
		}
		c.record(object{"type": "user", "uuid": said.id,
			"message": object{"role": "user", "content": result}})
	case said.Who == Model:
		c.record(object{"type": "assistant", "uuid": said.id,
			"message": answer(c.s, object{"type": "text", "text": said.Text})})
	case c.s.Shape == Beside && i > 0 && c.s.Said[i-1].Who == Tool:
		// it was written with the result
	default:
		c.record(object{"type": "user", "uuid": said.id,
			"message": object{"role": "user", "content": said.Text}})
	}
}

// beside returns the id of a record that is written beside the one with an id.
func beside(id string, letter byte) string {
	return strings.Replace(id, "-9000-", "-"+string(letter)+"000-", 1)
}

func answer(s *Session, block object) object {
	return object{"id": fmt.Sprintf("msg_%s_%d", s.ID[:8], len(s.Said)), "type": "message",
		"role": "assistant", "model": "harbour-1", "content": []object{block}}
}

// record writes a record that follows the last one.
func (c *claude) record(o object) {
	o = with(o, "parentUuid", c.last)
	o["isSidechain"], o["cwd"], o["sessionId"] = false, c.s.Cwd, c.s.ID
	o["version"], o["gitBranch"], o["timestamp"] = "2.1.207", "main", c.s.at(len(c.records))
	c.records, c.last = append(c.records, o), o["uuid"]
}

func (c *claude) has(subtype string) bool {
	return slices.ContainsFunc(c.records, func(o object) bool { return o["subtype"] == subtype })
}

// compact writes a boundary, and the summary that the model goes on from. before is the record that
// the boundary says it comes after.
func (c *claude) compact(i int, before any) {
	c.last = nil
	id := c.s.Said[i].id
	c.record(object{"type": "system", "subtype": "compact_boundary", "uuid": beside(id, 'b'),
		"content": "Conversation compacted", "logicalParentUuid": before,
		"compactMetadata": object{"trigger": "manual", "preTokens": 9000}})
	c.record(object{"type": "user", "uuid": beside(id, 'c'), "isCompactSummary": true,
		"isVisibleInTranscriptOnly": true, "message": object{"role": "user",
			"content": "This session is being continued from a previous conversation."}})
}

// compactTwice compacts at the second prompt. At the next one it compacts again, and goes on as a
// process does that still believes in the parent of the first boundary.
func (c *claude) compactTwice(i int) {
	first := slices.IndexFunc(c.records,
		func(o object) bool { return o["subtype"] == "compact_boundary" })
	switch {
	case first < 0:
		c.compact(i, c.last)
	case !c.twice:
		c.twice = true
		before := c.records[first]["logicalParentUuid"]
		c.compact(i, before)
		c.last = before
	}
}

// rewind goes back to before the prompt that came before the i-th text, and marks what is left.
func (c *claude) rewind(i int) {
	from := i - 1
	for from > 0 && c.s.Said[from].Who != Person {
		from--
	}
	if from == 0 || c.s.Said[from].Left {
		return
	}
	at := slices.IndexFunc(c.records, func(o object) bool { return o["uuid"] == c.s.Said[from].id })
	c.last = c.records[at]["parentUuid"]
	for j := from; j < i; j++ {
		c.s.Said[j].Left = true
	}
}

// subagent writes the call that began a subagent, its result if it has ended, and returns the
// subagent's own transcript.
func (c *claude) subagent(sub *Session) []byte {
	id := "toolu_" + sub.ID[:8]
	task := sub.Said[0].id
	c.record(object{"type": "assistant", "uuid": beside(task, 'a'), "message": answer(c.s, object{
		"type": "tool_use", "id": id, "name": "Task", "input": object{"description": "survey",
			"prompt": sub.Said[0].Text, "subagent_type": "general-purpose"}})})
	switch c.s.Shape {
	case WithAgent:
		c.record(object{"type": "user", "uuid": beside(task, 'b'), "message": object{"role": "user",
			"content": []object{{"type": "tool_result", "tool_use_id": id, "content": "surveyed"}}},
			"toolUseResult": object{"status": "completed", "agentId": sub.ID[:8]}})
	case Interrupted:
		c.record(object{"type": "user", "uuid": beside(task, 'b'), "message": object{"role": "user",
			"content": []object{{"type": "tool_result", "tool_use_id": id, "is_error": true,
				"content": "[Request interrupted by user for tool use]"}}},
			"toolUseResult": "User rejected tool use"})
	}
	own := &claude{s: sub}
	for i := range sub.Said {
		own.say(i)
	}
	for _, r := range own.records {
		r["isSidechain"], r["agentId"], r["sessionId"] = true, sub.ID[:8], c.s.ID
	}
	return lines(own.records)
}

// fork returns the transcript of a session that begins with a copy of this one's records.
func (c *claude) fork(f *Session) []byte {
	own := &claude{s: f, last: c.last}
	for _, r := range c.records {
		r = with(r, "sessionId", f.ID)
		r["sessionId"] = f.ID
		own.records = append(own.records, r)
	}
	for i := len(c.s.Said); i < len(f.Said); i++ {
		own.say(i)
	}
	return lines(own.records)
}
