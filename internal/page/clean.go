package page

import (
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/sanitize"
)

// cleaner takes out of texts what the rules of this version take out, and counts it. What was
// stored was cleaned by the rules of its day.
type cleaner struct {
	s    *session.Store
	left map[string]int
	fits map[format.ID]bool // whether the words of an object pass as they are
}

func newCleaner(s *session.Store) *cleaner {
	return &cleaner{s: s, left: map[string]int{}, fits: map[format.ID]bool{}}
}

func (c *cleaner) count(found []sanitize.Finding) {
	for _, f := range found {
		c.left[f.Class] += f.Count
	}
}

func (c *cleaner) text(s string) (string, error) {
	out, found, err := sanitize.Text([]byte(s))
	c.count(found)
	return string(out), err
}

// message returns the words of a message in pieces, and its thoughts.
func (c *cleaner) message(
	shown *history.Shown, tools map[string]string,
) (pieces []Piece, aside []string, err error) {
	if shown.Parts == nil {
		text, err := c.text(shown.Text)
		c.fits[shown.Version] = text == shown.Text
		return []Piece{{Kind: PieceText, Text: text}}, nil, err
	}
	parts, found, err := sanitize.JSON(shown.Parts)
	if err != nil {
		return nil, nil, err
	}
	c.count(found)
	c.fits[shown.Version] = len(found) == 0
	words := shown.Text
	if len(found) > 0 {
		words = history.Words(parts)
	} else {
		parts = shown.Parts
	}
	pieces, aside = piecesOf(parts, tools)
	said := lists.Map(pieces, func(p Piece) string { return p.Text })
	if strings.Join(said, "\n") != words {
		return []Piece{{Kind: PieceText, Text: words}}, aside, nil
	}
	return pieces, aside, nil
}

// piecesOf takes parts apart as message.Words puts them together.
func piecesOf(raw []byte, tools map[string]string) (pieces []Piece, aside []string) {
	parts, err := message.Parse(raw)
	if err != nil {
		return nil, nil
	}
	for _, p := range message.Split(parts) {
		words := message.Words([]message.Part{p})
		switch {
		case p.Call != nil:
			pieces = append(pieces,
				Piece{Kind: PieceCall, Tool: p.Call.Name,
					File: fileOf(p.Call.Args), Text: words, Args: p.Call.Args})
		case p.Result != nil:
			tool := p.Result.Name
			if known := tools[p.Result.ID]; known != "" {
				tool = known
			}
			pieces = append(pieces,
				Piece{Kind: PieceResult, Tool: tool, Text: words,
					Failed: p.Result.Failed()})
		case p.Text != "" && !p.Thought:
			pieces = append(pieces, Piece{Kind: PieceText, Text: p.Text})
		case p.Text != "":
			aside = append(aside, p.Text)
		case p.Media != nil:
			aside = append(aside, "[media: "+p.Media.MimeType+"]")
		}
	}
	return pieces, aside
}

// isFile reports whether tools take a file under a name.
func isFile(member string) bool {
	switch member {
	case "file_path", "filePath", "path", "absolute_path", "notebook_path", "filename", "file",
		"target_file":
		return true
	}
	return false
}

// fileOf returns the file that arguments name; "" for none.
func fileOf(args []byte) string {
	members, _ := jsonvalue.Members(args) // none if args is no object
	for _, m := range members {
		if text, ok := jsonvalue.Text(m.Value); ok && isFile(m.Name) {
			return text
		}
	}
	return ""
}

// passes reports whether the words of an object are as the rules of this version leave them.
func (c *cleaner) passes(id format.ID, raw format.Raw) (bool, error) {
	if ok, known := c.fits[id]; known {
		return ok, nil
	}
	body, named, err := format.HeaderBody(raw.Header)
	if err != nil || !named {
		return err == nil, err
	}
	text := raw.Text()
	var found []sanitize.Finding
	switch {
	case strings.Contains(body.Media, "json"):
		_, found, err = sanitize.JSON(text)
	default:
		_, found, err = sanitize.Text(text)
	}
	c.fits[id] = len(found) == 0
	return len(found) == 0, err
}
