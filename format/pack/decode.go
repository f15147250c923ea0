package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// decoder reads a block.
type decoder struct {
	far       func(uint32) (format.ID, error)
	nonces    *nonces
	external  []byte
	words     []string
	templates [][]byte // the numbers of words, as varints
	columns   []varint.Reader
	memories  []memory
	bodies    varint.Reader

	drop    bool // bodies are not wanted
	skip    int  // of the objects before it only the ids are wanted
	objects []Object
	header  []byte // of the object that is being read
	headers []byte // of some objects before it
	size    int    // of all headers
	texts   []byte // bodies whose nonce is derived

	// Who asks for one object has no use for the bodies of those before it. lazy says that a body
	// whose nonce is derived is not put together; late has the nonces of those of which that was so,
	// and their Body is then a text without it.
	lazy bool
	late []lateNonce
	hash hash.Hash // for sumOf; made when it is first needed

	special   [extractColumns]int // the columns of extracts; zeros for none
	said      [][]byte            // the bodies of all objects, where there are extracts
	sources   map[int]source      // the entries that sentences named, by number
	lastEntry int64
	extracts  int
}

const (
	errBlock  = fault("bad block")
	errDigest = fault("block does not match its digest")
)

// Decode returns the objects of a block of the given number of objects, whose ids have the given
// digest; so the ids, and with them headers and bodies, are what was written. far gives the id of
// an object in an earlier self-contained block; it is nil for a self-contained block. The bytes
// share memory with raw, and with each other. Memory: raw, 128 MiB of headers at most, as much
// again as the bodies, and 16 MiB of extracts. Where only headers are wanted, bodies is false and
// no Body is set.
func Decode(
	raw []byte, count int, digest format.ID, key Key, bodies bool,
	far func(uint32) (format.ID, error),
) ([]Object, error) {
	r, err := Open(raw, count, digest, key, far)
	if err != nil {
		return nil, err
	}
	r.d.drop = !bodies
	return r.All()
}

// Reader reads the objects of a block, in their order, as far as they are asked for. It is not for
// several goroutines.
type Reader struct {
	d      decoder
	open   func() (decoder, error) // makes a decoder that is at the beginning
	count  int
	digest format.ID
	sum    hash.Hash
	err    error // what ended the reading
	proven bool
	twice  bool // the reading began again: what was not kept was asked for
}

// keptBefore is how many objects a reader keeps before one that is asked for, as who asks for a
// message asks for its neighbours. Of those further back it keeps the ids, which later ones name.
const keptBefore = 64

