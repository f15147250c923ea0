package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/agent/unionfind"
	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newForestCmd(a *app) *cobra.Command {
	var at, form string
	cmd := &cobra.Command{
		Use:   "forest [--at OPERATION] [--format union-find-json]",
		Short: "List the clusters",
		Long: long(`Lists the clusters of the forest that all sessions share: the live ones in the order they were opened, then the tombstones, newest
first. Any id can be given to `+"`ctx expand`"+`. Each has a label: what was asked for first, and the rarest paths and names. The live clusters of one
session have different labels. With --json the summary is there as well, once there is one.

With --at the forest is shown as it was after an operation, which is named as `+"`ctx op log`"+` lists it, by its number, or by its digest or
the first 4 digits of that or more; @ is the newest. The log reaches as far back as log.keep says.

With --format union-find-json the whole forest is written as one JSON document: messages as nodes with integer parents, clusters with
their summaries and tombstones, and the lineage of the summaries. `+"`ctx import union-find-json`"+` reads it back, in this store or another one. It
holds everything that was said: give it to those only who may read the store.`,
			exitNoStore, exitStale, exitCorrupt, exitGone, exitNotFound),
		Example: "  ctx forest\n  ctx forest --json\n  ctx forest --at 42\n  ctx forest --format union-find-json >union-find.json",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if form != "" && form != unionFindForm {
				return usagef("unknown format %q: %s is the one there is", form, unionFindForm)
			}
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			number := view.Number
			if cmd.Flags().Changed("at") {
				if number, err = operationAt(s, view, at); err != nil {
					return err
				}
			}
			if form == unionFindForm {
				return writeUnionFind(a, s, view, number)
			}
			list, err := clustersAt(s, view, number)
			if err != nil {
				return err
			}
			return printClusters(a, s, list)
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "show it as it was after `OPERATION`")
	cmd.Flags().StringVar(&form, "format", "", "write the whole forest in `FORMAT`: union-find-json")
	completeFlag(cmd, "format", cobra.FixedCompletions([]string{unionFindForm}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// unionFindForm is the name of the form of one file.
const unionFindForm = "union-find-json"

func writeUnionFind(a *app, s *session.Store, view *refs.View, number uint64) error {
	doc, err := s.UnionFind(view, number)
	if err != nil {
		return err
	}
	return unionfind.Encode(a.out, doc)
}

// operationAt is the operation that --at names.
func operationAt(s *session.Store, view *refs.View, name string) (uint64, error) {
	number, err := s.Operation(view, name)
	switch {
	case errors.Is(err, session.ErrGone):
		err = withHint(err, "`ctx op log` lists the operations that are kept; log.keep says for how long")
	case errors.Is(err, session.ErrNotFound):
		err = withHint(err, "`ctx op log` lists the operations that are kept")
	}
	return number, err
}

// clustersAt returns the clusters after an operation, with their labels.
func clustersAt(s *session.Store, view *refs.View, number uint64) (list []session.ClusterInfo, err error) {
	if number == view.Number {
		list, err = s.Clusters(view)
	} else {
		list, err = s.ClustersAt(view, number)
	}
	if err != nil {
		return nil, err
	}
	return list, s.SetLabels(list)
}

func printClusters(a *app, s *session.Store, list []session.ClusterInfo) error {
	var rows [][]string
	for _, c := range list {
		d, err := document.ClusterOf(s, c)
		if err != nil {
			return err
		}
		if a.json {
			if err := a.printJSON(d); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{c.ID.Short(shortLen), clusterState(d), strconv.FormatUint(d.Members, 10), day(d.First), day(d.Last), oneLine(d.Label)})
	}
	if !a.json && len(list) > 0 {
		a.titled([]string{"ID", "STATE", "MEMBERS", "FIRST", "LAST", "LABEL"}, rows)
	}
	return nil
}

func clusterState(d document.Cluster) string {
	if d.Dirty {
		return d.State + ", dirty"
	}
	return d.State
}

func day(when string) string { return when[:len("2006-01-02")] }
