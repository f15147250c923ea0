package usage

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/objects"
)

// changes counts the files that the calls of a message change, as far as their arguments say it.
// A path outside the project is counted as the agent wrote it.
func (n *counter) changes(session string, e history.Entry) error {
	if !slices.ContainsFunc(e.Calls, func(c format.Call) bool { return replay.MayChange(c.Tool) }) {
		return nil
	}
	_, raw, err := n.s.Text(e.ID)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return err
	}
	parts, err := message.Parse(raw)
	if err != nil {
		return nil //nolint:nilerr // words that are no parts make no calls
	}
	for _, c := range message.Deeds(parts) {
		if !replay.MayChange(c.Name) {
			continue
		}
		for _, change := range replay.Changes(c.Name, c.Args, "") {
			n.changed(change.Path, session)
		}
	}
	return nil
}

func (n *counter) changed(path, session string) {
	path = strings.TrimPrefix(path, n.project+"/")
	f := n.files[path]
	if f == nil {
		f = &File{Path: path}
		n.files[path] = f
	}
	if f.Changes == 0 || f.last != session {
		f.Sessions, f.last = f.Sessions+1, session
	}
	f.Changes++
}

// sortedFiles returns the files, those that were changed most often first.
func (n *counter) sortedFiles() []File {
	var out []File
	for _, f := range n.files {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b File) int {
		return cmp.Or(cmp.Compare(b.Changes, a.Changes), cmp.Compare(a.Path, b.Path))
	})
	return out
}
