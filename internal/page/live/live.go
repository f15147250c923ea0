package live

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/page"
)

//go:embed live.js
var liveScript string

// stateLen is the number of digits of the state of a live page.
const stateLen = 32

// liveOpen is the attribute of a live page that has its state. No text of a page has these bytes:
// it would have &lt; in the place of <.
var liveOpen = []byte("<body data-live=00000000000000000000000000000000")

// Stamp writes the state of a live page into the page and returns it: a digest of the page without
// it. Pages of equal content have equal states. It returns "" for a page that is not live.
func Stamp(page []byte) (state string) {
	at := bytes.Index(page, liveOpen)
	if at < 0 {
		return ""
	}
	sum := sha256.Sum256(page)
	state = hex.EncodeToString(sum[:])[:stateLen]
	copy(page[at+len(liveOpen)-stateLen:], state)
	return state
}

// Policy returns the Content Security Policy of a page. A live page has a second script, which
// watches for a newer state of the page, and may ask the server that it came from.
func Policy(live bool) string {
	scripts, rest := sourceOf(script), "; base-uri 'none'; form-action 'none'"
	if live {
		scripts, rest = scripts+" "+sourceOf(liveScript), rest+"; connect-src 'self'"
	}
	return "default-src 'none'; style-src " + sourceOf(style) + "; script-src " + scripts + rest
}

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
