package summaries

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/view"
)

// ListReader reads the summaries of clusters. It decodes ranked lists when all of them are at hand,
// of each as much as a rendering can use.
type ListReader struct {
	*Reader
	Lists  []list
	Hidden map[format.ID]bool // entries for which other texts stand: none of their sentences
}

// list is a ranked list that was not decoded yet.
type list struct {
	Part    *view.Part
	Body    []byte
	Without map[format.ID]bool // sentences of these entries are left out
	Most    int                // how many bytes of text are decoded at most; 0 for no such limit
}

// GoneSummary is the text in place of a forgotten summary, until the branch adopts a new forest.
const GoneSummary = "[forgotten]"

// Parts reads the summaries of a cluster, ranked lists not decoded.
func (r *ListReader) Parts(covers []format.Cover) ([]view.Part, error) {
	return r.PartsOf(covers, false)
}

// PartsOf is parts; with gone a summary that was forgotten says that, and is no error.
func (r *ListReader) PartsOf(covers []format.Cover, gone bool) ([]view.Part, error) {
	parts := make([]view.Part, len(covers))
	for i, c := range covers {
		sum, text, err := Stored(r.Reader.Reader, c.Summary)
		if gone && err != nil && history.ButGone(err) == nil {
			parts[i] = view.Part{Summary: c.Summary, Interim: c.Interim, Text: GoneSummary}
			continue
		}
		if err != nil {
			return nil, err
		}
		parts[i] = view.Part{Summary: c.Summary, Interim: c.Interim}
		if sum.Body.Media == format.MediaExtract {
			r.Lists = append(r.Lists, list{Part: &parts[i], Body: text})
		} else {
			parts[i].Text = string(text)
		}
	}
	return parts, nil
}

// leastRead is how much is decoded of every list, in bytes of text.
const leastRead = 2048

// Read decodes the lists. It decodes about most bytes of text of all lists together, in
// proportion to the size of each list but at least leastRead bytes of each, and the numbers of
// the rest.
func (r *ListReader) Read(most int) error {
	total := 0
	for _, l := range r.Lists {
		total += len(l.Body)
	}
	for _, l := range r.Lists {
		share := leastRead + int(int64(most)*int64(len(l.Body))/int64(total))
		if l.Most > 0 {
			share = min(share, l.Most)
		}
		var err error
		if l.Part.Sentences, l.Part.Unread, err = summarize.DecodeSome(l.Body, share); err != nil {
			return fmt.Errorf("summary %v: %w", l.Part.Summary, err)
		}
		l.Part.Sentences = slices.DeleteFunc(l.Part.Sentences,
			func(s summarize.Sentence) bool { return l.Without[s.Entry] || r.Hidden[s.Entry] })
	}
	return nil
}

// mostFocus is how many bytes of sentences on a focus a text has.
const mostFocus = 2048

// TakeFocus makes texts of the sentences of the lists that come first for a focus, in the order in
// which they were said, and takes the lists away. A list without such sentences has no text.
func (r *ListReader) TakeFocus() error {
	for _, l := range r.Lists {
		list, _, err := summarize.DecodeSome(l.Body, mostFocus)
		if err != nil {
			return fmt.Errorf("summary %v: %w", l.Part.Summary, err)
		}
		list = slices.DeleteFunc(list, func(s summarize.Sentence) bool {
			return !s.IsOnFocus() || l.Without[s.Entry] || r.Hidden[s.Entry]
		})
		l.Part.Text = strings.Join(lists.Map(summarize.Order(list),
			func(s summarize.Sentence) string { return s.Text }), "\n")
	}
	r.Lists = nil
	return nil
}

// Parts reads the summaries of a cluster.
func (s *Reader) Parts(covers []format.Cover) ([]view.Part, error) {
	r := &ListReader{Reader: s}
	parts, err := r.Parts(covers)
	if err != nil {
		return nil, err
	}
	return parts, r.Read(format.MaxBody)
}
