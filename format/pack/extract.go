package pack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
)

// An extract is a ranked list of sentences as JSON, the body of most summaries. Nearly all of it
// follows from the entries that the sentences were taken from. So a block has of a sentence the
// number of the entry and the place in its text, where the entry comes before it in the block.

// The words whose columns have the sentences of extracts. No template names them.
const (
	exEntry  = iota // of each sentence: its entry
	exWho           // whether seq and role are those of the entry, or which
	exPos           // the position, as a difference
	exWeight        // the weight
	exHow           // how its text is stored
	exAt            // of a part of the entry's text: where it begins
	exLength        // how many bytes it has
	exWords         // texts and roles that are stored as they are
	extractColumns
)

var extractWords = [extractColumns]string{
	"\x01entry", "\x01who", "\x01pos", "\x01weight", "\x01how", "\x01at", "\x01length", "\x01words",
}

// How the text of a sentence is stored.
const (
	textStored = iota // as it stands in the extract
	textAll           // it is the text of the entry, escaped
	textPart          // it is a part of that, escaped
	textRaw           // it is a part of that as it is: the entry's text is JSON itself
)

// maxExtracts bounds the bytes that the extracts of a block have together when they are whole. A
// block of a few bytes could name the text of a large entry a million times.
const maxExtracts = 16 << 20

// sentence is a line of an extract.
type sentence struct {
	format.Sentence

	number int // of the entry in the block; -1 for one that is not there
}

// parseExtract reads an extract. What it accepts may have another form than appendExtract writes.
func parseExtract(b []byte) (list []sentence, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte("[\n"))
	if !ok {
		return nil, false
	}
	for {
		line, rest, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			return nil, false
		}
		if string(line) == "]" {
			return list, len(rest) == 0
		}
		s, ok := format.ParseSentence(bytes.TrimSuffix(line, []byte{','}))
		if !ok {
			return nil, false
		}
		list, b = append(list, sentence{Sentence: s}), rest
	}
}

// appendExtract appends sentences as they stand in an extract. ok is false, and dst is of no use,
// where that takes more than most bytes.
func appendExtract(dst []byte, list []sentence, most int) (_ []byte, ok bool) {
	end := len(dst) + most
	dst = append(dst, "[\n"...)
	for i := range list {
		s := &list[i]
		if end-len(dst)-format.MinSentence < len(s.Text) ||
			end-len(dst)-format.MinSentence < s.Len() {
			return dst, false
		}
		if dst = s.Append(dst); i < len(list)-1 {
			dst = append(dst, ',')
		}
		dst = append(dst, '\n')
	}
	dst = append(dst, "]\n"...)
	return dst, len(dst) <= end
}

// rank puts sentences into the order that they have in an extract.
func rank(list []sentence) {
	slices.SortStableFunc(list, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Seq, b.Seq),
			a.Entry.Compare(b.Entry), cmp.Compare(a.Pos, b.Pos))
	})
}

// source is the entry of a sentence, as far as it is in the block.
type source struct {
	number int    // -1 for none
	text   []byte // its body without the nonce; nil for none
	seq    uint64
	role   []byte // nil for none, and for that of a user
	end    int    // of the part of the text that was taken last
	pos    int64  // of the sentence that was taken last, and one
}

// sourceOf returns an object as a source. Its body begins with a nonce only where its kind has one.
func sourceOf(number int, header, body []byte) source {
	s := source{number: number}
	if len(body) >= format.NonceLen && hasNonce(header) {
		s.text = body[format.NonceLen:]
	}
	s.seq, _ = strconv.ParseUint(string(field(header, "\nseq ")), 10, 64)
	if role := field(header, "\nrole "); string(role) != "user" {
		s.role = role
	}
	return s
}

// field returns the value of the first line that begins with name; nil for none.
func field(header []byte, name string) []byte {
	_, rest, ok := bytes.Cut(header, []byte(name))
	if !ok {
		return nil
	}
	value, _, _ := bytes.Cut(rest, []byte{'\n'})
	return value
}

// extract stores the text of an extract in columns. ok is false, and nothing was stored, where they
// do not give it back.
func (e *encoder) extract(text []byte) (sentences int, ok bool) {
	if e.extracts+len(text) > maxExtracts {
		return 0, false
	}
	list, ok := parseExtract(text)
	if !ok {
		return 0, false
	}
	rank(list)
	if again, ok := appendExtract(nil, list, len(text)); !ok || !bytes.Equal(again, text) {
		return 0, false
	}
	for i := range list {
		list[i].number = -1
		if n, ok := e.own[list[i].Entry]; ok {
			list[i].number = n
		}
	}
	slices.SortStableFunc(list, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(uint(a.number), uint(b.number)), a.Entry.Compare(b.Entry),
			cmp.Compare(a.Pos, b.Pos))
	})
	if e.special[0] == 0 {
		for i, word := range extractWords {
			e.special[i] = e.column(word)
		}
	}
	from := source{number: -1}
	var last format.ID
	for i := range list {
		s := &list[i]
		if s.number != from.number || s.Entry != last {
			from, last = source{number: -1}, s.Entry
			if s.number >= 0 {
				from = sourceOf(s.number, e.objects[s.number].Header, e.objects[s.number].Body)
			}
		}
		e.sentence(s, &from)
	}
	e.extracts += len(text)
	return len(list), true
}

