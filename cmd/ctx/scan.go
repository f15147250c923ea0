package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newScanCmd(a *app) *cobra.Command {
	var rule string
	cmd := a.newCmd("scan [--rule CLASS]", a.onStore(func(s *session.Store, _ []string) error {
		o := forget.ScanOptions{Rule: rule, Progress: a.progress()}
		r, err := forget.Scan(a.c, s.Opened, o, func(f forget.Secret) error {
			return a.result(fields(f), "%v %s %s %d-%d", f.ID, f.Kind, f.Class, f.From, f.To)
		})
		if err != nil {
			return err
		}
		a.say("%s, %s", plural(r.Bodies, "body", "bodies"),
			plural(r.Secrets, "secret", "secrets"))
		if len(r.Unread) > 0 {
			return withHint(fmt.Errorf("cannot read %s", strings.Join(r.Unread, ", ")),
				"`ctx fsck` says what is damaged")
		}
		if r.Secrets > 0 {
			return withHint(errFound,
				"`ctx forget ID` erases one, `ctx forget --rule CLASS` all of a class")
		}
		return nil
	}))
	cmd.Flags().StringVar(&rule, "rule", "", "list only secrets of this `CLASS`")
	return cmd
}
