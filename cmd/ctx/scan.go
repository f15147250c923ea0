package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/upkeep"
)

func newScanCmd(a *app) *cobra.Command {
	var rule string
	cmd := &cobra.Command{
		Use:   "scan [--rule CLASS]",
		Short: "Look for secrets in what is stored",
		Long: long(`Goes through every stored body with the rules of today, which may know more than those by which it was cleaned when it came, and lists what
looks like a secret: the object, the class, and where it begins and ends in the text, in bytes from 0. The secret itself is never printed. Exits with
1 where something is found. `+"`ctx forget`"+` removes it.`, exitNoStore, exitCorrupt),
		Example: "  ctx scan\n  ctx scan --rule password --json",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			o := upkeep.ScanOptions{Rule: rule}
			show, done := a.progress()
			o.Progress = show
			r, err := upkeep.Scan(cmd.Context(), s, o, func(f upkeep.Secret) error {
				if a.json {
					return a.printJSON(secretDoc{1, f.ID.String(), f.Kind, f.Class, f.From, f.To})
				}
				a.line("%v %s %s %d-%d", f.ID, f.Kind, f.Class, f.From, f.To)
				return nil
			})
			done()
			if err != nil {
				return err
			}
			a.say("%s, %s", plural(r.Bodies, "body", "bodies"), plural(r.Secrets, "secret", "secrets"))
			if len(r.Unread) > 0 {
				return withHint(fmt.Errorf("cannot look into %s", strings.Join(r.Unread, ", ")), "`ctx fsck` says what is damaged")
			}
			if r.Secrets > 0 {
				return withHint(errFound, "`ctx forget ID` removes one, `ctx forget --rule CLASS` all of a class")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&rule, "rule", "", "only secrets of this `CLASS`")
	return cmd
}

type secretDoc struct {
	V     int    `json:"v"`
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Class string `json:"class"`
	From  int    `json:"from"` // in the text, in bytes from 0
	To    int    `json:"to"`   // behind its last byte
}
