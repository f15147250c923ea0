package sanitize

import (
	"encoding/binary"
	"strings"
)

// scan is one pass over a text. At each byte it tries only the rules that may find something there: a table
// says which three bytes a rule begins with, and a switch which single bytes do.
type scan struct {
	b     []byte
	found []span
	runs  bareRuns     // unquoted values, each read once
	past  [rules0]int  // by rule: from where on it looks again
	read  []int        // by shape: how far it has looked, so that a beginning inside a token costs nothing
	table tableColumns // the table in Markdown that the pass is in
	// escaped tells that a manifest was met whose line ends are written as escapes.
	escaped bool
}

// rules runs every rule over b. The spans are in no order and may overlap. escaped tells whether there are manifests in b
// whose line ends are written as escapes.
func rules(found []span, b []byte) (spans []span, escaped bool) {
	if len(b) < shortestSecret {
		return found, false
	}
	s := scan{b: b, found: found, runs: bareRuns{b: b}}
	s.pass(currentTable())
	return s.found, s.escaped
}

// shortestSecret is how many bytes a text has at least that holds a secret: pw=abcdef needs a name before it, and
// x://:p@h has eight.
const shortestSecret = 7

// pass goes over the text once.
func (s *scan) pass(t *table) {
	b := s.b
	i := 0
	for ; i+4 <= len(b); i++ {
		if singles[b[i]] {
			s.byteAt(i)
		}
		if n := t.heads[hash3(binary.LittleEndian.Uint32(b[i:]))]; n != 0 {
			s.nodesAt(t, n, i)
		}
	}
	for ; i < len(b); i++ {
		if singles[b[i]] {
			s.byteAt(i)
		}
		if i+3 == len(b) {
			s.nodesAt(t, t.heads[hash3(uint32(b[i])|uint32(b[i+1])<<8|uint32(b[i+2])<<16)], i)
		}
	}
}

// nodesAt tries a chain of nodes at b[i].
func (s *scan) nodesAt(t *table, n uint16, i int) {
	for ; n != 0; n = t.nodes[n].next {
		if text := t.nodes[n].text; len(s.b)-i >= len(text) && string(s.b[i:i+len(text)]) == text {
			s.nodeAt(t, int(t.nodes[n].id), i)
		}
	}
}

// singles marks the bytes at which a rule is tried whatever follows.
var singles = [256]bool{'=': true, ':': true, '%': true, '|': true, ',': true, '-': true, '.': true, '<': true}

// byteAt tries the rules of a single byte.
func (s *scan) byteAt(i int) {
	switch s.b[i] {
	case '=', '%':
		s.pairAt(i)
	case ':':
		s.pairAt(i)
		s.pgpassAt(i)
	case '|':
		s.rowAt(i)
		s.facebookAt(i)
	case ',':
		s.callAt(i)
	case '-':
		s.flagAt(i)
		s.mailgunAt(i)
	case '.':
		s.discordAt(i)
	case '<':
		s.elementAt(i)
	}
}

// nodeAt tries the rule of a trigger, or a shape, at b[i].
func (s *scan) nodeAt(t *table, id, i int) {
	if id >= len(triggers) {
		s.shapeAt(t, id-len(triggers), i)
		return
	}
	r, text := triggers[id].rule, triggers[id].text
	if i < s.past[r] {
		return
	}
	switch r {
	case pemRule:
		s.pemAt(i)
	case jwtRule:
		s.jwtAt(i)
	case encodedJWTRule:
		s.encodedJWTAt(i)
	case dsnRule:
		s.dsnAt(i)
	case urlRule:
		s.urlAt(i)
	case headerRule:
		s.headerAt(i, text)
	case cookieRule:
		s.cookieAt(i, len(text))
	case isRule:
		s.isAt(i)
	case sqlRule:
		s.sqlAt(i, strings.TrimSuffix(text, " "))
	case userCommandRule, joinedCommandRule, spacedCommandRule:
		s.commandAt(i, strings.TrimSuffix(text, " "), r)
	case vaultRule:
		s.vaultAt(i)
	case passRule:
		s.passAt(i)
	case netrcRule:
		s.netrcAt(i)
	case puttyRule:
		s.puttyAt(i)
	case manifestRule:
		s.manifestAt(i)
	case sasRule:
		s.sasAt(i)
	}
}

// add notes a span.
func (s *scan) add(start, end int, class string) { s.found = append(s.found, span{start, end, class}) }

// shapeAt tries a shape whose anchor is at b[i].
func (s *scan) shapeAt(t *table, n, i int) {
	start := i - int(t.before[n])
	if start < 0 || isAlnum(s.b[start]) && !startsToken(s.b, start) {
		return
	}
	if s.read == nil {
		s.read = make([]int, len(t.shapes))
	}
	if start < s.read[n] {
		return
	}
	m, read, ok := t.shapes[n].at(s.b, start)
	s.read[n] = read
	if ok && !(t.shapes[n].sure && inMarker(s.b, m.from, m.to)) {
		s.add(m.from, m.to, t.shapes[n].class)
	}
}
