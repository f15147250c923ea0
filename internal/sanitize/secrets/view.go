package secrets

import (
	"bytes"
	"slices"
	"sort"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// view is a text in another way of reading.
type view struct {
	text []byte
	from []int // offset in the original of the last byte before each byte of the text
}

func viewFrom(start int) view { return view{from: []int{start - 1}} }

// add appends a byte that ends at an offset of the original.
func (v *view) add(c byte, last int) { v.text, v.from = append(v.text, c), append(v.from, last) }

// found adds what was found in the text of the view.
func (v *view) found(found, inView []Found) []Found {
	for _, s := range inView {
		found = append(found, Found{s.Class, v.from[s.From] + 1, v.from[s.To] + 1})
	}
	return found
}

// percentEncoded finds secrets in percent-encoded words. Whole URLs are encoded this way when they
// are parameters of other URLs.
func percentEncoded(found []Found, b []byte) []Found {
	for at := 0; ; {
		i := chars.IndexFrom(b, at, "%")
		if i < 0 {
			return found
		}
		if !isPercent(b, i) {
			at = i + 1
			continue
		}
		start := chars.RunStart(b, at, i, isAuthorityOrPath)
		end := chars.RunEnd(b, i, isAuthorityOrPath)
		at = end
		v := viewFrom(start)
		for i := start; i < end; i++ {
			c, last := b[i], i
			if isPercent(b, i) {
				if c, last = unhex(b[i+1])<<4|unhex(b[i+2]), i+2; c == '&' {
					c = ' ' // an encoded ampersand ends a value as a plain one does
				}
			} else if c == '+' {
				c = ' '
			}
			v.add(c, last)
			i = last
		}
		spans, _ := rules(v.text)
		found = v.found(found, spans)
	}
}

// escapedLines finds, in a literal with escaped line ends, the files that must be read line by
// line.
func escapedLines(found []Found, b []byte) []Found {
	v := viewFrom(0)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if at := chars.RunEnd(b, i, func(c byte) bool { return c == '\\' }); at > i && at < len(b) {
			i, c = at, chars.Unescape(b[at])
		}
		v.add(c, i)
	}
	return v.found(found, manifests(v.text))
}

// withoutEntities finds secrets between quotation marks and brackets as HTML writes them.
func withoutEntities(found []Found, b []byte) []Found {
	v := viewFrom(0)
	for i := 0; i < len(b); i++ {
		c, last := b[i], i
		for _, e := range [...]string{"&quot;\"", "&#34;\"", "&#39;'", "&lt;<", "&gt;>", "&amp;&"} {
			if n := len(e) - 1; c == '&' && bytes.HasPrefix(b[i:], []byte(e[:n])) {
				c, last = e[n], i+n-1
				break
			}
		}
		v.add(c, last)
		i = last
	}
	spans, _ := rules(v.text)
	return v.found(found, spans)
}

// manifests finds the data of every Kubernetes Secret in a text.
func manifests(b []byte) (found []Found) {
	for at := 0; ; {
		i := chars.IndexFrom(b, at, "kind: ")
		if i < 0 {
			return found
		}
		found = manifest(found, b, i)
		at = i + 1
	}
}

func isAuthorityOrPath(c byte) bool {
	return !chars.IsSpace(c) && !chars.IsQuote(c) && c != '<' && c != '>'
}

func isPercent(b []byte, i int) bool {
	return b[i] == '%' && i+2 < len(b) && chars.IsHex(b[i+1]) && chars.IsHex(b[i+2])
}

