package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// Object is an object of a pack. Body is nil where it has none, and where it is absent.
type Object struct {
	ID     format.ID
	Header []byte
	Body   []byte
	Stored bool // its body is in the block; Decode alone sets it
}

// The kinds of blocks. The objects of a self-contained block follow from the block alone. Those of
// a block of nodes may name any object in a self-contained block before it by its number, and take
// that block to read: a node is a list of many ids, and is seldom read without what it lists.
const (
	Whole = 'w'
	Nodes = 'n'
)

// How the body line of an object is stored.
const (
	bodyPlain   = 'p' // the body is in the block
	bodyDerived = 'd' // so is its text; its nonce follows from the key
	bodyExtract = 'x' // so is its nonce, and its text from sentences of entries of the block
	bodyAbsent  = 'a' // digest and size
)

// Words that stand for more than the beginning of a line.
const (
	bodyWord  = "body sha256:" // the last line of the header of an object with a body
	linesWord = "\n"           // lines as they are
)

// A block, unpacked, is these parts: the ids that its objects name and that are not in it; the
// words with which lines begin; the templates, which are the words of the lines of a header; the
// columns, each a length and as many bytes; the bodies. Of the columns the first five are those
// below, and each word has one behind them.
const (
	colTemplates = iota // of each object: the number of its template
	colForms            // of each body line: how it is stored
	colSizes            // of each body line: bytes that are stored; where it is absent its size; of an extract its sentences
	colMedia            // of each body line: the media type
	colDigests          // of each absent body: its digest
	fixedColumns
)

// Limits that a reader holds to before it trusts a block.
const (
	MaxObjects = 1 << 16              // of a block
	maxWords   = 1 << 12              // of a block, and of templates
	maxHeaders = 2 * format.MaxHeader // bytes
)

// encoder collects the parts of a block.
type encoder struct {
	nonces   *nonces
	far      func(format.ID) (uint32, bool)
	own      map[format.ID]int
	at       int // number of the object
	external map[format.ID]int
	ids      []format.ID

	words     map[string]int
	wordList  []string
	templates map[string]int // by its words' numbers as varints
	tmplList  [][]byte
	columns   [][]byte
	memories  []memory
	bodies    []byte
	template  []byte // of the object under way

	objects   []Object
	special   [extractColumns]int // the columns of extracts; zeros before the first
	lastEntry int64               // the number of the entry of the last sentence
	extracts  int                 // bytes of all extracts
}

// Encode returns a block of objects, in their order, and the digest that names them. far gives the
// number of an object in an earlier block that is self-contained; it is nil for a self-contained
// block. The objects are sound: each header gives the id and names the body.
func Encode(objects []Object, key Key, far func(format.ID) (uint32, bool)) (raw []byte, digest format.ID) {
	e := &encoder{
		nonces:    newNonces(key),
		far:       far,
		own:       make(map[format.ID]int, len(objects)),
		external:  map[format.ID]int{},
		words:     map[string]int{},
		templates: map[string]int{},
		columns:   make([][]byte, fixedColumns),
		memories:  make([]memory, fixedColumns),
		objects:   objects,
	}
	size := 0
	sum := sha256.New()
	for i := range objects {
		size += len(objects[i].Body)
		sum.Write(objects[i].ID[:])
	}
	e.bodies = make([]byte, 0, size)
	for i := range objects {
		e.at = i
		e.object(&objects[i])
		e.own[objects[i].ID] = i
	}
	sum.Sum(digest[:0])
	return e.bytes(len(objects)), digest
}

