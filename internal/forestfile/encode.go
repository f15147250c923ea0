package forestfile

import (
	"bufio"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Encode writes a document: a line for its beginning, one for each node, cluster and summary. Equal
// documents give equal bytes. It refuses what Decode would not read back, but for the length of the
// whole.
func Encode(w io.Writer, d *Document) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("union-find-json: %w", err)
	}
	p := bufio.NewWriter(w) // it keeps the first error
	d.Version = version
	head := jsonvalue.Encode(d.Head)
	fmt.Fprintf(p, "%s,", head[:len(head)-1])
	list(p, "nodes", d.Nodes)
	for i := range d.Clusters {
		d.derive(&d.Clusters[i])
	}
	fmt.Fprint(p, ",")
	list(p, "clusters", d.Clusters)
	fmt.Fprint(p, ",")
	list(p, "lineage", d.Lineage)
	fmt.Fprint(p, "}\n")
	return p.Flush()
}

func list[T any](p *bufio.Writer, name string, elements []T) {
	fmt.Fprintf(p, "%q:[", name)
	for i := range elements {
		if i > 0 {
			fmt.Fprint(p, ",")
		}
		fmt.Fprintf(p, "\n%s", jsonvalue.Encode(&elements[i]))
	}
	fmt.Fprint(p, "\n]")
}
