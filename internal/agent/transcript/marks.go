// Voices tell the words of a person from those of the program, the client, that the person types
// into: both stand in the user's name in an agent's transcript.
//
// Each agent's package has its Voices, the marks that its client writes, as data. What is not
// marked is the person's. Begin with Voices.Pieces.

package transcript

import (
	"slices"
	"strings"
)

// Table has the marks of one client.
type Voices struct {
	// Elements are names of elements, as in <name>…</name>, that the client writes. One counts at
	// the beginning of a line, with everything up to its end.
	Elements []string
	// Wraps are names of elements that the client puts the words of a person into. Of a client that
	// has them, all that stands outside of them is the client's.
	Wraps []string
	// Leads begin texts of the client. See Lead.
	Leads []Lead
	// Whole are texts of the client, as a whole: a person who types more than that is heard.
	Whole []string
	// After begins what the client writes behind the words of somebody else. All from there on is
	// the client's. It counts at the beginning of a line.
	After []string
	// Spans are what the client writes into the words of somebody else, such as the files that these
	// name: from Open to Close, each at the beginning of a line. One may begin in a text of a message
	// and end in a later one.
	Spans []Lead
	// Opens returns the length of the client's piece that a line begins with, where no list above
	// can say it; 0 for none. first says that nothing but the client's is before it. nil: none.
	Opens func(line string, first bool) int
}

// Lead begins a text of the client: all of it, or, with Close, what is before and with Close.
type Lead struct{ Open, Close string }

// Piece is a part of a text. The pieces of a text follow each other and are all of it.
type Piece struct {
	Text   string
	Client bool // the client's; else the person's
}

// Pieces divides a text. No piece of the person is white space alone, and no two pieces that follow
// each other have the same speaker. A text of nothing but elements whose names have a hyphen or an
// underscore is the client's, whatever their names: people do not talk in such elements. So is one
// that tells what a hook says.
func (t *Voices) Pieces(text string) []Piece {
	if len(t.Wraps) > 0 {
		return t.wrapped(text)
	}
	if isMarkup(text) || isHook(text) || slices.Contains(t.Whole, strings.TrimSpace(text)) {
		return []Piece{{text, true}}
	}
	if from, to := filledIn(text); to > from {
		return slices.DeleteFunc([]Piece{{text[:from], true}, {text[from:to], false},
			{text[to:], true}}, func(p Piece) bool { return p.Text == "" })
	}
	var list []Piece
	add := func(s string, client bool) {
		switch n := len(list); {
		case s == "":
		case n > 0 && (list[n-1].Client == client || isSpace(s)):
			list[n-1].Text += s
		default:
			list = append(list, Piece{s, client || isSpace(s)})
		}
	}
	for rest := text; rest != ""; {
		from, to := t.next(rest)
		add(rest[:from], false)
		add(rest[from:to], true)
		rest = rest[to:]
	}
	return list
}

// What stands around the words that a person gives to a command of spec-kit: its template comes in
// the person's name, in every agent.
const (
	inputBegins = "## User Input\n\n```text\n"
	inputEnds   = "\n```\n\nYou **MUST** consider the user input before proceeding (if not empty)."
)

// filledIn returns where the words of a person are in the template of a command, or else what
// follows its head; 0 twice for no template.
func filledIn(text string) (from, to int) {
	at, end := strings.Index(text, inputBegins), strings.Index(text, inputEnds)
	head := strings.TrimSpace(text[:max(at, 0)]) // may describe the command
	if from = at + len(inputBegins); at < 0 || end < from ||
		head != "" && !(strings.HasPrefix(head, "---\n") && strings.HasSuffix(head, "\n---")) {
		return 0, 0
	}
	said := strings.TrimSpace(text[from:end])
	if said == "" || said == "$ARGUMENTS" { // what is to be done tells which command it was
		said = strings.TrimSpace(text[end+len(inputEnds):])
		said = strings.TrimSpace(strings.TrimPrefix(said, "## Outline"))
	}
	from += strings.Index(text[from:], said)
	return from, from + len(said)
}

// wrapped divides a text whose persons speak in elements alone.
func (t *Voices) wrapped(text string) []Piece {
	from, to := len(text), len(text)
	for _, name := range t.Wraps {
		open, end := "<"+name+">", "</"+name+">"
		at := strings.Index(text, open)
		if last := strings.LastIndex(text, end); at >= 0 && at < from && last > at {
			said := strings.TrimSpace(text[at+len(open) : last])
			from = at + strings.Index(text[at:], said)
			to = from + len(said)
		}
	}
	var list []Piece
	for _, p := range []Piece{{text[:from], true}, {text[from:to], false}, {text[to:], true}} {
		if p.Text != "" {
			list = append(list, p)
		}
	}
	return list
}

// Texts divides the texts of one message, as Pieces does each of them. all says that every text
// with words is the client's, and that there is one.
func (t *Voices) Texts(texts []string) (list [][]Piece, all bool) {
	open := "" // the end of the span that goes on
	clients, persons := 0, 0
	for _, text := range texts {
		var pieces []Piece
		if open != "" {
			end := closing(text, open)
			if end > 0 {
				open = ""
			} else {
				end = len(text)
			}
			pieces = append(pieces, Piece{text[:end], true})
			text = text[end:]
		}
		if text != "" {
			pieces = append(pieces, t.Pieces(text)...)
			open = t.unclosed(pieces)
		}
		for i := len(pieces) - 1; i > 0; i-- { // the rest of a span, and what follows it
			if pieces[i].Client == pieces[i-1].Client {
				pieces[i-1].Text += pieces[i].Text
				pieces = append(pieces[:i], pieces[i+1:]...)
			}
		}
		for _, p := range pieces {
			switch {
			case !p.Client:
				persons++
			case !isSpace(p.Text):
				clients++
			}
		}
		list = append(list, pieces)
	}
	return list, persons == 0 && clients > 0
}

