package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
)

func newCountObjectsCmd(a *app) *cobra.Command {
	return a.newCmd("count-objects", a.onStore(func(s *session.Store, _ []string) error {
		c, err := store.Count(s.Opened)
		if err != nil {
			return err
		}
		return printCounts(a, c)
	}))
}

func printCounts(a *app, c store.Counts) error {
	if a.json {
		return a.answer(c)
	}
	a.table([][]string{
		{"packs", fmt.Sprint(c.Packs)},
		{"packed objects", fmt.Sprint(c.PackedObjects)},
		{"pack bytes", fmt.Sprint(c.PackBytes)},
		{"objects in the log", fmt.Sprint(c.Carried)},
		{"refs", fmt.Sprint(c.Refs)},
		{"newest operation", fmt.Sprint(c.Operation)},
		{"operations since the checkpoint", fmt.Sprint(c.Since)},
		{"log bytes", fmt.Sprint(c.LogBytes)},
		{"cache bytes", fmt.Sprint(c.CacheBytes)},
		{"forgotten bodies", fmt.Sprint(c.Absent)},
	})
	return nil
}
