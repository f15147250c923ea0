package history

import "github.com/gemini-ctx/ctx/internal/varint"

// headVersion is that of the form of a head in the cache, and of the features of its items.
const headVersion = 2<<8 | LooksVersion

// Code reads or writes a head as the cache has it, without its Session, Branch and Value.
func (h *Head) Code(c *varint.Code) {
	varint.Number(c, &h.Seq)
	c.Time(&h.Time)
	for _, b := range []*bool{&h.Model, &h.Joined, &h.ForksKnown, &h.Lags} {
		c.Flag(b)
	}
	varint.Number(c, &h.Cluster)
	varint.Text(c, &h.Fork)
	varint.Number(c, &h.Alone)
	varint.Number(c, &h.Sought)
	varint.Text(c, &h.Invocation)
	c.Texts(&h.Forks)
	varint.Map(c, &h.Had, func(child, newest *string) {
		varint.Text(c, child)
		varint.Text(c, newest)
	})
	varint.List(c, &h.Items, func(it *Item, c *varint.Code) {
		c.Fixed(it.ID[:])
		varint.Text(c, &it.Role)
		c.Texts(&it.Calls)
		c.Texts(&it.Results)
		varint.Text(c, &it.Version)
		c.Bytes(&it.Features)
	})
}
