package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	viewer "github.com/gemini-ctx/ctx/internal/page"
)

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
				done.Changed = counter{"long call or result, cut": cut}
			}
			_, err = w.Write(text)
			return done, err
		},
	}
}