// unclosed returns the end of the span that goes on after the last piece of a text; "" for none.
func (t *Voices) unclosed(pieces []Piece) string {
	if len(pieces) == 0 || !pieces[len(pieces)-1].Client {
		return ""
	}
	last := strings.TrimLeft(pieces[len(pieces)-1].Text, " \t\r\n")
	for _, s := range t.Spans {
		if strings.HasPrefix(last, s.Open) && closing(last, s.Close) < 0 {
			return s.Close
		}
	}
	return ""
}

// closing returns where the end of a span ends in a text; -1 if the text does not have it at the
// beginning of a line.
func closing(s, end string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], end)
		if i < 0 {
			return -1
		}
		if at += i; at == 0 || s[at-1] == '\n' {
			return at + len(end)
		}
		at += len(end)
	}
}

// Client reports whether all of a text is the client's. A text without words is nobody's.
func (t *Voices) Client(text string) bool {
	return !isSpace(text) &&
		!slices.ContainsFunc(t.Pieces(text), func(p Piece) bool { return !p.Client })
}

// next returns where the next piece of the client begins and ends in a text; len(s) twice for none.
func (t *Voices) next(s string) (from, to int) {
	fenced := false
	for at := 0; at < len(s); {
		line := s[at:]
		body := strings.TrimLeft(line, " \t\r\n")
		at += len(line) - len(body)
		if strings.HasPrefix(body, "```") {
			fenced = !fenced
		}
		if end := t.opens(body, at == len(s)-len(strings.TrimLeft(s, " \t\r\n"))); end > 0 &&
			!fenced {
			// The white space around it is no word of the person.
			from = len(strings.TrimRight(s[:at], " \t\r\n"))
			to = at + end
			return from, to + len(s[to:]) - len(strings.TrimLeft(s[to:], " \t\r\n"))
		}
		next := strings.IndexByte(body, '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return len(s), len(s)
}

// opens returns the length of the client's piece that a line begins with; 0 for none. first says
// that the line is the first one of the text.
func (t *Voices) opens(s string, first bool) int {
	for _, name := range t.Elements {
		if end := element(s, name); end > 0 {
			return end
		}
	}
	for _, lead := range t.Leads {
		if !first || !strings.HasPrefix(s, lead.Open) {
			continue
		}
		if i := strings.Index(s[len(lead.Open):], lead.Close); lead.Close != "" && i >= 0 {
			return len(lead.Open) + i + len(lead.Close)
		}
		return len(s)
	}
	for _, span := range t.Spans {
		if strings.HasPrefix(s, span.Open) {
			if end := closing(s, span.Close); end > 0 {
				return end
			}
			return len(s)
		}
	}
	for _, open := range t.After {
		if strings.HasPrefix(s, open) {
			return len(s)
		}
	}
	if t.Opens != nil {
		return t.Opens(s, first)
	}
	return 0
}

// element returns the length of the element of that name that a text begins with; 0 for none. One
// that is not closed goes to the end.
func element(s, name string) int {
	rest, ok := strings.CutPrefix(s, "<"+name)
	if !ok || rest == "" || !strings.ContainsRune("> \n/", rune(rest[0])) {
		return 0
	}
	if open := strings.IndexByte(rest, '>'); open > 0 && rest[open-1] == '/' {
		return len(s) - len(rest) + open + 1
	}
	end := "</" + name + ">"
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

// isMarkup reports whether a text consists of elements whose names have a hyphen or an underscore.
func isMarkup(s string) bool {
	rest := strings.TrimSpace(s)
	if rest == "" {
		return false
	}
	for rest != "" {
		name := rest[min(1, len(rest)):]
		if i := strings.IndexAny(name, "> \n/"); i >= 0 {
			name = name[:i]
		}
		end := 0
		if rest[0] == '<' && strings.ContainsAny(name, "-_") && isName(name) &&
			strings.Contains(rest, "</"+name+">") {
			end = element(rest, name)
		}
		if end == 0 {
			return false
		}
		rest = strings.TrimSpace(rest[end:])
	}
	return true
}

// isHook reports whether a text is what a client tells the model of a hook: the name of an event,
// with that of a tool behind a colon, and what the hook did.
func isHook(s string) bool {
	event, rest, ok := strings.Cut(strings.TrimSpace(s), " hook ")
	event, _, _ = strings.Cut(event, ":")
	if !ok || event == "" || event[0] < 'A' || event[0] > 'Z' || !isName(event) {
		return false
	}
	return slices.ContainsFunc([]string{"feedback:", "additional context:", "success:",
		"blocking error", "stopped continuation"},
		func(did string) bool { return strings.HasPrefix(rest, did) })
}

func isName(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' &&
			c != '_' && c != ':' && c != '.' {
			return false
		}
	}
	return s != ""
}

func isSpace(s string) bool { return strings.TrimSpace(s) == "" }
