package settings

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

const blank = " \t\r\n"

// newline returns how the lines of a text end.
func newline(b []byte) string {
	if bytes.Contains(b, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indentOf returns the white space that the line with an offset begins with. alone reports whether
// nothing else is before the offset in this line.
func indentOf(b []byte, at int) (indent string, alone bool) {
	line := b[bytes.LastIndexByte(b[:at], '\n')+1 : at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// indentStep returns by how much a text indents: as far as its first key.
func indentStep(b []byte, root *hujson.Value) string {
	if list := children(root); len(list) > 0 {
		if indent, alone := indentOf(b, list[0].head.StartOffset); alone && indent != "" {
			return indent
		}
	}
	return "  "
}

// tail returns the comments and the white space before the closing bracket of a container.
func tail(in *hujson.Value) *hujson.Extra {
	if o, ok := in.Value.(*hujson.Object); ok {
		return &o.AfterExtra
	}
	return &in.Value.(*hujson.Array).AfterExtra
}

// insert puts an item at the end of a container of root, which was parsed from b. A tab in the item
// is a level of indentation. Comments on the last child stay behind it.
func insert(b []byte, root, in *hujson.Value, item string) []byte {
	nl, step := newline(b), indentStep(b, root)
	outer, _ := indentOf(b, in.StartOffset)
	if indent, alone := indentOf(b, in.EndOffset-1); alone {
		outer = indent
	}
	list, inner, comma := children(in), outer+step, ""
	if len(list) > 0 {
		comma = ","
		if indent, alone := indentOf(b, list[0].head.StartOffset); alone {
			inner = indent
		}
	}
	item = strings.NewReplacer("\t", step, "\n", nl+inner).Replace(item)
	end := tail(in)
	comments, rest := cutComments(string(*end))
	if !strings.Contains(rest, "\n") {
		rest = nl + outer + rest
	}
	*end = hujson.Extra(comma + comments + nl + inner + item + rest)
	return root.Pack()
}

// cutComments splits an extra behind its last comment. The end of a line is part of no comment.
func cutComments(extra string) (comments, rest string) {
	end := 0
	for i := 0; i < len(extra); i++ {
		if extra[i] != '/' {
			continue
		}
		if extra[i+1] == '*' {
			end = i + 4 + strings.Index(extra[i+2:], "*/")
		} else {
			line, _, _ := strings.Cut(extra[i:], "\n")
			end = i + len(strings.TrimSuffix(line, "\r"))
		}
		i = end - 1
	}
	return extra[:end], extra[end:]
}

// remove takes the ith child out of a container of root, with its comma and the white space before
// it. Comments around it stay.
func remove(b []byte, root, in *hujson.Value, i int) []byte {
	list, end := children(in), tail(in)
	left := lineCut(list[i].head.BeforeExtra)
	switch {
	case i+1 < len(list): // its comments go before the next child
		next := &list[i+1].head.BeforeExtra
		*next = joined(b, left, string(list[i].value.AfterExtra)+string(*next))
	case i > 0: // the child before it loses its comma
		last := list[i-1].value
		*end = hujson.Extra(string(last.AfterExtra) + string(joined(b, left, string(*end))))
		last.AfterExtra = nil
	case len(strings.Trim(left+string(*end), blank)) > 0:
		*end = joined(b, left, string(*end))
	default:
		*end = nil
	}
	switch in := in.Value.(type) {
	case *hujson.Object:
		in.Members = slices.Delete(in.Members, i, i+1)
	case *hujson.Array:
		in.Elements = slices.Delete(in.Elements, i, i+1)
	}
	return root.Pack()
}

// lineCut returns an extra without its last line break and the indentation after it.
func lineCut(extra hujson.Extra) string {
	s := strings.TrimRight(string(extra), " \t")
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

// joined puts two extras together. A comment that ends with its line keeps the end of the line.
func joined(b []byte, left, right string) hujson.Extra {
	line := left[strings.LastIndexByte(left, '\n')+1:]
	if strings.Contains(line, "//") && !strings.HasPrefix(strings.TrimLeft(right, " \t\r"), "\n") {
		left += newline(b)
	}
	return hujson.Extra(left + right)
}
