package format_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

const docs = "../docs/format"

// pageOf names the page of each kind that shares the page of another kind.
var pageOf = map[string]string{"page": "forest.md", "forgotten": "absent.md"}

// example is an example block of a page.
type example struct {
	page, kind string
	data       []byte
	id         string // the id or digest that the line after the block gives; "" if there is none
}

var (
	exampleBlock = regexp.MustCompile(
		"(?ms)^```example ([a-z]+)\n(.*?)^```\n(?:\nIts (?:id|digest) is `([^`]*)`)?")
	dumpLine = regexp.MustCompile(`^([0-9a-f]{8})  ([0-9a-f ]{35})  \|(.{1,16})\|$`)
)

func examples(t *testing.T) []example {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in %s, error %v", docs, err)
	}
	var out []example
	for _, page := range pages {
		text := readPage(t, filepath.Base(page))
		found := exampleBlock.FindAllStringSubmatch(text, -1)
		if n := strings.Count(text, "```example"); n != len(found) {
			t.Errorf("%s: %d of %d examples can be read", page, len(found), n)
		}
		for _, m := range found {
			x := example{page: filepath.Base(page), kind: m[1], data: []byte(m[2]), id: m[3]}
			if x.kind == "operation" || x.kind == "body" || x.kind == "object" {
				x.data = undump(t, x.page, m[2])
			}
			out = append(out, x)
		}
	}
	return out
}

// readPage returns a page with LF line ends, whatever line ends the checkout has.
func readPage(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// undump decodes a hex dump and checks its offsets, columns and text.
func undump(t *testing.T, page, dump string) []byte {
	t.Helper()
	var out []byte
	for line := range strings.Lines(dump) {
		m := dumpLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("%s: not a line of a dump: %q", page, line)
		}
		b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		out = append(out, b...)
	}
	if dumpOf(out) != dump {
		t.Errorf("%s: offsets or text of a dump do not fit its bytes", page)
	}
	return out
}

// dumpOf is hex.Dump with groups of four bytes, which are easier to find again.
func dumpOf(b []byte) string {
	var out strings.Builder
	at := 0
	for line := range slices.Chunk(b, 16) {
		var groups []string
		for group := range slices.Chunk(line, 4) {
			groups = append(groups, hex.EncodeToString(group))
		}
		text := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, string(latin1(line)))
		fmt.Fprintf(&out, "%08x  %-35s  |%s|\n", at, strings.Join(groups, " "), text)
		at += len(line)
	}
	return out.String()
}

// latin1 returns a rune for each byte.
func latin1(b []byte) (runes []rune) {
	for _, c := range b {
		runes = append(runes, rune(c))
	}
	return runes
}

// TestExamples decodes every example, encodes it again, and compares its id with the page.
func TestExamples(t *testing.T) {
	var header []byte // of the previous example, for a body that follows it
	for _, x := range examples(t) {
		switch x.kind {
		case "body":
			checkExampleBody(t, x, header)
		case "object":
			checkExampleObject(t, x)
		case "value":
			checkExampleValues(t, x)
		default:
			checkExampleOfKind(t, x)
			header = x.data
		}
	}
}

func checkExampleOfKind(t *testing.T, x example) {
	t.Helper()
	c := codecOf(t, x.kind)
	again, err := c.again(x.data)
	if err != nil || !bytes.Equal(again, x.data) {
		t.Errorf("%s: %s: prints as %q, error %v", x.page, x.kind, again, err)
		return
	}
	if !slices.ContainsFunc(c.samples, func(b []byte) bool { return bytes.Equal(b, x.data) }) {
		t.Errorf("%s: %s: is not of the conversation that the other pages tell of", x.page, x.kind)
	}
	switch x.kind {
	case "checkpoint", "store", "absent", "forgotten":
		return // these have no id
	case "operation":
		if _, digest, _, err := format.DecodeOperation(x.data); err != nil ||
			digest.String() != x.id {
			t.Errorf("%s: digest is %s, the page says %q", x.page, digest, x.id)
		}
	default:
		if id := format.Sum(x.data).String(); id != x.id {
			t.Errorf("%s: %s: id is %s, the page says %q", x.page, x.kind, id, x.id)
		}
	}
}

