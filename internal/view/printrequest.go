package view

import (
	"strings"
)

// dialect is the form of the messages of a provider.
type dialect struct {
	open     string              // everything before the first message
	list     string              // the member of a message that has its parts
	system   bool                // system messages may follow other messages
	update   updatePlace         // where updates are placed
	told     bool                // open ends in a message
	part     func(item) string   // a part of a message; of a user message, not a result
	messages func(turn) []string // the messages of a turn
}

// providerPrinter prints the body of a request. The block is the first part of the first user
// message.
type providerPrinter struct {
	blockPrinter
	d dialect
}

func newProviderPrinter(d dialect, brief bool) providerPrinter {
	p := providerPrinter{d: d}
	before, after, _ := strings.Cut(d.part(textOf("\x00")), `\u0000`)
	between := ""
	if d.told {
		between = ","
	}
	p.blockPrinter = blockPrinter{empty: d.open,
		before: d.open + between + openMessage("user", d.list) + before, after: after,
		quote: innerJSON, brief: brief}
	return p
}

func (p providerPrinter) suffix(r suffix) string {
	ts := startWithUser(turns(r.tail, p.d.system, p.d.update), r.bare)
	var w strings.Builder
	if !r.bare {
		if len(ts) > 0 && ts[0].side == userSide {
			for _, it := range ts[0].items {
				w.WriteString("," + p.d.part(it))
			}
			ts = ts[1:]
		}
		w.WriteString("]}")
	}
	for i, t := range ts {
		for j, m := range p.d.messages(t) {
			if i+j > 0 || !r.bare || p.d.told {
				w.WriteString(",")
			}
			w.WriteString(m)
		}
	}
	w.WriteString("]}\n")
	return w.String()
}
