package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
)

// entireName stands for the agent of what Entire keeps, as long as that is not known.
const entireName = "entire"

func newImportEntireCmd(a *app) *cobra.Command {
	var dryRun bool
	cmd := a.newCmd(entireName+" [REF]", func(refs []string) error {
		s, err := a.openStore()
		if err != nil {
			return err
		}
		dir := a.projectDir(s)
		if len(refs) == 0 {
			if refs, err = catalog.EntireRefs(a.c, dir); err != nil {
				return err
			}
		}
		list, err := a.checkpoints(dir, refs)
		if err == nil && len(list) == 0 {
			err = withHint(notFound("a checkpoint of Entire: %q", dir),
				"`git fetch REMOTE entire/checkpoints/v1:entire/checkpoints/v1` brings them")
		}
		if err != nil {
			return err
		}
		if list, err = a.withoutRemoved(s, list); err != nil {
			return err
		}
		return importFound(a, list, a.asker(), dryRun)
	})
	cmd.Args = between(0, 1)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "list the transcripts, and import nothing")
	return cmd
}

// checkpoints lists what Entire keeps in refs of the repository of a directory.
func (a *app) checkpoints(dir string, refs []string) (list []found, err error) {
	all, err := catalog.Checkpoints(a.c, dir, refs)
	for i := range all {
		list = append(list, found{agent: entireName, file: all[i].Name, listed: &all[i]})
	}
	return list, err
}

// openCheckpoint opens a transcript that Entire keeps.
func (a *app) openCheckpoint(
	file string, of *catalog.Checkpoint,
) (source *watched, closeIt func(), err error) {
	text, err := of.Read(a.c)
	if err == nil && of.Form == "" {
		err = fmt.Errorf("ctx does not read transcripts of %s", cmp.Or(of.By, "this form"))
	}
	if err != nil {
		return nil, nil, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	return &watched{c: a.c, from: strings.NewReader(text)}, func() {}, nil
}
