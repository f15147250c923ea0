package format_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// refusal describes one change to a sample, and a word of the error that must follow.
type refusal struct {
	kind   string
	sample int
	old    string
	new    string
	want   string
}

// hexOf is an id that appears in no sample.
var hexOf = strings.Repeat("ab", 32)

var zeroHex = strings.Repeat("0", 64)

func refusals() []refusal {
	return []refusal{
		// The first line, which every header has.
		{"entry", 0, "entry 1\n", "entry 2\n", "version 2"},
		{"entry", 0, "entry 1\n", "entry 01\n", "not an object header"},
		{"entry", 0, "entry 1\n", "entry 0\n", "not an object header"},
		{"entry", 0, "entry 1\n", "entry 1001\n", "not an object header"},
		{"entry", 0, "entry 1\n", "Entry 1\n", "not an object header"},
		{"entry", 0, "entry 1\n", "blob 1\n", "kind"},
		{"entry", 0, "entry 1\n", "\n", "not an object header"},
		{"entry", 0, "entry 1\n", "entry 1\r\n", "not an object header"},
		{"entry", 0, " text/plain\n", " text/plain", "newline"},
		{"entry", 0, " text/plain\n", " text/plain\n\n", "unknown or misplaced"},
		{"entry", 0, " text/plain\n", " text/plain\nx\n", "unknown or misplaced"},
		{"entry", 0, "seq 1\n", "seq 1\nnew 1\n", "no session line"},
		{"entry", 0, "seq 1\n", "seq 01\n", "not a number"},
		{"entry", 0, "seq 1\n", "seq +1\n", "not a number"},
		{"entry", 0, "seq 1\n", "seq 18446744073709551616\n", "not a number"},
		{"entry", 0, "seq 1\n", "seq 1 \n", "2 fields"},
		{"entry", 0, "seq 1\n", "seq  1\n", "not a number"},
		{"entry", 0, "seq 1\n", "seq 1\r\n", "not a number"},
		{"entry", 0, "seq 1\n", "seq\n", "0 fields"},
		{"entry", 0, "seq 1\n", "", "no seq line"},
		{"entry", 0, "seq 1\n", "seq 1\nseq 1\n", "no session line"},

		{"entry", 1, "seq 2\n", "parent " + hexOf + "\nseq 2\n", "one parent at most"},
		{"entry", 1, "parent ", "parent AB", "not an id"},
		{"entry", 0, "seq 1\n", "parent " + zeroHex + "\nseq 1\n", "id of zeros"},
		{"entry", 0, "seq 1\n", "seq 0\n", "seq counts from 1"},
		{"entry", 0, "kind message", "kind massage", "unknown kind"},
		{"entry", 0, "role user", "role boss", "unknown role"},
		{"entry", 0, "role user\n", "", "a role belongs"},
		{"entry", 0, "author Ada%20Lovelace", "author Ada%20Lovelac%65", "bad name"},
		{"entry", 0, "author Ada%20Lovelace", "author Ada%2xLovelace", "bad name"},
		{"entry", 0, "author Ada%20Lovelace", "author Ada%e9", "bad name"},
		{"entry", 0, "author Ada%20Lovelace", "author Ada%E9", "bad name"},
		{"entry", 0, "author Ada%20Lovelace", "author " + strings.Repeat("a", 201), "bad name"},
		{"entry", 0, "author Ada%20Lovelace", "author \x00", "bad name"},
		{"entry", 0, "09.328Z", "09Z", "not a time"},
		{"entry", 0, "09.328Z", "09.3280Z", "not a time"},
		{"entry", 0, "09.328Z", "09,328Z", "not a time"},
		{"entry", 0, "09.328Z", "09.328+00:00", "not a time"},
		{"entry", 0, "2026-11-21", "2026-11-31", "not a time"},
		{"entry", 0, "2026-11-21", "12026-11-21", "not a time"},
		{"entry", 0, " 0f1e2d3c4b5a6978", " 0f1e2d3c4b5a697", "bad digest"},
		{"entry", 0, " 0f1e2d3c4b5a6978", " 0F1E2D3C4B5A6978", "bad digest"},
		{"entry", 0, " 0f1e2d3c4b5a6978", "", "3 fields"},
		{"entry", 1, "tokens 431", "tokens 0", "leaving the line out"},
		{"entry", 1, "call call-1 read_file", "call call-1", "1 fields"},
		{"entry", 0, "body sha256:", "body sha1:", "bad body line"},
		{"entry", 0, "body sha256:", "body sha256:A", "bad body digest"},
		{"entry", 0, " 48 text/plain", " 047 text/plain", "bad body size"},
		{"entry", 0, " 48 text/plain", " 17825793 text/plain", "bad body size"},
		{"entry", 0, " 48 text/plain", " 15 text/plain", "nonce alone"},
		{"entry", 0, " text/plain", " Text/plain", "bad media type"},
		{"entry", 0, " text/plain", " text", "bad media type"},
		{"entry", 0, " text/plain", " text/", "bad media type"},
		{"entry", 0, " text/plain", " text/a/b", "bad media type"},
		{"entry", 0, " text/plain", " text/" + strings.Repeat("a", 96), "bad media type"},
		{"entry", 0, " text/plain", " text/plain x", "4 fields"},
		{"entry", 2, "amends ", "left ", "amends belongs"},
		{"entry", 3, "kind note", "kind mask", "a role belongs"},
		{"entry", 3, "kind note\nrole tool\n", "kind mask\n", "calls and results"},
		{"entry", 4, "child left\nchild right%20side\n", "", "fork: no child"},
		{"entry", 5, "child left\n", "", "a child for each"},
		{"entry", 5, "child left\n", "child left\nchild more\n", "a child for each"},
		{"entry", 4, "kind fork", "kind rewind", "left belongs"},
		{"entry", 4, "kind fork", "kind mask", "body missing"},
		{"entry", 5, "kind join", "kind rewind", "left belongs"},
		{"entry", 6, "kind rewind", "kind join", "left belongs"},
		{"entry", 9, "epoch ", "epoch " + hexOf + "\nepoch ", "unknown or misplaced"},
		{"entry", 9, "kind epoch", "kind mask", "body missing"},

		{"blob", 0, "body ", "bodies ", "no body line"},
		{"blob", 0, "body ", "nonce 1\nbody ", "no body line"},

		{"node", 0, "level 0", "level 1", "unknown or misplaced"},
		{"node", 0, "count 2", "count 3", "not the number of entries"},
		{"node", 1, "level 1", "level 6", "5 is the most"},
		{"node", 1, "level 1", "level 2", "all but the last are full"},
		{"node", 1, "count 257", "count 256", "all but the last are full"},
		{"node", 1, "count 257", "count 513", "all but the last are full"},
		{"node", 0, "entry ", "node ", "unknown or misplaced"},

		{"summary", 0, "generation 1", "generation 0", "counts from 1"},
		{"summary", 1, "interim\n", "interim yes\n", "1 fields"},
		{"summary", 1, "interim\n", "interim \n", "1 fields"},
		{"summary", 1, "input summary ", "input entry ", "unknown kind"},
		{"summary", 0, "input node ", "prompt ", "no input"},
		{"summary", 0, "summarizer extractive 1", "summarizer extractive", "1 fields"},

		{"tombstone", 0, " 2\narrival", " 0\narrival", "no members"},
		{"tombstone", 0, "cluster 0\n", "", "no cluster line"},

		{"page", 1, "level 1", "level 0", "unknown or misplaced"},
		{"page", 1, "level 1", "level 6", "5 is the most"},
		{"page", 1, "page 0 3 ", "page 2 3 ", "ascending"},
		{"page", 1, "page 2 ", "page 256 ", "two pages in one"},
		{"page", 1, "page 0 3 1 ", "page 0 3 0 ", "0 tombstones below"},
		{"page", 1, "page 0 3 1 ", "page 0 3 257 ", "257 tombstones below"},
		{"page", 1, "page 0 3 1 ", "page 0 3 5 ", "eviction 3 is the newest of 5"},

		{"forest", 0, "name main", "name a/b", "slash"},
		{"forest", 0, "opened 3", "opened 2", "never opened"},
		{"forest", 0, "cluster 1 ", "cluster 2 ", "ascending"},
		{"forest", 0, " 2 7\n", " 0 7\n", "bad count or arrival"},
		{"forest", 0, " 2 7\n", " 2 0\n", "bad count or arrival"},
		{"forest", 0, " 2 7\n", " 2 301\n", "bad count or arrival"},
		{"forest", 0, "cover interim ", "cover partial ", "unknown kind"},
		{"forest", 0, " 2 200\n", " 1 200\n", "overlaps"},
		{"forest", 0, " 2 200\n", " 2 0\n", "overlaps"},
		{"forest", 0, " 2 200\n", " 2 256\n", "overlaps"},
		{"forest", 0, " 2 200\n", " 2 18446744073709551615\n", "overlaps"},
		{"forest", 0, " 2 200\n", " 18446744073709551615 2\n", "overlaps"},
		{"forest", 0, "evicted 4", "evicted 0", "do not agree"},

		{"epoch", 0, "initial core/branch", "initial core/editor", "not among the current"},
		{"epoch", 0, "initial core/branch", "initial core/date", "key twice"},
		{"epoch", 0, "initial core/branch", "initial branch", "bad key"},
		{"epoch", 0, "initial core/branch", "initial Core/branch", "bad key"},
		{"epoch", 0, "initial core/branch", "initial core/branch/" + strings.Repeat("a", 190),
			"bad key"},
		{"epoch", 0, "current core/branch removed", "current core/branch gone", "not an id"},
		{"epoch", 0, "current core/branch removed", "current core/branch " + hexOf,
			"a value has its text"},
		{"epoch", 0, "current core/branch removed -", "current core/branch removed", "3 fields"},
		{"epoch", 0, "initial core/branch", "initial core/branch removed", "not an id"},
		{"epoch", 0, "step update", "step updated", "unknown step"},
		{"epoch", 0, "step update\n", "", "no step line"},
		{"epoch", 0, "step update", "step fold", "belongs to an update"},
		{"epoch", 1, "step fold", "step update", "belongs to an update"},

		{"absent", 0, "reason forgotten", "reason bored", "unknown reason"},
		{"absent", 0, "object ", "object x", "not an id"},

		{"forgotten", 0, "operation 2", "operation 3", "its sum"},
		{"forgotten", 0, "text 32", "text 33", "its sum"},
		{"forgotten", 0, "forgotten 1", "forgotten 2", "version 2"},

		{"store", 0, "store 1", "store 2", "version 2"},
		{"store", 0, "store 1", "ctx 1", "before version 1"},
		{"store", 0, "store 1", "git 1", "not a store's format file"},
		{"store", 0, "sha256", "sha512", "unknown hash"},
		{"store", 0, sampleStore, strings.ToUpper(sampleStore), "bad store id"},
		{"store", 0, sampleStore, sampleStore[1:], "bad store id"},
		{"store", 0, sampleStore + "\n", sampleStore, "3 or 4 lines"},
		{"store", 0, sampleStore + "\n", sampleStore + "\nmore 1\n", "bad id on remotes"},
		{"store", 0, sampleStore + "\n", sampleStore + "\nshared-as 1\n", "bad id on remotes"},
		{"store", 1, "shared-as", "more\nshared-as", "3 or 4 lines"},
	}
}