// Open returns a reader of a block; see Decode.
func Open(
	raw []byte, count int, digest format.ID, key Key, far func(uint32) (format.ID, error),
) (*Reader, error) {
	r := &Reader{count: count, digest: digest}
	r.open = func() (decoder, error) {
		d := decoder{far: far, nonces: newNonces(key)}
		err := d.parts(raw, count)
		return d, err
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	return r, nil
}

// begin makes the reader read from the first object on.
func (r *Reader) begin() (err error) {
	r.sum = sha256.New()
	r.d, err = r.open()
	return err
}

// At returns an object and reads no further; for one that it passed over before it begins again,
// once in the life of a reader. The object's id follows from its header and the body; the digest of
// the block was not compared. So it is proven only to a caller that asked for this id.
func (r *Reader) At(i int) (Object, error) {
	if i < 0 || i >= r.count {
		return Object{}, errBlock
	}
	mayPass := !r.proven && !r.twice && r.d.special[0] == 0 // an extract quotes what is far back
	switch {
	case mayPass && i < len(r.d.objects) && r.d.objects[i].Header == nil:
		r.again()
	case mayPass:
		r.d.skip = max(r.d.skip, i-keptBefore)
	}
	r.d.lazy = !r.d.drop
	for len(r.d.objects) <= i && r.err == nil {
		r.next()
	}
	if i >= len(r.d.objects) {
		return Object{}, r.err
	}
	r.d.wake(i)
	return r.d.objects[i], nil
}

// All returns all objects, once the digest of the block is that of their ids.
func (r *Reader) All() ([]Object, error) {
	if r.d.skip > 0 && !r.proven {
		r.again()
	}
	r.d.lazy = false
	for len(r.d.objects) < r.count && r.err == nil {
		r.next()
	}
	for i := range r.d.late {
		r.d.wake(i)
	}
	r.d.late = nil
	if r.err == nil && !r.proven {
		r.prove()
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.d.objects, nil
}

// again begins the reading again, for all objects.
func (r *Reader) again() {
	drop := r.d.drop
	r.d = decoder{} // what was kept goes first
	r.err = r.begin()
	r.d.drop, r.twice = drop, true
}

// Extracts returns how many bytes the extracts take that were read so far, which are not in the
// block's own.
func (r *Reader) Extracts() int { return r.d.extracts }

func (r *Reader) next() {
	if err := r.d.object(); err != nil {
		r.err = fmt.Errorf("object %d of a block: %w", len(r.d.objects), err)
		return
	}
	r.sum.Write(r.d.objects[len(r.d.objects)-1].ID[:])
}

// prove compares the digest, once all objects were read, and looks whether anything is left over.
func (r *Reader) prove() {
	if r.proven = format.ID(r.sum.Sum(nil)) == r.digest; !r.proven {
		r.err = errDigest
		return
	}
	for i := range r.d.columns {
		if len(r.d.columns[i].Rest) > 0 {
			r.err = errBlock
		}
	}
	if len(r.d.bodies.Rest) > 0 {
		r.err = errBlock
	}
	// Nothing is read any more, and what was needed for it takes as much as the headers
	if r.err == nil {
		r.d, r.open = decoder{objects: r.d.objects, extracts: r.d.extracts}, nil
	}
}

// parts reads what stands before the bodies.
func (d *decoder) parts(raw []byte, count int) error {
	r := varint.Reader{Rest: raw}
	if n := r.Uvarint(); n != uint64(count) || count < 1 || count > MaxObjects {
		return errBlock
	}
	d.external = r.Take(uint64(r.Count(len(format.ID{})) * len(format.ID{})))
	words := r.Count(1)
	if words > maxWords {
		return errBlock
	}
	for i := range words {
		d.words = append(d.words, r.String())
		if n := slices.Index(extractWords[:], d.words[i]); n >= 0 {
			d.special[n] = fixedColumns + i
		}
	}
	if slices.Contains(d.special[:], 0) {
		d.special = [extractColumns]int{}
	}
	templates := r.Count(1)
	if templates > maxWords {
		return errBlock
	}
	for range templates {
		d.templates = append(d.templates, r.Take(r.Uvarint()))
	}
	d.columns = make([]varint.Reader, fixedColumns+words)
	d.memories = make([]memory, fixedColumns+words)
	for i := range d.columns {
		d.columns[i].Rest = r.Take(r.Uvarint())
	}
	d.bodies.Rest = r.Rest
	d.objects = make([]Object, 0, count)
	return r.Err
}

// object reads the next object.
func (d *decoder) object() error {
	n := d.columns[colTemplates].Uvarint()
	if n >= uint64(len(d.templates)) || d.columns[colTemplates].Err != nil {
		return errBlock
	}
	d.header = d.header[:0]
	var body []byte
	most := min(format.MaxHeader, maxHeaders-d.size) // bytes of a header
	for template := (varint.Reader{Rest: d.templates[n]}); len(template.Rest) > 0; {
		w := template.Uvarint()
		if w >= uint64(len(d.words)) || template.Err != nil {
			return errBlock
		}
		word := d.words[w]
		if word == bodyWord {
			if len(template.Rest) > 0 {
				return errBlock
			}
			var err error
			if body, err = d.body(most); err != nil {
				return err
			}
			break
		}
		if word == linesWord {
			lines := &d.columns[fixedColumns+int(w)]
			d.header = append(d.header, lines.Take(lines.Uvarint())...)
			if lines.Err != nil || len(d.header) > most {
				return errBlock
			}
			continue
		}
		d.header = append(d.header, word...)
		if word != "" && word[len(word)-1] == ' ' {
			c := fixedColumns + int(w)
			d.header = readValue(d.header, most, &d.columns[c], &d.memories[c], d.name)
			if err := d.columns[c].Err; err != nil {
				return err
			}
		}
		d.header = append(d.header, '\n')
		if len(d.header) > most {
			return errBlock
		}
	}
	if d.size += len(d.header); d.size > maxHeaders {
		return errBlock
	}
	if n := len(d.objects); n < d.skip {
		d.objects = append(d.objects, Object{ID: format.Sum(d.header)})
		if d.late != nil {
			d.late[n] = lateNonce{}
		}
		return nil
	}
	header := d.keepHeader()
	o := Object{ID: format.Sum(header), Header: header, Stored: body != nil}
	if !d.drop {
		o.Body = body
	}
	d.objects = append(d.objects, o)
	if d.special[0] != 0 {
		d.said = append(d.said, body)
	}
	return nil
}

const (
	// roomOfHeader is more than most headers have, in bytes.
	roomOfHeader = 512
	// largeHeader is how many bytes a header has that gets memory of its own: where it grew in that
	// of others, all of these were copied with it, and kept twice.
	largeHeader = 1 << 14
)

// keepHeader returns the header that was put together in memory that stays. Small ones share it.
func (d *decoder) keepHeader() []byte {
	n := len(d.header)
	if n >= largeHeader {
		header := bytes.Clone(d.header)
		if cap(d.header) > 4*largeHeader {
			d.header = nil // what follows is seldom as large
		}
		return header
	}
	if cap(d.headers)-len(d.headers) < n {
		d.headers = make([]byte, 0,
			max(n, min(roomOfHeader*(cap(d.objects)-len(d.objects)), 1<<18)))
	}
	at := len(d.headers)
	d.headers = append(d.headers, d.header...)
	return d.headers[at : at+n : at+n]
}

// name appends the text of the id of a token.
func (d *decoder) name(dst []byte, token byte, col *varint.Reader, m *memory) []byte {
	var id format.ID
	switch back := uint64(0); token {
	case tokenOwn:
		m.own += col.Varint()
		if m.own < 0 || m.own >= int64(len(d.objects)) {
			col.Fail(errValue)
			return dst
		}
		id = d.objects[m.own].ID
	case tokenFar:
		m.far += col.Varint()
		if d.far == nil || m.far < 0 || m.far > 1<<32-1 {
			col.Fail(errValue)
			return dst
		}
		var err error
		if id, err = d.far(uint32(m.far)); err != nil {
			col.Fail(err)
			return dst
		}
	default:
		back = col.Uvarint()
		if back == 0 {
			n := col.Uvarint()
			if n >= uint64(len(d.external)/len(id)) {
				col.Fail(errValue)
				return dst
			}
			copy(id[:], d.external[int(n)*len(id):])
			break
		}
		if back > uint64(len(d.objects)) {
			col.Fail(errValue)
			return dst
		}
		id = d.objects[len(d.objects)-int(back)].ID
	}
	return hex.AppendEncode(dst, id[:])
}

// body reads a body and appends its line to the header, which has most bytes then.
func (d *decoder) body(most int) (body []byte, err error) {
	form, size := d.columns[colForms].Byte(), d.columns[colSizes].Uvarint()
	if err := errors.Join(d.columns[colForms].Err, d.columns[colSizes].Err); err != nil {
		return nil, err
	}
	if size > format.MaxBody {
		return nil, errBlock
	}
	var digest format.ID
	switch form {
	case bodyPlain:
		body = d.bodies.Take(size)
		if body == nil {
			body = []byte{}
		}
		digest = sha256.Sum256(body)
	case bodyDerived:
		if d.nonces == nil || !hasNonce(d.header) {
			return nil, errBlock
		}
		nonce, text := d.nonces.of(d.header), d.bodies.Take(size)
		size += format.NonceLen
		switch {
		case d.special[0] != 0: // extracts quote it
		case d.drop:
			body, digest = []byte{}, d.sumOf(nonce, text) // nobody reads it: no copy is made
		case d.lazy:
			body, digest = d.putOff(nonce, text), d.sumOf(nonce, text)
		}
		if body != nil {
			break
		}
		body = d.withNonce(nonce, text)
		digest = sha256.Sum256(body)
	case bodyExtract:
		if d.nonces == nil || !hasNonce(d.header) {
			return nil, errBlock
		}
		nonce := d.nonces.of(d.header)
		if body, err = d.extract(bytes.Clone(nonce), size, maxExtracts-d.extracts); err != nil {
			return nil, err
		}
		digest, size = sha256.Sum256(body), uint64(len(body))
		d.extracts += len(body)
	case bodyAbsent:
		copy(digest[:], d.columns[colDigests].Take(uint64(len(digest))))
	default:
		return nil, errBlock
	}
	d.header = append(d.header, bodyWord...)
	d.header = hex.AppendEncode(d.header, digest[:])
	d.header = append(d.header, ' ')
	d.header = strconv.AppendUint(d.header, size, 10)
	d.header = append(d.header, ' ')
	d.header = readValue(d.header, most, &d.columns[colMedia], &d.memories[colMedia], d.name)
	d.header = append(d.header, '\n')
	return body, errors.Join(d.bodies.Err, d.columns[colDigests].Err, d.columns[colMedia].Err)
}

// sumOf returns the digest of a nonce and a text behind it.
func (d *decoder) sumOf(nonce, text []byte) (digest format.ID) {
	if d.hash == nil {
		d.hash = sha256.New()
	}
	d.hash.Reset()
	d.hash.Write(nonce)
	d.hash.Write(text)
	d.hash.Sum(digest[:0])
	return digest
}

// lateNonce is the nonce of a body that was put off.
type lateNonce struct {
	bytes [format.NonceLen]byte
	there bool
}

// putOff returns a text as the body of the next object, whose nonce wake puts in front.
func (d *decoder) putOff(of, text []byte) []byte {
	if text == nil {
		return nil
	}
	if d.late == nil {
		d.late = make([]lateNonce, cap(d.objects))
	}
	d.late[len(d.objects)] = lateNonce{[format.NonceLen]byte(of), true}
	return text
}

// wake makes the body of an object whole if that was put off.
func (d *decoder) wake(i int) {
	if d.late == nil || !d.late[i].there || i >= len(d.objects) {
		return
	}
	d.late[i].there = false
	o := &d.objects[i]
	o.Body = slices.Concat(d.late[i].bytes[:], o.Body)
}

// withNonce returns a nonce and a text behind it.
func (d *decoder) withNonce(nonce, text []byte) []byte {
	n := len(nonce) + len(text)
	if cap(d.texts)-len(d.texts) < n {
		d.texts = make([]byte, 0,
			max(n, len(d.bodies.Rest)+len(text)+format.NonceLen*(cap(d.objects)-len(d.objects))))
	}
	at := len(d.texts)
	d.texts = append(append(d.texts, nonce...), text...)
	return d.texts[at : at+n : at+n]
}
