package pack

import "github.com/gemini-ctx/ctx/format"

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
	// Of each body line: bytes that are stored; where it is absent its size; of an extract its
	// sentences
	colSizes
	colMedia   // of each body line: the media type
	colDigests // of each absent body: its digest
	fixedColumns
)

// Limits that a reader holds to before it trusts a block.
const (
	MaxObjects = 1 << 16              // of a block
	maxWords   = 1 << 12              // of a block, and of templates
	maxHeaders = 2 * format.MaxHeader // bytes
)