func TestRefuse(t *testing.T) {
	for _, r := range refusals() {
		c := codecOf(t, r.kind)
		good := string(c.samples[r.sample])
		if strings.Count(good, r.old) == 0 {
			t.Errorf("%s %d: holds no %q:\n%s", r.kind, r.sample, r.old, good)
			continue
		}
		_, err := c.again([]byte(strings.Replace(good, r.old, r.new, 1)))
		if err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s %d: %q for %q: got error %v, want %q", r.kind, r.sample, r.new,
				r.old, err, r.want)
		}
	}
}

func TestRefuseIDOfZerosEverywhere(t *testing.T) {
	for _, c := range codecs(t) {
		if c.name == "operation" || c.name == "checkpoint" {
			continue // these say "none" with it, in one place each
		}
		for i, b := range c.samples {
			fields := strings.Fields(string(b))
			for _, f := range fields {
				if _, err := format.ParseID(f); err != nil {
					continue
				}
				_, err := c.again([]byte(strings.Replace(string(b), f, zeroHex, 1)))
				if err == nil {
					t.Errorf("%s %d: zeros for %s were accepted", c.name, i, f)
				}
			}
		}
	}
}

func TestRefuseOtherVersion(t *testing.T) {
	for _, c := range codecs(t) {
		if c.name == "operation" || c.name == "checkpoint" || c.name == "mask" ||
			c.name == "replace" {
			continue // files with a checksum or without a header have their own tests
		}
		first, rest, _ := strings.Cut(string(c.samples[0]), "\n")
		kind, written, _ := strings.Cut(first, " ")
		known, err := strconv.Atoi(written)
		if err != nil {
			t.Fatal(err)
		}
		b := kind + " 7\n" + rest
		_, err = c.again([]byte(b))
		var v *format.VersionError
		if !errors.As(err, &v) || v.Got != 7 || v.Known != known {
			t.Errorf("%s: got %v, want a VersionError", c.name, err)
		}
	}
}

