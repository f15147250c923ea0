package view

import "strings"

// dialect is what a provider's messages look like.
type dialect struct {
	open     string              // everything before the first message
	user     string              // a user message up to its first part; closed by "]}"
	system   bool                // has a system role in the middle of a conversation
	update   placing             // of an update in a user message
	told     bool                // open ends in a message
	userPart func(item) string   // a part of a user message that is no result
	messages func(turn) []string // the messages of a turn
}

// providerPrinter prints the body of a request: the block is the first part of the first user message.
type providerPrinter struct {
	blockPrinter
	d dialect
}

func newProviderPrinter(d dialect, brief bool) providerPrinter {
	p := providerPrinter{d: d}
	before, after, _ := strings.Cut(d.userPart(textOf("\x00")), `\u0000`)
	between := ""
	if d.told {
		between = ","
	}
	p.blockPrinter = blockPrinter{empty: d.open, before: d.open + between + d.user + before, after: after, quote: innerJSON, brief: brief}
	return p
}

func (p providerPrinter) rest(r rest) string {
	ts := startWithUser(turns(r.tail, p.d.system, p.d.update), r.bare)
	var w strings.Builder
	if !r.bare {
		if len(ts) > 0 && ts[0].side == userSide {
			for _, it := range ts[0].items {
				w.WriteString("," + p.d.userPart(it))
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

// newPrinter returns the printer of a format that ParseFormat knows.
func newPrinter(in Input, o Options) printer {
	block := epochText(in.Epoch)
	switch o.Format {
	case JSON:
		return documentPrinter{in}
	case Gemini:
		return newProviderPrinter(geminiDialect(block), o.Budget > 0)
	case OpenAI:
		return newProviderPrinter(openAIDialect(block), o.Budget > 0)
	case Anthropic:
		return newProviderPrinter(anthropicDialect(block), o.Budget > 0)
	}
	return newTextPrinter(block, o.Budget > 0)
}

// epochText is the initial block as one text.
func epochText(parts []EpochPart) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}
