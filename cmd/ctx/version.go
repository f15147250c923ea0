package main

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
)

func newVersionCmd(a *app) *cobra.Command {
	return a.newCmd("version", func([]string) error { return printVersion(a) })
}

func printVersion(a *app) error {
	b := environ.ThisBuild()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if a.json {
		return a.answer("version", b.Version, "commit", document.OrNull(b.Commit), "date",
			document.OrNull(b.Date), "changed", b.Changed,
			"go", runtime.Version(), "platform", platform, "format", format.StoreVersion)
	}
	said := []string{platform}
	if b.Commit != "" {
		commit := "commit " + b.Commit[:min(len(b.Commit), shortLen)]
		if b.Changed {
			commit += " and changes"
		}
		said = append([]string{commit, b.Date}, platform)
	}
	a.printf("ctx version %s (%s)\n", b.Version, strings.Join(said, ", "))
	return nil
}