func TestRefuseTooLarge(t *testing.T) {
	q := string(codecOf(t, "entry").samples[0])
	long := strings.Replace(q, "source ",
		strings.Repeat("result "+strings.Repeat("a", 200)+"\n", format.MaxHeader/200)+"source ", 1)
	if _, err := format.DecodeEntry([]byte(long)); err == nil ||
		!strings.Contains(err.Error(), "is the most") {
		t.Errorf("got error %v", err)
	}
	e := sampleQuestion()
	for range format.MaxHeader / 200 {
		e.Results = append(e.Results, strings.Repeat("a", 200))
	}
	if _, err := e.Encode(); err == nil || !strings.Contains(err.Error(), "is the most") {
		t.Errorf("got error %v", err)
	}
}

func TestRefuseNodeOf257(t *testing.T) {
	node := string(codecOf(t, "node").samples[0])
	line := "entry " + hexOf + "\n"
	for n, ok := range map[int]bool{0: false, 1: true, 256: true, 257: false} {
		b := fmt.Sprintf("node 1\nlevel 0\ncount %d\n%s", n, strings.Repeat(line, n))
		if _, err := format.DecodeNode([]byte(b)); (err == nil) != ok {
			t.Errorf("%d entries: got error %v", n, err)
		}
	}
	if !strings.HasPrefix(node, "node 1\nlevel 0\ncount 2\nentry ") {
		t.Errorf("the sample has another form: %q", node)
	}
}
