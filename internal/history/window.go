package history

import "slices"

// Which messages of a branch have left the hot window, and in what units: pure rules over numbers
// and roles.

// Window has the sizes of the window, in messages.
type Window struct {
	GraduateAt int // what is older than this many newest messages graduates
	EvictAt    int // a rendered tail longer than this is cut back to GraduateAt at an adoption
}

// MaxPiece is how many messages of one exchange graduate together at most. Agents make long
// exchanges; eight messages are three or four tool calls, and keep the tail within a few messages
// of EvictAt.
const MaxPiece = 8

// Unit is a run of items that graduate together: items[Start:End].
type Unit struct {
	Start, End int
	// Continues says that the unit goes on with the exchange of the message before it.
	Continues bool
}

// Due returns the units that graduate now, oldest first, given the messages after the frontier,
// oldest first. In a conversation with a model (exchange) a unit is a prompt and what follows it up
// to the next prompt, in pieces of MaxPiece; elsewhere it is one message. A tool call and its
// result are in one unit. A unit graduates when all of it is older than the newest GraduateAt
// messages; one that waits for the result of a call, only once more than EvictAt messages are
// there. The list ends with the first unit that reaches beyond most items.
func Due(most int, items []Item, exchange bool, p Window) []Unit {
	var units []Unit
	for start := 0; start < len(items)-p.GraduateAt && start <= most; {
		end, open := unitFrom(items, start, exchange)
		if open && len(items)-start <= p.EvictAt {
			break
		}
		if end > len(items)-p.GraduateAt {
			break
		}
		units = append(units,
			Unit{Start: start, End: end, Continues: exchange && items[start].Role != "user"})
		start = end
	}
	return units
}

// unitFrom returns where the unit that starts at start ends, and whether it makes a call that
// nothing answers yet.
func unitFrom(items []Item, start int, exchange bool) (end int, open bool) {
	end = start + 1
	if exchange {
		for end < len(items) && items[end].Role != "user" && end-start < MaxPiece &&
			!late(items, end) {
			end++
		}
	}
	for i := start; i < end; i++ {
		for _, call := range items[i].Calls {
			at := answer(items, i+1, call)
			if at < 0 {
				open = true
			}
			end = max(end, at+1)
		}
	}
	return end, open
}

// late reports whether an item answers calls that have all graduated already: it is a unit of its
// own, so that it can follow them.
func late(items []Item, at int) bool {
	if len(items[at].Results) == 0 {
		return false
	}
	for _, past := range items[:at] {
		for _, call := range past.Calls {
			if slices.Contains(items[at].Results, call) {
				return false
			}
		}
	}
	return true
}

// answer returns the index of the first item from start on that answers the call, or -1.
func answer(items []Item, start int, call string) int {
	for i := start; i < len(items); i++ {
		for _, r := range items[i].Results {
			if r == call {
				return i
			}
		}
	}
	return -1
}

// Adopt returns up to which of its messages a branch of so many (tip) is spoken for by the forest
// that it adopts; its verbatim tail is what follows. That is the frontier. After an undo or a
// rewind the frontier can be nearer to the tip than GraduateAt: the newest GraduateAt messages are
// the tail all the same.
func Adopt(frontier, tip uint64, p Window) uint64 {
	return min(frontier, tip-min(tip, uint64(p.GraduateAt)))
}

// Cold reports whether the tail after through is so short, at the end of a rewind, that the branch
// has to leave for a longer one: shorter than three quarters of GraduateAt. Between that and
// GraduateAt it is not worth a new prefix.
func (p Window) Cold(tip, through uint64) bool {
	return through > 0 && 4*(tip-min(tip, through)) < 3*uint64(p.GraduateAt)
}

// Crosses reports whether the tail after through has grown past EvictAt.
func (p Window) Crosses(tip, through uint64) bool { return tip > through+uint64(p.EvictAt) }
