package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: long(`Prints the version of ctx. With --json the command also prints the version of Go, the platform,
and the version of the store format.`),
		Example: "  ctx version",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

func printVersion(a *app) error {
	version := environ.Version()
	if !a.json {
		a.printf("ctx version %s\n", version)
		return nil
	}
	return a.answer("version", version, "go", runtime.Version(), "platform", runtime.GOOS+"/"+runtime.GOARCH, "format", format.StoreVersion)
}
