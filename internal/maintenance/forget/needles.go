package forget

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// needle is a text in the forms in which it may stand in a body.
type needle []string

// leastEncoded is how many bytes a text must have to be looked for in base64 and hexadecimal
// digits, and leastWrapped over the ends of lines: of a shorter one, too little is left to know it.
const leastEncoded, leastWrapped = 8, 12

// needles returns a text as it is, and as it is written in other texts: by JSON, once and twice,
// since a tool may print JSON, which is then a string of a message's parts; in a URL, in HTML and
// in quotes of a shell; in base64, wherever in the encoded bytes it begins, and in hexadecimal
// digits.
func needles(text string) needle {
	n := needle{text}
	add := func(forms ...string) {
		for _, s := range forms {
			if !slices.Contains(n, s) {
				n = append(n, s)
			}
		}
	}
	for range 2 {
		for _, s := range n {
			add(quoted(s, true), quoted(s, false))
		}
	}
	query := url.QueryEscape(text)
	spaced := strings.ReplaceAll(query, "+", "%20")
	unescaped := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	for _, s := range []string{query, spaced, unescaped.Replace(spaced), url.PathEscape(text)} {
		lower := []byte(s)
		for i := range lower[:max(0, len(s)-2)] {
			if s[i] == '%' {
				copy(lower[i:], strings.ToLower(s[i:i+3]))
			}
		}
		add(s, string(lower))
	}
	marked := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	add(marked, strings.NewReplacer(`"`, "&#34;", "'", "&#39;").Replace(marked),
		strings.NewReplacer(`"`, "&quot;", "'", "&apos;").Replace(marked),
		strings.ReplaceAll(text, "'", `'\''`))
	if len(text) < leastEncoded {
		return n
	}
	for before := range 3 {
		bits := 8 * (before + len(text))
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			encoded := e.EncodeToString([]byte("   "[:before] + text))
			add(encoded[(8*before+5)/6 : bits/6])
		}
	}
	add(hex.EncodeToString([]byte(text)))
	return n
}

// quoted is a text between the quotes of a JSON string.
func quoted(s string, forHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(forHTML)
	if e.Encode(s) != nil {
		return s
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return string(out[1 : len(out)-1])
}

// in reports whether the text stands in bytes, or in a string of what these are as JSON.
func (n needle) in(b []byte) bool {
	found := n.within(string(b))
	jsonvalue.Texts(b, func(s string) { found = found || n.within(s) })
	return found
}

// within reports whether the text stands in s, or did before the lines of s were broken.
func (n needle) within(s string) bool {
	return slices.ContainsFunc(n, func(form string) bool { return strings.Contains(s, form) }) ||
		len(n[0]) >= leastWrapped && strings.Contains(s, "\n") &&
			strings.Contains(strings.NewReplacer("\r\n", "", "\n", "").Replace(s), n[0])
}