// bytes puts the parts together.
func (e *encoder) bytes(objects int) []byte {
	size := len(e.bodies) + len(e.ids)*len(format.ID{}) + 1024
	for _, c := range e.columns {
		size += len(c) + 4
	}
	b := make([]byte, 0, size)
	b = binary.AppendUvarint(b, uint64(objects))
	b = binary.AppendUvarint(b, uint64(len(e.ids)))
	for _, id := range e.ids {
		b = append(b, id[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(e.wordList)))
	for _, w := range e.wordList {
		b = varint.AppendString(b, w)
	}
	b = binary.AppendUvarint(b, uint64(len(e.tmplList)))
	for _, t := range e.tmplList {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	for _, c := range e.columns {
		b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
	}
	return append(b, e.bodies...)
}

func (e *encoder) object(o *Object) {
	e.template = e.template[:0]
	lines, last := o.Header, []byte(nil)
	if body, ok, err := format.HeaderBody(o.Header); ok && err == nil {
		at := bytes.LastIndexByte(o.Header[:len(o.Header)-1], '\n') + 1
		if bytes.HasPrefix(o.Header[at:], []byte(bodyWord)) {
			lines, last = o.Header[:at], o.Header[at:]
			defer e.body(lines, body, o.Body)
		}
	}
	if plain(lines) && len(e.wordList)+bytes.Count(lines, []byte{'\n'}) < maxWords-specialWords {
		for len(lines) > 0 {
			line, rest, _ := bytes.Cut(lines, []byte{'\n'})
			e.line(line)
			lines = rest
		}
	} else {
		c := e.use(linesWord)
		e.columns[c] = append(binary.AppendUvarint(e.columns[c], uint64(len(lines))), lines...)
	}
	if last != nil {
		e.use(bodyWord)
	}
	n, ok := e.templates[string(e.template)]
	if !ok {
		n = len(e.tmplList)
		t := bytes.Clone(e.template)
		e.templates[string(t)] = n
		e.tmplList = append(e.tmplList, t)
	}
	e.columns[colTemplates] = binary.AppendUvarint(e.columns[colTemplates], uint64(n))
}

// maxPlain is the longest header that is stored word by word: of a longer one, which is a list, the
// tokens may take more bytes than its text.
const maxPlain = 1 << 20

// plain reports whether lines can be stored word by word. Those of known kinds can.
func plain(lines []byte) bool {
	if len(lines) > maxPlain {
		return false
	}
	for _, c := range lines {
		if c < ' ' && c != '\n' {
			return false
		}
	}
	return len(lines) > 0 && lines[len(lines)-1] == '\n' && !bytes.Contains(lines, []byte(bodyWord))
}

// specialWords is how many words there may be besides those of lines.
const specialWords = 2 + extractColumns

// use adds a word to the template under way, and returns its column.
func (e *encoder) use(word string) (column int) {
	c := e.column(word)
	e.template = binary.AppendUvarint(e.template, uint64(c-fixedColumns))
	return c
}

// column returns the column of a word.
func (e *encoder) column(word string) int {
	n, ok := e.words[word]
	if !ok {
		n = len(e.wordList)
		e.words[word] = n
		e.wordList = append(e.wordList, word)
		e.columns = append(e.columns, nil)
		e.memories = append(e.memories, memory{})
	}
	return fixedColumns + n
}

// line stores a line of a header. One that is only a word has no value.
func (e *encoder) line(line []byte) {
	i := bytes.IndexByte(line, ' ')
	if i < 0 {
		e.use(string(line))
		return
	}
	c := e.use(string(line[:i+1]))
	e.columns[c] = e.value(e.columns[c], line[i+1:], &e.memories[c])
}

func (e *encoder) value(dst, value []byte, m *memory) []byte {
	return appendValue(dst, value, m, e.name)
}

// name appends the token of an id.
func (e *encoder) name(dst []byte, id format.ID, m *memory) []byte {
	if i, ok := e.own[id]; ok {
		if e.at-i < maxBack {
			return binary.AppendUvarint(append(dst, tokenNear), uint64(e.at-i))
		}
		dst = binary.AppendVarint(append(dst, tokenOwn), int64(i)-m.own)
		m.own = int64(i)
		return dst
	}
	if e.far != nil {
		if n, ok := e.far(id); ok {
			dst = binary.AppendVarint(append(dst, tokenFar), int64(n)-m.far)
			m.far = int64(n)
			return dst
		}
	}
	return binary.AppendUvarint(append(dst, tokenNear, 0), uint64(e.outside(id)))
}

// maxBack is how far back an object is named by the distance: neighbours are. Of those further away
// the distance says little, and the difference to the one named before is smaller.
const maxBack = 64

// outside returns the number of an external id.
func (e *encoder) outside(id format.ID) int {
	n, ok := e.external[id]
	if !ok {
		n = len(e.ids)
		e.external[id] = n
		e.ids = append(e.ids, id)
	}
	return n
}

// body stores the body line and the body.
func (e *encoder) body(lines []byte, line format.Body, body []byte) {
	e.columns[colMedia] = e.value(e.columns[colMedia], []byte(line.Media), &e.memories[colMedia])
	form, size := byte(bodyPlain), uint64(len(body))
	switch {
	case body == nil:
		form, size = bodyAbsent, uint64(line.Size)
		e.columns[colDigests] = append(e.columns[colDigests], line.Digest[:]...)
	case hasNonce(lines) && e.nonces.derives(lines, body):
		form, size = bodyDerived, size-format.NonceLen
		body = body[format.NonceLen:]
		if line.Media == format.MediaExtract {
			if n, ok := e.extract(body); ok {
				form, size, body = bodyExtract, uint64(n), nil
			}
		}
	}
	e.columns[colForms] = append(e.columns[colForms], form)
	e.columns[colSizes] = binary.AppendUvarint(e.columns[colSizes], size)
	e.bodies = append(e.bodies, body...)
}

// hasNonce reports whether the bodies of an object's kind begin with a nonce.
func hasNonce(header []byte) bool {
	kind, _, _ := bytes.Cut(header, []byte{' '})
	return format.HasNonce(string(kind))
}

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
	objects []Object
	header  []byte // of the object that is being read
	headers []byte // of some objects before it
	size    int    // of all headers
	texts   []byte // bodies whose nonce is derived

	// Who asks for one object has no use for the bodies of those before it. lazy says that a body
	// whose nonce is derived is not put together; late has for each object whether that was so, and
	// its Body is then a text without the nonce.
	lazy bool
	late []bool
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
func Decode(raw []byte, count int, digest format.ID, key Key, bodies bool, far func(uint32) (format.ID, error)) ([]Object, error) {
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
	count  int
	digest format.ID
	sum    hash.Hash
	err    error // what ended the reading
	proven bool
}

// Open returns a reader of a block; see Decode.
func Open(raw []byte, count int, digest format.ID, key Key, far func(uint32) (format.ID, error)) (*Reader, error) {
	r := &Reader{d: decoder{far: far, nonces: newNonces(key)}, count: count, digest: digest, sum: sha256.New()}
	if err := r.d.parts(raw, count); err != nil {
		return nil, err
	}
	return r, nil
}

// At returns an object and reads no further. Its id follows from its header and the body; the
// digest of the block was not compared. So it is proven only to a caller that asked for this id.
func (r *Reader) At(i int) (Object, error) {
	if i < 0 || i >= r.count {
		return Object{}, errBlock
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
	if r.err == nil { // nothing is read any more, and what was needed for it takes as much as the headers
		r.d = decoder{objects: r.d.objects, extracts: r.d.extracts}
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
		d.headers = make([]byte, 0, max(n, min(roomOfHeader*(cap(d.objects)-len(d.objects)), 1<<18)))
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
			body, digest = d.putOff(text), d.sumOf(nonce, text)
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

// putOff returns a text as the body of the next object, whose nonce wake puts in front.
func (d *decoder) putOff(text []byte) []byte {
	if text == nil {
		return nil
	}
	if d.late == nil {
		d.late = make([]bool, cap(d.objects))
	}
	d.late[len(d.objects)] = true
	return text
}

// wake makes the body of an object whole if that was put off.
func (d *decoder) wake(i int) {
	if d.late == nil || !d.late[i] || i >= len(d.objects) {
		return
	}
	d.late[i] = false
	o := &d.objects[i]
	lines := o.Header[:bytes.LastIndexByte(o.Header[:len(o.Header)-1], '\n')+1]
	nonce := d.nonces.of(lines)
	o.Body = append(append(make([]byte, 0, len(nonce)+len(o.Body)), nonce...), o.Body...)
}

// withNonce returns a nonce and a text behind it.
func (d *decoder) withNonce(nonce, text []byte) []byte {
	n := len(nonce) + len(text)
	if cap(d.texts)-len(d.texts) < n {
		d.texts = make([]byte, 0, max(n, len(d.bodies.Rest)+len(text)+format.NonceLen*(cap(d.objects)-len(d.objects))))
	}
	at := len(d.texts)
	d.texts = append(append(d.texts, nonce...), text...)
	return d.texts[at : at+n : at+n]
}
