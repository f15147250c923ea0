// Package embedded turns objects of a store into the text that a page carries, and back. The same
// objects give the same text. docs/format/page.md describes it.
//
// Begin with Encode and Decode. The package is pure.
package embedded

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/format"
)

// Entries are the objects of a branch, and where they belong.
type Entries struct {
	Store, Session, Branch string
	Tip                    format.ID
	// Objects are in an order in which no object names a later one. An object whose words were left
	// out has a nil Body.
	Objects []format.Raw
}

// ErrForm is the error of a text that is not as Encode writes it.
const ErrForm = wrongForm("not the entries of a page")

// wrongForm is a type of its own, so that ErrForm needs no initialiser when ctx starts.
type wrongForm string

func (e wrongForm) Error() string { return string(e) }

func formError(why string) error { return fmt.Errorf("%w: %s", ErrForm, why) }

// magic begins the bytes before they are compressed. The number is the version.
const magic = "ctx-entries 1\n"

// The bytes that stand for what a reader can work out. No header has them.
const (
	markEarlier = 1 // an id: of the object so many before this one, as a number
	markBytes   = 2 // an id, as 32 bytes
	markBody    = 3 // the digest and the size of the body, which follow from the body
)

// MostBytes is the most bytes that Decode unpacks.
const MostBytes = 1 << 30

// mostObjects is the most objects in a page.
const mostObjects = 10_000_000

// Encode returns the text of entries. It has only letters, digits, +, / and =.
func Encode(e *Entries) (string, error) {
	w := writer{at: map[format.ID]int{}}
	w.b = append(w.b, magic...)
	for _, s := range []string{e.Store, e.Session, e.Branch} {
		w.text([]byte(s))
	}
	w.b = append(w.b, e.Tip[:]...)
	w.b = binary.AppendUvarint(w.b, uint64(len(e.Objects)))
	for i, raw := range e.Objects {
		w.object(i, raw)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(z.EncodeAll(w.b, nil)), z.Close()
}

type writer struct {
	b  []byte
	at map[format.ID]int // number of an object
}

func (w *writer) text(b []byte) {
	w.b = binary.AppendUvarint(w.b, uint64(len(b)))
	w.b = append(w.b, b...)
}

// object appends a header and a body. The length of a body is one more than its number of bytes; 0
// is no body.
func (w *writer) object(i int, raw format.Raw) {
	w.text(w.header(i, raw))
	if raw.Body == nil {
		w.b = append(w.b, 0)
	} else {
		w.b = binary.AppendUvarint(w.b, uint64(len(raw.Body))+1)
		w.b = append(w.b, raw.Body...)
	}
	w.at[raw.ID()] = i
}

// header returns a header in short.
func (w *writer) header(i int, raw format.Raw) []byte {
	header, tail := raw.Header, []byte(nil)
	if raw.Body != nil {
		if sum := bodyLine(raw.Body); bytes.Contains(header, sum) {
			at := bytes.LastIndex(header, sum)
			header, tail = header[:at], append([]byte{markBody}, header[at+len(sum):]...)
		}
	}
	var out []byte
	for len(header) > 0 {
		n := hexLen(header)
		if n != 2*len(format.ID{}) {
			n = max(n, 1)
			out, header = append(out, header[:n]...), header[n:]
			continue
		}
		var id format.ID
		_, _ = hex.Decode(id[:], header[:n]) // hexLen has looked
		if earlier, ok := w.at[id]; ok {
			out = binary.AppendUvarint(append(out, markEarlier), uint64(i-earlier))
		} else {
			out = append(append(out, markBytes), id[:]...)
		}
		header = header[n:]
	}
	return append(out, tail...)
}

// bodyLine is what a header says of the digest and the size of a body.
func bodyLine(body []byte) []byte {
	sum := format.SumBody(body, "")
	return fmt.Appendf(nil, "sha256:%x %d ", sum.Digest, sum.Size)
}

// hexLen returns how many digits stand at the beginning of b.
func hexLen(b []byte) int {
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return i
		}
	}
	return len(b)
}

// Decode reads what Encode has written. It checks the form, and that the body of each object is the
// one that its header names. It returns ErrForm for anything else.
func Decode(text []byte) (*Entries, error) {
	packed, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil, formError("not base64")
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MostBytes),
		zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	b, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, formError("cannot be unpacked")
	}
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, formError("another version")
	}
	r := reader{b: rest}
	e := &Entries{Store: string(r.text()), Session: string(r.text()), Branch: string(r.text())}
	copy(e.Tip[:], r.bytes(uint64(len(e.Tip))))
	n := r.number()
	if n > mostObjects {
		return nil, formError("too many objects")
	}
	for i := uint64(0); i < n && r.err == nil; i++ {
		raw := r.object()
		r.ids = append(r.ids, raw.ID())
		e.Objects = append(e.Objects, raw)
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes after the end")
	}
	if r.err != nil {
		return nil, r.err
	}
	return e, nil
}

type reader struct {
	b   []byte
	ids []format.ID // of the objects before
	err error
}

func (r *reader) fail(why string) {
	if r.err == nil {
		r.err = formError(why)
	}
	r.b = nil
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail("a number is cut off")
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("cut off")
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) text() []byte { return r.bytes(r.number()) }

func (r *reader) object() (raw format.Raw) {
	short := reader{b: r.text(), ids: r.ids}
	if n := r.number(); n > 0 {
		raw.Body = r.bytes(n - 1)
	}
	if r.err != nil {
		return raw
	}
	raw.Header = short.header(raw.Body)
	if short.err != nil {
		r.fail("a bad header")
		return raw
	}
	named, has, err := format.HeaderBody(raw.Header)
	switch {
	case err != nil:
		r.fail("a bad header")
	case raw.Body != nil && (!has || named.Check(raw.Body) != nil):
		r.fail("a body is not the one that its header names")
	}
	return raw
}

// header is the inverse of writer.header.
func (r *reader) header(body []byte) []byte {
	var out []byte
	for len(r.b) > 0 && r.err == nil {
		c := r.b[0]
		r.b = r.b[1:]
		switch c {
		case markEarlier:
			n := r.number()
			if n == 0 || n > uint64(len(r.ids)) {
				r.fail("an id of no object")
				return nil
			}
			out = append(out, r.ids[uint64(len(r.ids))-n].String()...)
		case markBytes:
			out = append(out, hex.EncodeToString(r.bytes(uint64(len(format.ID{}))))...)
		case markBody:
			if body == nil {
				r.fail("no body")
				return nil
			}
			out = append(out, bodyLine(body)...)
		default:
			out = append(out, c)
		}
	}
	return out
}
