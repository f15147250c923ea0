package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
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
func Encode(
	objects []Object, key Key, far func(format.ID) (uint32, bool),
) (raw []byte, digest format.ID) {
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
