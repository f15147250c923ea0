package main

import (
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	viewer "github.com/gemini-ctx/ctx/internal/page"
)

// formatHTML is the name of the format of pages.
const formatHTML = catalog.PageForm

// htmlFlags are the flags of export for pages.
type htmlFlags struct {
	most int
	bare bool
}

func htmlFormat() exportFormat {
	return exportFormat{
		name: formatHTML,
		flags: func(o *exportOptions, cmd *cobra.Command) {
			cmd.Flags().IntVar(&o.html.most, "max-bytes", 0,
				"for html: pages of at most `N` bytes each; 0 is one page")
			cmd.Flags().BoolVar(&o.html.bare, "no-entries", false,
				"for html: not for ctx import html")
		},
		check: checkHTMLFlags,
		takes: []string{"max-bytes", "no-entries"},
		write: writeHTML,
	}
}

// leastPage is the least number of bytes of a page: its style and its script take half of it.
const leastPage = 65536

func checkHTMLFlags(o *exportOptions) error {
	if most := o.html.most; most != 0 && most < leastPage {
		return usagef("--max-bytes %d: a page has at least %d bytes", most, leastPage)
	}
	return nil
}

func writeHTML(c context.Context, o *exportOptions, b openBranch, w io.Writer) (exported, error) {
	doc, err := viewer.Read(c, b.s, b.view,
		viewer.Branch{Session: b.name, Branch: b.branch, Tip: b.tip}, !o.html.bare)
	if err != nil {
		return exported{}, err
	}
	done := exported{Messages: doc.Messages, losses: losses{Left: doc.Left}}
	answer, err := o.a.makePages(
		viewer.Ask{Session: doc, Most: o.html.most, First: filepath.Base(o.file)})
	if err != nil {
		return done, err
	}
	if n := len(answer.Pages); n > 1 && (o.file == "" || o.file == "-") {
		return done,
			usagef("%d pages of at most %d bytes: -o FILE says where they go", n, o.html.most)
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

// markdownFormat is the page of a session as one document that people paste elsewhere.
func markdownFormat() exportFormat {
	return exportFormat{
		name:  "md",
		flags: func(*exportOptions, *cobra.Command) {},
		check: func(*exportOptions) error { return nil },
		write: func(
			c context.Context, _ *exportOptions, b openBranch, w io.Writer,
		) (exported, error) {
			doc, err := viewer.Read(c, b.s, b.view,
				viewer.Branch{Session: b.name, Branch: b.branch, Tip: b.tip}, false)
			if err != nil {
				return exported{}, err
			}
			text, cut := doc.Markdown()
			done := exported{Messages: doc.Messages, losses: losses{Left: doc.Left}}
			if cut > 0 {
				done.Changed = counter{"long calls and results, cut": cut}
			}
			_, err = w.Write(text)
			return done, err
		},
	}
}
