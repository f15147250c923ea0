package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/upkeep"
)

func newCountObjectsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "count-objects",
		Short:   "Count what the store holds, and how large it is",
		Long:    long("Counts objects, packs, refs and operations, and the bytes of their files. It reads no object.", exitNoStore, exitCorrupt),
		Example: "  ctx count-objects --json",
		Args:    between(0, 0),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			c, err := upkeep.Count(s)
			if err != nil {
				return err
			}
			return printCounts(a, c)
		},
	}
}

type countsDoc struct {
	V             int    `json:"v"`
	Loose         int    `json:"loose"`
	LooseBytes    int64  `json:"loose_bytes"`
	Packs         int    `json:"packs"`
	PackedObjects int    `json:"packed_objects"`
	PackBytes     int64  `json:"pack_bytes"`
	Refs          int    `json:"refs"`
	Operation     uint64 `json:"operation"`
	Since         int    `json:"since_checkpoint"`
	LogBytes      int64  `json:"log_bytes"`
	CacheBytes    int64  `json:"cache_bytes"`
	Absent        int    `json:"forgotten"`
}

func printCounts(a *app, c upkeep.Counts) error {
	if a.json {
		return a.printJSON(countsDoc{1, c.Loose, c.LooseBytes, c.Packs, c.PackedObjects, c.PackBytes, c.Refs, c.Operation, c.Since,
			c.LogBytes, c.CacheBytes, c.Absent})
	}
	a.table([][]string{
		{"loose objects", fmt.Sprint(c.Loose)},
		{"loose bytes", fmt.Sprint(c.LooseBytes)},
		{"packs", fmt.Sprint(c.Packs)},
		{"packed objects", fmt.Sprint(c.PackedObjects)},
		{"pack bytes", fmt.Sprint(c.PackBytes)},
		{"refs", fmt.Sprint(c.Refs)},
		{"newest operation", fmt.Sprint(c.Operation)},
		{"operations since the checkpoint", fmt.Sprint(c.Since)},
		{"log bytes", fmt.Sprint(c.LogBytes)},
		{"cache bytes", fmt.Sprint(c.CacheBytes)},
		{"forgotten bodies", fmt.Sprint(c.Absent)},
	})
	return nil
}
