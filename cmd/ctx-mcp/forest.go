package main

import (
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
)

type forestArgs struct {
	At string `json:"at,omitempty"`
	paging
}

func forestTool() tool {
	return tool{
		name: "forest", title: "List the clusters of topics",
		text: `Lists the clusters of topics that all sessions of this project share, with the beginning of their summaries:
first the live clusters in the order in which they were opened, then the tombstones, newest first. "expand"
with an id shows the messages.` + isData,
		params: append([]param{
			{name: "at", kind: "string",
				text: "List the clusters as they were after this operation: a " +
					"number, or a digest."},
		}, pagingParams()...),
	}
}

func (a forestArgs) check() error {
	return firstOf(checkText("at", a.At, maxRev), a.paging.check())
}

func (a forestArgs) binding() any {
	a.paging = paging{}
	return a
}

// clusterItem is a cluster in the form of `ctx forest --json`.
type clusterItem struct {
	document.Cluster
	Cut     *cut     `json:"cut,omitempty"` // of the summary
	LeftOut []string `json:"left_out,omitempty"`
}

// forest lists the forest after the same operation on all pages.
func (cl *call) forest(a forestArgs) (*mcp.CallToolResult, error) {
	at, more, err := cl.position(a.Cursor, 0, 2) // the operation, and how many clusters were given
	if err != nil {
		return nil, err
	}
	number, given := cl.view.Number, uint64(0)
	if more {
		number, given = at.numbers[0], at.numbers[1]
	} else if a.At != "" {
		if number, err = cl.store.Clusters.Operation(cl.view, a.At); err != nil {
			return nil, err
		}
	}
	clusters, err := cl.clusters(number)
	if err != nil {
		return nil, err
	}
	p, f := newPage(a.tokens()), frame{}
	for _, c := range clusters[min(given, uint64(len(clusters))):] {
		if err := cl.c.Err(); err != nil {
			return nil, err
		}
		d, err := document.ClusterOf(cl.store, c)
		if err != nil {
			return nil, err
		}
		fits, err := p.addCluster(d)
		if err != nil {
			return nil, err
		}
		if !fits {
			f.Next = cl.next(&position{numbers: []uint64{number, given}})
			break
		}
		given++
	}
	return cl.page(p, "clusters", f)
}

// clusters returns the clusters after an operation, with their labels.
func (cl *call) clusters(number uint64) (list []clusters.ClusterInfo, err error) {
	if number == cl.view.Number {
		list, err = cl.store.Recall.Clusters(cl.view)
	} else {
		list, err = cl.store.Clusters.ClustersAt(cl.view, number)
	}
	if err != nil {
		return nil, err
	}
	return list, cl.store.Summaries.SetLabels(list)
}

// addCluster puts a cluster on the page if it fits. A cluster that is longer than a page loses its
// list of summaries and the end of its summary.
func (p *page) addCluster(d document.Cluster) (fits bool, err error) {
	if fits, err = p.add(d); fits || err != nil || !p.empty() {
		return fits, err
	}
	item := clusterItem{Cluster: d, LeftOut: []string{"covers"}}
	item.Covers = []string{}
	if d.Summary != nil {
		shown := (*d.Summary)[:prefix(*d.Summary, hitPiece)]
		item.Summary, item.Cut = &shown, &cut{0, len(shown), len(*d.Summary)}
	}
	if fits, err = p.add(item); err == nil && !fits {
		err = errors.New("a cluster is longer than a result")
	}
	return fits, err
}
