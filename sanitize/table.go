package sanitize

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// rule identifies a rule, which is tried at its triggers.
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
	numRules // the number of rules
)

// trigger is a text of at least three bytes at which a rule is tried.
type trigger struct {
	text string
	rule rule
}

// triggers lists the texts at which rules are tried. Single bytes are in scan.byteAt.
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

// table finds the rules and shapes that may begin with three bytes: a hash of the bytes leads to a
// chain of nodes.
type table struct {
	heads  [1 << hashBits]uint16 // by hash: the first node, or 0
	nodes  []node                // index 0 is unused
	shapes []shape               // those of this package, then the user's
	before []uint8               // by shape: number of bytes of the token before its anchor
}

// node is a trigger, or the anchor of a shape.
type node struct {
	beginning
	next uint16
	id   uint16 // index of a trigger, or len(triggers) plus that of a shape
}

// hash3 hashes the first three bytes of a text, which are the lower bytes of word.
func hash3(word uint32) uint32 { return word << 8 * 0x9E3779B1 >> (32 - hashBits) }

const hashBits = 13

// own is the table without the user's patterns. It is made when the first text is cleaned.
var own = sync.OnceValue(func() *table { return makeTable(nil) })

// used is the table with the user's patterns, or nil.
var used atomic.Pointer[table]

func currentTable() *table {
	if t := used.Load(); t != nil {
		return t
	}
	return own()
}

// CheckPattern returns the error in a pattern of the user, or nil. docs/secrets.md explains the
// notation.
func CheckPattern(pattern string) error { return checkForm(pattern) }

// UsePatterns makes the whole program also search for these patterns from now on. Their findings
// have the class "extra". The patterns replace those of the last call; nil removes them. If a
// pattern is bad, UsePatterns returns the error of CheckPattern for the first bad one and changes
// nothing. It may be called while other goroutines clean texts.
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

// beginning is the first bytes of a text, at most four, with a mask of the used ones.
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