func checkExampleBody(t *testing.T, x example, header []byte) {
	t.Helper()
	body, ok, err := format.HeaderBody(header)
	if err != nil || !ok {
		t.Errorf("%s: a body after a header without one, error %v", x.page, err)
		return
	}
	if err := body.Check(x.data); err != nil {
		t.Errorf("%s: %v", x.page, err)
	}
}

func checkExampleObject(t *testing.T, x example) {
	t.Helper()
	raw, err := format.DecodeRaw(x.data)
	if err != nil {
		t.Errorf("%s: %v", x.page, err)
		return
	}
	body, ok, err := format.HeaderBody(raw.Header)
	if err != nil || !ok || body.Check(raw.Body) != nil || raw.ID().String() != x.id ||
		!bytes.Equal(format.AppendRaw(nil, raw), x.data) {
		t.Errorf("%s: the object is not what the page says", x.page)
	}
}

func checkExampleValues(t *testing.T, x example) {
	t.Helper()
	for line := range strings.Lines(string(x.data)) {
		line = strings.TrimSuffix(line, "\n")
		if v, err := format.ParseValue(line); err != nil || v.String() != line {
			t.Errorf("%s: %q: prints as %q, error %v", x.page, line, v, err)
		}
	}
}

// TestEveryKindHasAPage checks that the page of every kind has an example of it.
func TestEveryKindHasAPage(t *testing.T) {
	shown := map[string]bool{}
	for _, x := range examples(t) {
		shown[x.page+" "+x.kind] = true
	}
	for _, kind := range kindsInSource(t) {
		if kind == "ctx" {
			kind = "store"
		}
		page := kind + ".md"
		if p, ok := pageOf[kind]; ok {
			page = p
		}
		if !shown[page+" "+kind] {
			t.Errorf("%s: no example of it on %s", kind, page)
		}
		codecOf(t, kind)
	}
	for _, c := range codecs(t) {
		page := c.name + ".md"
		if p, ok := pageOf[c.name]; ok {
			page = p
		}
		if !shown[page+" "+c.name] {
			t.Errorf("%s: no example of it on %s", c.name, page)
		}
	}
}

// kindsInSource returns the first words of the headers that the package writes.
func kindsInSource(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	writes := regexp.MustCompile(`(?:encode|EncodeLines)\("([a-z]+)"`)
	var kinds []string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range writes.FindAllSubmatch(b, -1) {
			kinds = append(kinds, string(m[1]))
		}
	}
	if len(kinds) < 10 {
		t.Fatalf("found only %q", kinds)
	}
	return kinds
}

// TestPageLinks checks that README.md links to every page and that no link is dead.
func TestPageLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)\)`)
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := readPage(t, "README.md")
	for _, page := range pages {
		name := filepath.Base(page)
		if name != "README.md" && !strings.Contains(readme, "]("+name+")") {
			t.Errorf("README.md does not name %s", name)
		}
		for _, m := range link.FindAllStringSubmatch(readPage(t, name), -1) {
			if strings.HasPrefix(m[1], "https://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(docs, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestLimitsInPages compares the limits in the table of README.md with the constants.
func TestLimitsInPages(t *testing.T) {
	readme := readPage(t, "README.md")
	for what, n := range map[string]int{
		"a header": format.MaxHeader, "a body, nonce included": format.MaxBody,
		"a name, encoded":             format.MaxName,
		"the payload of an operation": format.MaxPayload,
	} {
		if row := "| " + what + " | " + thousands(n); !strings.Contains(readme, row) {
			t.Errorf("README.md has no row %q", row)
		}
	}
}

// thousands formats a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
