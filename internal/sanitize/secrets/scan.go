// Package secrets finds the secrets in one text: tokens of a known form, and values that a name, a
// command, a header or a kind of file marks as secret. The documentation of package sanitize says
// what counts as a secret.
package secrets

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// scan is one pass over a text. At each byte it tries only the rules that may find something there:
// a table gives the rules for the next three bytes, and a switch those for single bytes.
type scan struct {
	b     []byte
	found []Found
	runs  bareRuns      // unquoted values, each read once
	past  [numRules]int // by rule: the offset from which it searches again
	// read holds the offsets up to which forms have read, so that a beginning inside a token costs
	// nothing. Few forms begin in a text.
	read  []formRead
	table tableColumns // the Markdown table that the pass is in
	seen  views        // the other ways in which the text should be read
	line  int          // start of the current line
}

// formRead is the offset up to which a form has read.
type formRead struct{ form, to int }

// views says in which other ways a text should be read, by what the pass found.
type views struct {
	percent bool // an escape such as %3D
	escaped bool // a Kubernetes Secret with escaped line ends
	// entities are quotation marks and brackets as HTML writes them
	entities bool
	wrapped  bool // a line that a terminal may have wrapped
}

// rules runs every rule over b. The findings have no order and may overlap.
func rules(b []byte) ([]Found, views) {
	if len(b) < shortestSecret {
		return nil, views{}
	}
	s := scan{b: b, runs: bareRuns{b: b}}
	s.pass(currentTable())
	return s.found, s.seen
}

// shortestSecret is the smallest number of bytes of a text with a secret: pw=abcdef needs a name
// before it, and x://:p@h has eight.
const shortestSecret = 7

// pass goes over the text once.
func (s *scan) pass(t *table) {
	b := s.b
	i := 0
	if bytes.HasPrefix(b, []byte("$ ")) {
		s.shownAt(0, len("$ "))
	}
	for ; i+4 <= len(b); i++ {
		if singles[b[i]] {
			s.byteAt(i)
		}
		word := binary.LittleEndian.Uint32(b[i:])
		if n := t.heads[hash3(word)]; n != 0 {
			s.nodesAt(t, n, i, word)
		}
	}
	for ; i < len(b); i++ {
		if singles[b[i]] {
			s.byteAt(i)
		}
		if i+3 == len(b) {
			word := uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16
			s.nodesAt(t, t.heads[hash3(word)], i, word)
		}
	}
}

// nodesAt tries a chain of nodes at b[i]; word holds the bytes from b[i] on.
func (s *scan) nodesAt(t *table, n uint16, i int, word uint32) {
	for n != 0 {
		node := &t.nodes[n]
		if word&node.Mask == node.Word {
			s.nodeAt(t, int(node.id), i)
		}
		n = node.next
	}
}

// singles marks the bytes at which a rule is tried whatever follows.
var singles = [256]bool{'=': true, ':': true, '%': true, '|': true, '-': true, '.': true,
	'<': true, '\n': true}

// byteAt tries the rules for a single byte.
func (s *scan) byteAt(i int) {
	switch s.b[i] {
	case '\n':
		s.seen.wrapped = s.seen.wrapped || mayWrap(s.b, s.line, i)
		s.line = i + 1
	case '=':
		s.pairAt(i)
	case '%':
		s.seen.percent = s.seen.percent || isPercent(s.b, i)
		s.pairAt(i)
	case ':':
		s.pairAt(i)
		s.pgpassAt(i)
	case '|':
		s.rowAt(i, i+len("|"))
		s.facebookAt(i)
	case '-':
		s.flagAt(i)
		s.mailgunAt(i)
		s.bitlockerAt(i)
	case '.':
		s.discordAt(i)
	case '<':
		s.elementAt(i)
	}
}

// nodeAt tries the rule of a trigger, or a form, at b[i], where the first bytes match.
func (s *scan) nodeAt(t *table, id, i int) {
	if id >= t.firstForm {
		s.formAt(t, id-t.firstForm, i)
		return
	}
	if id >= len(t.triggers) {
		if c := t.commands[id-len(t.triggers)]; bytes.HasPrefix(s.b[i:], []byte(c.text)) {
			s.commandAt(i, c)
		} else if i > 0 && chars.IsQuote(s.b[i-1]) {
			s.listedAt(i, c)
		}
		return
	}
	tr := &t.triggers[id]
	if i >= s.past[tr.rule] && bytes.HasPrefix(s.b[i:], []byte(tr.text)) {
		tr.read(s, i, i+len(tr.text))
	}
}

// add notes a secret.
func (s *scan) add(start, end int, class string) {
	s.found = append(s.found, Found{class, start, end})
}

// judge notes a value that follows a key of this kind, if it is a secret.
func (s *scan) judge(v value, kind Key) {
	if Judge(s.b[v.start:v.end], v.quoted, kind) {
		s.add(v.start, v.end, kind.Class())
	}
}

// take notes b[from:to] if it is a secret at this place, under a key of this kind.
func (s *scan) take(in place, from, to int, kind Key) {
	if in.takes(unmarked(s.b[from:to]), kind) {
		s.add(from, to, kind.Class())
	}
}

// formAt tries a form whose anchor is at b[i].
func (s *scan) formAt(t *table, n, i int) {
	start := i - int(t.before[n])
	if start < 0 || chars.IsAlnum(s.b[start]) && !chars.StartsToken(s.b, start) {
		return
	}
	k := slices.IndexFunc(s.read, func(r formRead) bool { return r.form == n })
	if k < 0 {
		k, s.read = len(s.read), append(s.read, formRead{form: n})
	}
	if start < s.read[k].to {
		return
	}
	from, to, read, ok := t.forms[n].At(s.b, start)
	s.read[k].to = read
	if ok && t.forms[n].Digests && namesDigest(s.b[max(0, start-maxKey):start]) {
		return
	}
	if ok && !(t.forms[n].Sure && inMarker(s.b, from, to)) {
		s.add(from, to, t.forms[n].Class)
	}
}

// namesDigest reports whether the last word before a value names it as a digest, which is public:
// tx 0x…, "blockHash": "0x…", the hash is 0x…. The numbers of a curve, which cryptographic programs
// write as BigInt("0x…"), are as long.
func namesDigest(before []byte) bool {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	last, rest := lastPart(line)
	if last == "is" || last == "was" || last == "id" {
		last, _ = lastPart(rest)
	}
	return isListed("digest", last)
}
