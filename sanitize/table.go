package sanitize

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// rule is what is tried where a trigger stands.
type rule uint8

const (
	pemRule rule = iota
	jwtRule
	encodedJWTRule
	dsnRule
	urlRule
	pairRule
	flagRule
	pgpassRule
	callRule
	headerRule
	cookieRule
	isRule
	sqlRule
	userCommandRule
	joinedCommandRule
	spacedCommandRule
	vaultRule
	passRule
	netrcRule
	puttyRule
	manifestRule
	sasRule
	rules0 // how many rules there are
)

// trigger is a text at which a rule is tried, of three bytes or more.
type trigger struct {
	text string
	rule rule
}

// triggers lists the texts that rules look for. Single bytes are in scan.byteAt.
var triggers = [...]trigger{
	{"BEGIN ", pemRule},
	{"eyJ", jwtRule},
	{"ZXlK", encodedJWTRule},
	{"@tcp(", dsnRule}, {"@unix(", dsnRule},
	{"://", urlRule},
	{"Bearer", headerRule}, {"bearer", headerRule}, {"BEARER", headerRule}, {"Basic", headerRule}, {"basic", headerRule},
	{"BASIC", headerRule}, {"Token", headerRule}, {"token", headerRule},
	{"ookie: ", cookieRule}, {"OOKIE: ", cookieRule},
	{" is ", isRule},
	{"PASSWORD ", sqlRule}, {"password ", sqlRule}, {"BY ", sqlRule}, {"by ", sqlRule},
	{"curl ", userCommandRule}, {"smbclient ", userCommandRule},
	{"mysql ", joinedCommandRule}, {"mysqldump ", joinedCommandRule},
	{"mysqladmin ", joinedCommandRule}, {"mariadb ", joinedCommandRule},
	{"sshpass ", spacedCommandRule}, {"redis-cli ", spacedCommandRule},
	{"login ", spacedCommandRule}, {"mongosh ", spacedCommandRule},
	{"mongodump ", spacedCommandRule}, {"ldapsearch ", spacedCommandRule},
	{"vault login ", vaultRule},
	{"pass:", passRule},
	{"login ", netrcRule},
	{"Private-Lines: ", puttyRule},
	{"kind: ", manifestRule},
	{"sig=", sasRule},
}

// table finds what may begin with three bytes: a hash of these leads to a chain of nodes.
type table struct {
	heads  [1 << hashBits]uint16 // by hash: the first node, or 0
	nodes  []node                // from 1
	shapes []shape               // those of this package, and the user's
	before []uint8               // by shape: how many bytes the token has before its anchor
}

// node is a trigger, or the anchor of a shape.
type node struct {
	beginning
	next uint16
	id   uint16 // of a trigger, or len(triggers) and more for a shape
}

// hash3 hashes the three bytes that a text begins with, which are the lower ones of word.
func hash3(word uint32) uint32 { return word << 8 * 0x9E3779B1 >> (32 - hashBits) }

const hashBits = 13

// own is the table without the user's patterns, made when the first text is cleaned.
var own = sync.OnceValue(func() *table { return makeTable(nil) })

// used is the table with the user's patterns, or nil.
var used atomic.Pointer[table]

func currentTable() *table {
	if t := used.Load(); t != nil {
		return t
	}
	return own()
}

// CheckPattern reports what is wrong with a pattern of the user's, or nil. docs/secrets.md explains
// the notation.
func CheckPattern(pattern string) error { return checkForm(pattern) }

// UsePatterns makes the whole program look for these patterns, too, from now on; what they find has
// the class "extra". It replaces what was given before, and none is given by nil. The error is that
// of CheckPattern for the first bad one, and nothing has changed then. It may be called while other
// goroutines clean texts.
func UsePatterns(patterns []string) error {
	if len(patterns) == 0 {
		used.Store(nil)
		return nil
	}
	extra := make([]shape, len(patterns))
	for i, p := range patterns {
		if err := checkForm(p); err != nil {
			return fmt.Errorf("pattern %q: %w", p, err)
		}
		extra[i] = shape{class: "extra", form: p, sure: true}
	}
	own() // fills the alphabets
	used.Store(makeTable(extra))
	return nil
}

func makeTable(extra []shape) *table {
	fillAlphabets.Do(setAlphabets)
	t := &table{nodes: make([]node, 1, 2048), shapes: shapes[:]}
	if len(extra) > 0 {
		t.shapes = append(append([]shape(nil), shapes[:]...), extra...)
	}
	for i := range triggers {
		t.add(firstBytes(triggers[i].text), i)
	}
	t.before = make([]uint8, len(t.shapes))
	for i := range t.shapes {
		a := anchorOf(t.shapes[i].form)
		t.before[i] = uint8(a.before)
		id := len(triggers) + i
		if len(a.text) > 2 {
			t.add(firstBytes(a.text), id)
			continue
		}
		mask := uint16(1) << alphabetBit(a.next)
		for c := range alphabets {
			if alphabets[c]&mask != 0 {
				t.add(beginning{uint32(a.text[0]) | uint32(a.text[1])<<8 | uint32(c)<<16, 0xffffff}, id)
			}
		}
	}
	return t
}

// beginning is the first bytes of a text, up to four, and which of the four they are.
type beginning struct{ word, mask uint32 }

func firstBytes(text string) (b beginning) {
	for i := range min(4, len(text)) {
		b.word |= uint32(text[i]) << (8 * i)
		b.mask |= 0xff << (8 * i)
	}
	return b
}

func (t *table) add(b beginning, id int) {
	h := hash3(b.word)
	t.nodes = append(t.nodes, node{b, t.heads[h], uint16(id)})
	t.heads[h] = uint16(len(t.nodes) - 1)
}
