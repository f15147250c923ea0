package claudecode

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The record of a prompt that waits while the agent works, and the attachment that newer versions
// make of it.
const (
	kindQueue      = "queue-operation"
	kindAttachment = "attachment"
	queuedCommand  = "queued_command"
)

// queued is a prompt that was put into the queue.
type queued struct {
	at      int32
	text    string
	end     queueEnd
	removed int32 // the record with which it left the queue
}

// queueEnd says how a prompt left the queue.
type queueEnd byte

const (
	queueWaits   queueEnd = iota
	queueSent             // dequeue: a record of the user says it
	queueRemoved          // remove: it was given to the model within a turn
	queueBack             // popAll: the user took it back to edit it
)

// lastBare is the newest version that tells of a prompt given to the model within a turn by the
// queue's records alone.
var lastBare = [3]int{2, 1, 42}

// isPromptAttachment reports whether a record is an attachment with a prompt of the queue.
func isPromptAttachment(o jsonvalue.Object) bool {
	return o.Text("type") == kindAttachment &&
		o.Object(kindAttachment).Text("type") == queuedCommand
}

// promptText is what a prompt of the queue says.
func promptText(raw json.RawMessage) string {
	if s, ok := jsonvalue.Text(raw); ok {
		return s
	}
	list, _ := jsonvalue.Elements(raw)
	var texts []string
	for _, b := range list {
		if s := jsonvalue.AsObject(b).Text("text"); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}

// isOfCommand reports whether a prompt is what the client writes for a command of its own, such as
// /compact: nothing was said with it.
func isOfCommand(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<command-name>/compact<") ||
		strings.HasPrefix(text, "<local-command-")
}

// waits applies a record of the queue.
func (p *plan) waits(o jsonvalue.Object) {
	if o.Text("type") != kindQueue {
		return
	}
	end := map[string]queueEnd{"dequeue": queueSent, "remove": queueRemoved,
		"popAll": queueBack}[o.Text("operation")]
	content := strings.TrimSpace(promptText(o["content"]))
	left := p.waiting[:0]
	for n, i := range p.waiting {
		q := &p.queue[i]
		if end == queueWaits || content != "" && content != q.text {
			left = append(left, i)
			continue
		}
		if q.end, q.removed = end, int32(len(p.list)); end != queueBack {
			left = append(left, p.waiting[n+1:]...)
			break
		}
	}
	p.waiting = left
}

// prompt notes the text of a record of the user, or of an attachment that stands for one.
func (p *plan) prompt(o, inner jsonvalue.Object, e *entry) {
	text := ""
	switch {
	case e.kind == kindUser && !o.True("isMeta") && len(e.results) == 0:
		text = promptText(inner["content"])
	case isPromptAttachment(o):
		text = promptText(o.Object(kindAttachment)["prompt"])
	}
	if text = strings.TrimSpace(text); text != "" {
		p.hear(text) // the record of the queue says it again
		p.texts[text] = append(p.texts[text], int32(len(p.list)))
	}
}

// settleQueue finds the prompts of the queue that were given to the model and that no other record
// says.
func (p *plan) settleQueue() {
	for i := range p.queue {
		q := &p.queue[i]
		if p.list[q.at].sent {
			continue
		}
		others := p.texts[q.text]
		for len(others) > 0 && others[0] <= q.at {
			others = others[1:]
		}
		said := len(others) > 0
		if said {
			others = others[1:]
		}
		p.texts[q.text] = others
		removed := !said && q.end == queueRemoved && q.text != ""
		p.list[q.at].sent = removed && p.decided(q)
		if q.end == queueWaits || q.end == queueSent && !said ||
			removed && (!p.list[q.at].sent || p.list[q.at].version == "") {
			p.unsettled = true
		}
	}
}

// decided reports whether no later record can say a prompt that was removed from the queue. A
// version that writes such a record does so before the model goes on.
func (p *plan) decided(q *queued) bool {
	version := cmp.Or(p.list[q.at].version, p.newest)
	return atMost(version, lastBare) || p.farthest > q.removed
}

// atMost reports whether a version, such as 2.1.42, is no newer than most. A version that cannot be
// read is newer.
func atMost(version string, most [3]int) bool {
	pieces := strings.SplitN(version, ".", 3)
	for i := range most {
		if i >= len(pieces) {
			return false
		}
		n, err := strconv.Atoi(pieces[i])
		if err != nil {
			return false
		}
		if n != most[i] {
			return n < most[i]
		}
	}
	return true
}
