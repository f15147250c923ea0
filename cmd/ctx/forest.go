package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newForestCmd(a *app) *cobra.Command {
	var at, form, of string
	var cmd *cobra.Command
	cmd = a.newCmd("forest [--at OPERATION | --of STORE] [--format union-find-json]",
		func([]string) error {
			if form != "" && form != unionFindForm {
				return usagef("unknown format %q: the only format is %s", form, unionFindForm)
			}
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("of") {
				if form != "" || at != "" {
					return usagef("--of goes with neither --at nor --format")
				}
				list, err := sharedClusters(s, view, of)
				if err != nil {
					return err
				}
				return printClusters(a, s, list)
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
		})
	cmd.Flags().StringVar(&at, "at", "", "list the clusters after `OPERATION`")
	cmd.Flags().StringVar(&of, "of", "", "list the clusters that `STORE` shares")
	cmd.Flags().StringVar(&form, "format", "",
		"write the whole forest in `FORMAT`: union-find-json")
	a.completeWords(cmd, "format", unionFindForm)
	return cmd
}

// unionFindForm is the name of the format with one JSON document.
const unionFindForm = "union-find-json"

func writeUnionFind(a *app, s *session.Store, view *refs.View, number uint64) error {
	doc, err := s.ForestFile.Export(view, number)
	if err != nil {
		return err
	}
	return forestfile.Encode(a.out, doc)
}

// operationAt returns the number of the operation that --at names.
func operationAt(s *session.Store, view *refs.View, name string) (uint64, error) {
	number, err := s.Clusters.Operation(view, name)
	switch {
	case errors.Is(err, history.ErrGone):
		err = withHint(err,
			"`ctx op log` lists the operations that are kept; log.keep says for how long")
	case errors.Is(err, history.ErrNotFound):
		err = withHint(err, "`ctx op log` lists the operations that are kept")
	}
	return number, err
}

// clustersAt returns the clusters after an operation, with their labels.
func clustersAt(
	s *session.Store, view *refs.View, number uint64,
) (list []clusters.ClusterInfo, err error) {
	if number == view.Number {
		list, err = s.Recall.Clusters(view)
	} else {
		list, err = s.Clusters.ClustersAt(view, number)
	}
	if err != nil {
		return nil, err
	}
	return list, s.Summaries.SetLabels(list)
}

// sharedClusters returns the clusters that another store shares, with their labels.
func sharedClusters(
	s *session.Store, view *refs.View, label string,
) ([]clusters.ClusterInfo, error) {
	list, err := s.Recall.SharedClusters(view, label)
	if errors.Is(err, history.ErrNotFound) {
		err = withHint(err, "`ctx session list` shows SESSION@STORE")
	}
	if err != nil {
		return nil, err
	}
	return list, s.Summaries.SetLabels(list)
}

func printClusters(a *app, s *session.Store, list []clusters.ClusterInfo) error {
	narrow, digits := a.lineWidth() < noTerminal, shortLen // then without the first day
	titles := []string{"ID", "STATE", "MEMBERS", "FIRST", "LAST", "LABEL"}
	if narrow {
		digits, titles = 8, slices.Delete(titles, 3, 4)
	}
	l := a.listing(titles...)
	for _, c := range list {
		d, err := document.ClusterOf(s, c)
		if err != nil {
			return err
		}
		row := []string{c.ID.Short(digits), clusterState(d), fmt.Sprint(d.Members),
			day(d.First), day(d.Last), oneLine(d.Label)}
		if narrow {
			row = slices.Delete(row, 3, 4)
		}
		l.add(fields(d), row...)
	}
	a.cutLast(l.titles, l.rows)
	return l.print()
}

// leastLabel is how much of a label a narrow terminal shows.
const leastLabel = 20

// cutLast cuts the last column of rows to the width that a terminal has left of it, or to
// leastLabel.
func (a *app) cutLast(titles []string, rows [][]string) {
	if !asked(a.outTerm) {
		return
	}
	left := a.lineWidth()
	for i, title := range titles[:len(titles)-1] {
		widest := len(title)
		for _, row := range rows {
			widest = max(widest, columnsOf(row[i]))
		}
		left -= widest + 2
	}
	for _, row := range rows {
		last := &row[len(row)-1]
		if cut := cutWidth(*last, max(left, leastLabel)); cut != *last {
			*last = strings.TrimRight(cut, "… ·") + "…"
		}
	}
}

func clusterState(d document.Cluster) string {
	if d.Dirty {
		return d.State + ", dirty"
	}
	return d.State
}

func day(when string) string { return when[:len("2006-01-02")] }
