package sanitize

// Limits on the arguments that are read as one command. Longer lists are data.
const (
	maxArguments     = 256
	maxArgumentBytes = 8 << 10
)

// arguments collects the elements of an array of strings that may be a command and its arguments.
type arguments struct {
	pieces textGroup
	bytes  int
	flag   bool // an element begins with a dash
	other  bool // the array is no command
}

// add takes the next element of the array: b[start:end].
func (a *arguments) add(b []byte, start, end int) {
	a.bytes += end - start
	a.other = a.other || b[start] != '"' || len(a.pieces) == maxArguments || a.bytes > maxArgumentBytes
	if a.other {
		return
	}
	text := unquote(b[start+1 : end-1])
	a.flag = a.flag || len(text) > 0 && text[0] == '-'
	a.pieces = append(a.pieces, textPiece{start: start, end: end, text: text, spaced: len(a.pieces) > 0})
}

// group returns the elements as the command line that they are, or nothing where they are none.
func (a *arguments) group() textGroup {
	if a.other || !a.flag {
		return nil
	}
	return a.pieces
}