// sentence stores a sentence in columns.
func (e *encoder) sentence(s *sentence, from *source) {
	put := func(column int, n uint64) {
		c := &e.columns[e.special[column]]
		*c = binary.AppendUvarint(*c, n)
	}
	words := func(b []byte) {
		put(exLength, uint64(len(b)))
		c := &e.columns[e.special[exWords]]
		*c = append(*c, b...)
	}
	if s.number >= 0 {
		put(exEntry, 1+zigzag(int64(s.number)-e.lastEntry))
		e.lastEntry = int64(s.number)
	} else {
		put(exEntry, 0)
		put(exEntry, uint64(e.outside(s.Entry)))
	}
	if s.number >= 0 && s.Seq == from.seq && bytes.Equal(s.Role, from.role) &&
		(s.Role == nil) == (from.role == nil) {
		put(exWho, 0)
	} else {
		who := uint64(1)
		if s.Role != nil {
			who = 2
		}
		put(exWho, who)
		put(exWho, s.Seq)
		if s.Role != nil {
			words(s.Role)
		}
	}
	put(exPos, zigzag(s.Pos-from.pos))
	from.pos = s.Pos + 1
	put(exWeight, zigzag(s.Weight))
	how, at, n := findText(s.Text, from)
	put(exHow, uint64(how))
	switch how {
	case textStored:
		words(s.Text)
	case textPart, textRaw:
		put(exAt, zigzag(int64(at-from.end)))
		put(exLength, uint64(n))
		from.end = at + n
	}
}

// maxSought is how many bytes of an entry's text are searched for a sentence, for each.
const maxSought = 1 << 16

// findText returns where the text of a sentence is in that of its entry.
func findText(escaped []byte, from *source) (how, at, n int) {
	plain := format.Unescaped(escaped)
	exact := bytes.Equal(format.AppendEscaped(nil, plain), escaped)
	if exact && from.text != nil && bytes.Equal(plain, from.text) {
		return textAll, 0, 0
	}
	for _, begin := range []int{from.end, 0} {
		rest := from.text[begin:min(len(from.text), begin+maxSought)]
		if i := bytes.Index(rest, plain); exact && i >= 0 {
			return textPart, begin + i, len(plain)
		}
		if i := bytes.Index(rest, escaped); i >= 0 {
			return textRaw, begin + i, len(escaped)
		}
	}
	return textStored, 0, 0
}

// zigzag is the number of a signed varint.
func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// extract appends an extract of so many sentences to dst, which may have most bytes more then.
func (d *decoder) extract(dst []byte, sentences uint64, most int) ([]byte, error) {
	if d.special[0] == 0 || sentences > uint64(most/format.MinSentence) ||
		sentences > uint64(len(d.columns[d.special[exEntry]].Rest)) {
		return nil, errBlock
	}
	list := make([]sentence, 0, sentences)
	from := source{number: -1}
	for range sentences {
		if err := d.sentence(&list, &from); err != nil {
			return nil, err
		}
	}
	rank(list)
	dst, ok := appendExtract(dst, list, most)
	if !ok {
		return nil, errBlock
	}
	return dst, nil
}

// sourceOf returns an object as a source. It reads a header once: sentences may go to and fro
// between entries with large ones.
func (d *decoder) sourceOf(number int) source {
	s, known := d.sources[number]
	if !known {
		s = sourceOf(number, d.objects[number].Header, d.said[number])
		if d.sources == nil {
			d.sources = map[int]source{}
		}
		d.sources[number] = s
	}
	return s
}

// sentence reads a sentence. from is the entry of the one before it.
func (d *decoder) sentence(list *[]sentence, from *source) error {
	var err error
	number := func(column int) uint64 {
		r := &d.columns[d.special[column]]
		n := r.Uvarint()
		err = cmp.Or(err, r.Err)
		return n
	}
	words := func() []byte {
		n := number(exLength)
		r := &d.columns[d.special[exWords]]
		b := r.Take(n)
		err = cmp.Or(err, r.Err)
		return b
	}
	s := sentence{number: -1}
	if n := number(exEntry); n > 0 {
		d.lastEntry += unzigzag(n - 1)
		if d.lastEntry < 0 || d.lastEntry >= int64(len(d.objects)) {
			return errBlock
		}
		s.number = int(d.lastEntry)
		s.Entry = d.objects[s.number].ID
		if s.number != from.number {
			*from = d.sourceOf(s.number)
		}
	} else {
		n := number(exEntry)
		if n >= uint64(len(d.external)/len(s.Entry)) {
			return errBlock
		}
		copy(s.Entry[:], d.external[int(n)*len(s.Entry):])
		if before := len(*list) - 1; from.number >= 0 || before < 0 ||
			(*list)[before].Entry != s.Entry {
			*from = source{number: -1}
		}
	}
	switch who := number(exWho); {
	case who == 0 && s.number >= 0:
		s.Seq, s.Role = from.seq, from.role
	case who == 1 || who == 2:
		if s.Seq = number(exWho); who == 2 {
			s.Role = words()
		}
	default:
		return errBlock
	}
	s.Pos = from.pos + unzigzag(number(exPos))
	from.pos = s.Pos + 1
	s.Weight = unzigzag(number(exWeight))
	switch how := number(exHow); how {
	case textStored:
		s.Text = words()
	case textAll:
		s.Text, s.Plain = from.text, true
	case textPart, textRaw:
		at, n := int64(from.end)+unzigzag(number(exAt)), number(exLength)
		if at < 0 || at > int64(len(from.text)) || n > uint64(int64(len(from.text))-at) {
			return errBlock
		}
		from.end = int(at) + int(n)
		s.Text, s.Plain = from.text[at:from.end], how == textPart
	default:
		return errBlock
	}
	if err != nil {
		return err
	}
	*list = append(*list, s)
	return nil
}