func unhex(c byte) byte {
	if chars.IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// minWrap is the length of the shortest line that a terminal may have wrapped.
const minWrap = 60

// wrappedLines finds secrets that continue on the next line because a terminal or a mail program
// broke the line. found holds the secrets of the single lines.
func wrappedLines(found []Found, b []byte) []Found {
	alone := len(found)
	for start := 0; start < len(b); {
		end, next, ok := wrap(b, start)
		if !ok {
			start = next
			continue
		}
		var j joined
		for ok {
			j.add(b, start, end)
			start = next
			end, next, ok = wrap(b, start)
		}
		j.add(b, start, end)
		start = next
		spans, _ := rules(j.text)
		for _, s := range spans {
			if j.crosses(s, found[:alone]) {
				found = j.split(found, s)
			}
		}
	}
	return found
}

// joined is several lines read as one.
type joined struct {
	text   []byte
	starts []int // where each line begins in text
	from   []int // where each line begins in the original
}

func (j *joined) add(b []byte, start, end int) {
	j.starts, j.from = append(j.starts, len(j.text)), append(j.from, start)
	j.text = append(j.text, b[start:end]...)
}

// before returns the original offset of the byte at an offset of j.text.
func (j *joined) before(at int) int {
	n := sort.SearchInts(j.starts, at+1) - 1
	return j.from[n] + at - j.starts[n]
}

// wrap returns the end of the line at start, the start of the next line, and whether a word may
// continue there.
func wrap(b []byte, start int) (end, next int, ok bool) {
	nl := bytes.IndexByte(b[start:], '\n')
	if nl < 0 {
		return len(b), len(b), false
	}
	end, next = start+nl, start+nl+1
	if !mayWrap(b, start, end) {
		return end, next, false
	}
	if b[end-1] == '\r' {
		end--
	}
	left := chars.RunStart(b, max(start, end-128), end, chars.NotSpace)
	right := chars.RunEnd(b[:min(len(b), next+128)], next, chars.NotSpace)
	if isUpper, ok := assigns(b[start:end]); ok {
		if alike, also := assigns(b[next:right]); also && alike == isUpper {
			return end, next, false // two variables of a list, as env prints it
		}
	}
	return end, next,
		end-left+right-next >= 12 && (continues(b[left:end]) || continues(b[next:right]))
}

// mayWrap reports whether the line b[start:end], with a line feed behind it, is so long that a
// terminal may have broken it within a word.
func mayWrap(b []byte, start, end int) bool {
	if end > start && b[end-1] == '\r' {
		end--
	}
	if end-start < minWrap || chars.IsSpace(b[end-1]) || b[end-1] == markClose {
		return false
	}
	next := chars.RunEnd(b, end, func(c byte) bool { return c == '\r' }) + 1
	return next < len(b) && !chars.IsSpace(b[next])
}

// assigns reports whether a line begins with a name of one case that gets a value. The end of a
// random string before its padding is none.
func assigns(line []byte) (isUpper, ok bool) {
	name, value, found := bytes.Cut(bytes.TrimPrefix(line, []byte("export ")), []byte("="))
	if !found || len(name) < 3 || len(value) == 0 || value[0] == '=' || !chars.IsLetter(name[0]) {
		return false, false
	}
	isUpper = chars.IsUpper(name[0])
	return isUpper, chars.Only(name, func(c byte) bool {
		return chars.IsDigit(c) || c == '_' || c == '.' || c == '-' ||
			chars.IsLetter(c) && chars.IsUpper(c) == isUpper
	})
}

// continues reports whether v may be a piece of a random string, and is no plain word.
func continues(v []byte) bool {
	if len(v) < 8 && chars.Only(v, chars.IsLower) {
		return false // most words
	}
	m := chars.Measure(v)
	return m.Digits > 0 || m.Turns >= 2 || m.OneCase >= 24 || m.Length >= 8 && m.UnlikeWords() ||
		m.Length >= 4 && bytes.IndexByte(v, '=') >= 0
}

// GoesOn is a stricter form of continues, for text after a secret that is complete without it: the
// text must be no word, and no word with a number.
func GoesOn(v []byte) bool {
	m := chars.Measure(v)
	return m.Switches >= 2 || m.Digits >= 4 || m.Turns >= 3 || m.Length >= 8 && m.UnlikeWords() ||
		m.OneCase >= 24 || m.Length >= 4 && bytes.IndexByte(v, '=') >= 0
}

// split appends the part of a secret in each line, so that a redaction keeps the lines.
func (j *joined) split(found []Found, s Found) []Found {
	for n, start := range j.starts {
		end := len(j.text)
		if n+1 < len(j.starts) {
			end = j.starts[n+1]
		}
		if from, to := max(s.From, start), min(s.To, end); from < to {
			found = append(found, Found{s.Class, j.from[n] + from - start, j.from[n] + to - start})
		}
	}
	return found
}

// crosses reports whether a secret continues behind the first joint in it: it was no secret without
// the continuation, or the continuation is no word. alone holds the secrets of the single lines.
func (j *joined) crosses(s Found, alone []Found) bool {
	for _, joint := range j.starts[1:] {
		if joint <= s.From && s.From-joint < maxKey &&
			chars.RunEnd(j.text[:s.From], joint,
				chars.NotSpace) == s.From {
			return true // the key continues behind the joint, and its value follows there
		}
		if joint <= s.From || joint >= s.To {
			continue
		}
		first := j.before(joint)
		begins := func(a Found) bool { return a.From == first && !isGeneric(a.Class) }
		if slices.ContainsFunc(alone, begins) {
			return false // a separate token begins the next line
		}
		if GoesOn(j.text[joint:s.To]) {
			return true
		}
		if isGeneric(s.Class) {
			return false
		}
		last := j.before(joint - 1)
		return !slices.ContainsFunc(alone,
			func(a Found) bool { return a.From <= last && last < a.To })
	}
	return false
}
