package sanitize

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
)

// maxFile is the largest number of bytes in base64 of a file whose text is searched.
const maxFile = 2 << 20

// isTextType reports whether a type of media that s begins with is that of a text.
func isTextType(s []byte) bool {
	end := bytes.IndexAny(s, `";,`)
	if end < 0 {
		return false
	}
	s = s[:end]
	if bytes.HasPrefix(s, []byte("text/")) {
		return true
	}
	of, isOf := bytes.CutPrefix(s, []byte("application/"))
	if i := bytes.LastIndexByte(of, '+'); i >= 0 {
		of = of[i+1:]
	}
	switch string(bytes.TrimPrefix(of, []byte("x-"))) {
	case "json", "xml", "yaml", "toml", "javascript", "typescript", "sh", "env":
		return isOf
	}
	return false
}

// dataURL cleans the file in a string that was found clean. s is what the string says.
func (w *walker) dataURL(t token, s []byte) {
	url, ok := bytes.CutPrefix(s, []byte("data:"))
	if !ok || !isTextType(url) {
		return
	}
	head, _, ok := bytes.Cut(s[:min(len(s), 256)], []byte(";base64,"))
	if ok {
		w.file(t, len(head)+len(";base64,"))
	}
}

// file replaces the secrets in the text of a file: base64 in a string, from a byte of what the
// string says.
func (w *walker) file(t token, from int) {
	if w.err != nil || t.end-t.start > maxFile || w.copied > t.start && !w.finds {
		return // what was copied has its turn in the next round
	}
	said := unquote(w.in[t.start+1 : t.end-1])
	plain, err := base64.StdEncoding.AppendDecode(nil, said[from:])
	if err != nil {
		return
	}
	found, err := Find(plain)
	if err != nil {
		w.err = err
	}
	if len(found) == 0 || w.err != nil {
		return
	}
	for _, f := range found {
		w.found.add(f.Class, 1)
		f.From, f.To = t.start+1, t.end-1
		if w.finds && !slices.Contains(w.spots, f) {
			w.spots = append(w.spots, f)
		}
	}
	if w.finds {
		return
	}
	plain = secrets.Redact(plain, found)
	out := base64.StdEncoding.AppendEncode(bytes.Clone(said[:from]), plain)
	w.out = append(append(w.out, w.in[w.copied:t.start]...), jsonvalue.Encode(string(out))...)
	w.copied = t.end
}
