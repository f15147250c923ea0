package live

import (
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/page"
)

// pages answers a page.Ask.
func pages(in io.Reader, out io.Writer) error {
	var ask page.Ask
	if err := json.NewDecoder(in).Decode(&ask); err != nil {
		return err
	}
	var a page.Answer
	var err error
	if ask.Project != nil {
		a.Pages = make([][]byte, 1)
		a.Pages[0], err = Project(ask.Project)
	} else {
		a.Pages, a.Embedded, err = Pages(ask.Session, ask.Most, ask.First)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(a)
}
