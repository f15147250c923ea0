package sanitize

// The limits of a list of arguments that is searched as one command. A longer list is data.
const (
	maxArguments     = 256
	maxArgumentBytes = 8 << 10
)

// arguments collects the elements of an array of strings that may be a command and its arguments.
type arguments struct {
	pieces textGroup
	bytes  int
	flag   bool // an element begins with a dash
	other  bool // the array is not a command
}

// add adds the next element of the array that r reads. t is the first token of the element.
func (a *arguments) add(r *reader, t token) {
	a.bytes += t.end - t.start
	a.other = a.other || t.kind != '"' || len(a.pieces) == maxArguments ||
		a.bytes > maxArgumentBytes
	if a.other {
		return
	}
	piece := r.piece(t)
	a.flag = a.flag || len(piece.text) > 0 && piece.text[0] == '-'
	piece.spaced = len(a.pieces) > 0
	a.pieces = append(a.pieces, piece)
}

// group returns the elements as one command line, or nil if the array is not a command.
func (a *arguments) group() textGroup {
	if a.other || !a.flag {
		return nil
	}
	return a.pieces
}
