package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/machine"
)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    long("Prints the version of ctx; with --json also that of Go, the platform, and the store format it reads and writes."),
		Example: "  ctx version",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

func printVersion(a *app) error {
	version := machine.Version()
	if !a.json {
		a.printf("ctx version %s\n", version)
		return nil
	}
	return a.printJSON(struct {
		V        int    `json:"v"`
		Version  string `json:"version"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
		Format   int    `json:"format"`
	}{1, version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, format.StoreVersion})
}
