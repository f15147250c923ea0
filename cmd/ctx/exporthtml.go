package main

import (
	"io"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	viewer "github.com/gemini-ctx/ctx/internal/page"
)

// formatHTML is the name of the format of pages.
const formatHTML = catalog.PageForm

// pageFormats are pages of HTML, and the page of a session as one document that people paste
// elsewhere.
func pageFormats() []exportFormat {
	return []exportFormat{
		{name: formatHTML, takes: []string{"max-bytes", "no-entries"}, write: writeHTML},
		{name: "md", write: writeMarkdown},
	}
}

// leastPage is the least number of bytes of a page: its style and its script take half of it.
const leastPage = 65536

// page reads the page of the branch.
func (b *openBranch) page(a *app, entries bool) (*viewer.Session, error) {
	return viewer.Read(a.c, b.s, b.view,
		viewer.Branch{Session: b.name, Branch: b.branch, Tip: b.tip}, entries)
}

func writeHTML(o *exportOptions, b openBranch, w io.Writer) (done transcript.Written, err error) {
	doc, err := b.page(o.a, !o.bare)
	if err != nil {
		return done, err
	}
	done.Messages, done.Left = doc.Messages, doc.Left
	answer, err := o.a.makePages(
		viewer.Ask{Session: doc, Most: o.most, First: filepath.Base(o.file)})
	if err != nil {
		return done, err
	}
	if n := len(answer.Pages); n > 1 && (o.file == "" || o.file == "-") {
		return done, usagef("%d pages of at most %d bytes: -o FILE says where they go", n, o.most)
	}
	if doc.Entries != "" && !answer.Embedded {
		o.a.warn("the entries do not fit into the last page, so `ctx import html` cannot read it")
	}
	if err := writePages(b.s.FS, o.a.path(o.file), answer.Pages, 1); err != nil {
		return done, err
	}
	_, err = w.Write(answer.Pages[0])
	return done, err
}

func writeMarkdown(
	o *exportOptions, b openBranch, w io.Writer,
) (done transcript.Written, err error) {
	doc, err := b.page(o.a, false)
	if err != nil {
		return done, err
	}
	text, cut := doc.Markdown()
	if done.Messages, done.Left = doc.Messages, doc.Left; cut > 0 {
		done.Changed = counter{"long calls and results, cut": cut}
	}
	_, err = w.Write(text)
	return done, err
}
