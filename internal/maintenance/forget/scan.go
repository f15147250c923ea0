package forget

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/sanitize"
)

// ScanOptions are for Scan.
type ScanOptions struct {
	Rule     string // a class; "" or anyClass for all
	Progress graph.Progress
}

// Secret is where something that looks like a secret is stored. What it is, is not told.
type Secret struct {
	ID    format.ID `json:"id"`
	Kind  string    `json:"kind"` // of the object; of an entry its own
	Class string    `json:"class"`
	From  int       `json:"from"` // the first byte in the text, from 0
	To    int       `json:"to"`   // the byte behind the last one
}

// ScanReport is what Scan went through.
type ScanReport struct {
	Bodies  int // read, each once
	Secrets int
	Unread  []string // files that cannot be read as what they are
}

// Scan looks through every stored body with the rules of today, and calls each for what looks like
// a secret, object by object. It takes no lock and writes nothing; memory does not grow with the
// store but for the ids of what is stored more than once.
func Scan(
	ctx context.Context, s *store.Opened, o ScanOptions, each func(Secret) error,
) (ScanReport, error) {
	var report ScanReport
	twice := map[format.ID]bool{} // packed objects that were met in the log
	err := s.Objects.Contents(func(at objects.Place, raw format.Raw) error {
		if report.Bodies%1024 == 0 {
			o.Progress.Tell(report.Bodies, 0, "scanning")
		}
		if raw.Body == nil || twice[at.ID] {
			return ctx.Err()
		}
		if s.Objects.IsLogged(at.ID) {
			twice[at.ID] = true
		}
		report.Bodies++
		found, err := SecretsIn(at.ID, raw)
		if err != nil {
			return err
		}
		for _, f := range found {
			if o.Rule != "" && o.Rule != anyClass && f.Class != o.Rule {
				continue
			}
			report.Secrets++
			if err := each(f); err != nil {
				return err
			}
		}
		return ctx.Err()
	}, func(path string, _ error) error {
		report.Unread = append(report.Unread, path)
		return ctx.Err()
	})
	return report, err
}

// SecretsIn returns what looks like a secret in the body of an object, under the rules of today. It
// is empty for an object without a body.
func SecretsIn(id format.ID, raw format.Raw) ([]Secret, error) {
	if raw.Body == nil {
		return nil, nil
	}
	_, media, text, err := storedText(raw)
	if err != nil {
		return nil, err
	}
	found, err := findSecrets(media, text)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	kind, err := kindOf(raw.Header)
	return lists.Map(found, func(f sanitize.Found) Secret {
		return Secret{id, kind, f.Class, f.From, f.To}
	}), err
}

// kindOf returns the kind of an object, of an entry that of the entry.
func kindOf(header []byte) (string, error) {
	kind, _, err := format.HeaderKind(header)
	if e, bad := format.DecodeEntry(header); kind == "entry" && bad == nil {
		kind = e.Kind
	}
	return kind, err
}

// findSecrets runs the rules over a text. JSON is read string by string, and the texts of a message
// as one; the sentences of a summary are of different messages, so each is read by itself. What
// says that it is JSON and is not is read as text.
func findSecrets(media string, text []byte) ([]sanitize.Found, error) {
	find := sanitize.Find
	switch {
	case media == format.MediaExtract:
		find = sanitize.FindStrings
	case isJSON(media):
		find = sanitize.FindJSON
	}
	found, err := find(text)
	if err != nil {
		found, err = sanitize.Find(text)
	}
	return found, err
}

func isJSON(media string) bool {
	return media == format.MediaParts || strings.HasSuffix(media, "/json") ||
		strings.HasSuffix(media, "+json")
}

// storedText takes an object with a body apart: its kind, of what its body is, and the body without
// the nonce that some have in front.
func storedText(raw format.Raw) (kind, media string, text []byte, err error) {
	kind, _, err = format.HeaderKind(raw.Header)
	if err != nil {
		return "", "", nil, err
	}
	body, _, err := format.HeaderBody(raw.Header)
	if err != nil {
		return "", "", nil, err
	}
	return kind, body.Media, raw.Text(), nil
}

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
	digits := hex.EncodeToString([]byte(text))
	add(digits, strings.ToUpper(digits))
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
	if slices.ContainsFunc(n, func(form string) bool { return strings.Contains(s, form) }) {
		return true
	}
	spaced := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return len(n[0]) >= leastWrapped && strings.Contains(s, "\n") &&
		(strings.Contains(strings.NewReplacer("\r\n", "", "\n", "").Replace(s), n[0]) ||
			strings.Contains(spaced(s), spaced(n[0])))
}
