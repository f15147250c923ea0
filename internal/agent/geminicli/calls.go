package geminicli

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// calls knows which message made which tool call, so that every copy of a result finds its call.
type calls struct {
	firstOwner map[string]string   // call id -> message that used it first
	owner      map[string]string   // call id -> message that used it last
	norm       map[string]string   // "message id NUL call id" -> the call as first read
	alias      map[string]string   // id a result carries -> id of its call, where they differ
	byContent  map[string]string   // result without id, tool and content -> call id
	open       map[string][]string // tool -> its calls without an id that have no result yet
}

func newCalls() calls {
	return calls{
		firstOwner: map[string]string{},
		owner:      map[string]string{},
		norm:       map[string]string{},
		alias:      map[string]string{},
		byContent:  map[string]string{},
		open:       map[string][]string{},
	}
}

// claim records that message made the call p.
func (c *calls) claim(message string, p part) {
	if _, ok := c.firstOwner[p.ID]; !ok {
		c.firstOwner[p.ID] = message
		if strings.HasPrefix(p.ID, derivedPrefix) {
			c.open[p.Tool] = append(c.open[p.Tool], p.ID)
		}
	}
	c.owner[p.ID] = message
	at := message + "\x00" + p.ID
	if _, ok := c.norm[at]; !ok {
		c.norm[at] = callDigest(p)
	}
}

// made reports whether some message made a call under id.
func (c *calls) made(id string) bool {
	_, ok := c.owner[id]
	return ok
}

// maker returns the message that made exactly the call p; ok is false if none did.
func (c *calls) maker(p part) (message string, ok bool) {
	message, ok = c.owner[p.ID]
	return message, ok && c.norm[message+"\x00"+p.ID] == callDigest(p)
}

// resultKey returns the key of the result of the call that was last made under id.
func (c *calls) resultKey(id string) string {
	if owner := c.owner[id]; owner != c.firstOwner[id] {
		return "result:" + id + "@" + owner
	}
	return "result:" + id
}

// identify returns the id of the call that p, a response, answers. message and ordinal serve where
// nothing else does.
func (c *calls) identify(p part, message string, ordinal int) string {
	if id := p.ID; id != "" {
		if call, ok := c.alias[id]; ok && !c.made(id) {
			return call
		}
		return id
	}
	content := responseDigest(p)
	if id, ok := c.byContent[content]; ok {
		return id
	}
	id := derive("response", message, p.Tool, fmt.Sprint(ordinal))
	if waiting := c.open[p.Tool]; len(waiting) > 0 {
		id = waiting[0]
	}
	c.answered(p, id)
	return id
}

// answered records that p, a response without id, answers the call id.
func (c *calls) answered(p part, id string) {
	c.byContent[responseDigest(p)] = id
	c.open[p.Tool] = slices.DeleteFunc(c.open[p.Tool], func(open string) bool { return open == id })
}

// callDigest is equal for calls of the same tool with the same arguments.
func callDigest(p part) string {
	return derive("call", p.Tool, string(transcript.Normal(p.Args)))
}

// responseDigest is equal for responses of the same tool with the same content.
func responseDigest(p part) string {
	return derive("response", p.Tool, string(transcript.Normal(p.Response)))
}

const derivedPrefix = "derived:"

// derive returns "derived:" and 16 hex digits, from a SHA-256 over the fields and their lengths.
func derive(fields ...string) string {
	h := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(h, "%d %s\n", len(f), f)
	}
	return fmt.Sprintf("%s%x", derivedPrefix, h.Sum(nil)[:8])
}
