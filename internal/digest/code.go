package digest

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// errIndex says that a digester names a fact that it has not.
var errIndex = errors.New("no such fact")

// Code is the binary form of d, for a cache. A change of it needs a new Version.
func (d *Digester) Code(c *varint.Code) {
	varint.List(c, &d.Made, (*Fact).code)
	varint.Map(c, &d.Open, func(id *string, list *[]int) {
		varint.Text(c, id)
		d.indexes(c, list)
	})
	text := func(key, value *string) {
		varint.Text(c, key)
		varint.Text(c, value)
	}
	varint.Map(c, &d.Scripts, text)
	varint.Map(c, &d.Tasks, text)
	c.Texts(&d.Plan)
	varint.Text(c, &d.Began)
	varint.Text(c, &d.Branch)
	c.Flag(&d.Heard)
	d.indexes(c, &d.Last)
}

// indexes is a list of indexes of facts.
func (d *Digester) indexes(c *varint.Code, list *[]int) {
	varint.List(c, list, func(n *int, c *varint.Code) { varint.Number(c, n) })
	if slices.ContainsFunc(*list, func(n int) bool { return n < 0 || n >= len(d.Made) }) {
		c.Fail(errIndex)
	}
}

func (f *Fact) code(c *varint.Code) {
	varint.Text(c, &f.Kind)
	c.Fixed(f.Entry[:])
	varint.Number(c, &f.Seq)
	varint.Number(c, &f.Pos)
	varint.Number(c, &f.Added)
	varint.Number(c, &f.Removed)
	varint.Number(c, &f.Was)
	varint.Number(c, &f.Now)
	varint.Text(c, &f.Text)
	varint.Text(c, &f.Heading)
	varint.Text(c, &f.Path)
	varint.Text(c, &f.Key)
	varint.Text(c, &f.State)
	c.Flag(&f.Slight)
	c.Flag(&f.Test)
	c.Flag(&f.Elsewhere)
}
