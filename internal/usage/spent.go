package usage

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/objects"
)

// Spent is what the calls of one model took, as its agents reported it. Numbers are tokens.
type Spent struct {
	Model      string `json:"model"` // "" where the agent does not say it
	Calls      int    `json:"calls"`
	Input      uint64 `json:"input"` // that no cache had
	CacheRead  uint64 `json:"cache_read"`
	CacheWrite uint64 `json:"cache_write"`
	Output     uint64 `json:"output"`
	// OutputOnly counts the calls of which only the output is known.
	OutputOnly int `json:"output_only,omitempty"`
	// Dollars is the price of the calls of which all is known; nil for a model without a price.
	Dollars *float64 `json:"dollars"`
}

// mostTokens is more than a call of any model takes: a larger number is damage, and not believed.
const mostTokens = 1e9

// call is one call of a model.
type call struct {
	transcript.Spent
	outputOnly bool // the agent reports no more
}

// spend takes what the record of an entry says of calls. A call that several entries name, as those
// of one answer do, or of a session and its fork, counts once.
func (n *counter) spend(e history.Entry) error {
	n.named(e)
	if e.Body == nil || e.Source == nil {
		return nil
	}
	read := catalog.SpentOf(e.Source.Agent)
	if read == nil {
		if e.Tokens > 0 {
			n.called(call{Spent: transcript.Spent{Output: e.Tokens}, outputOnly: true}, e)
		}
		return nil
	}
	_, raw, err := n.s.Text(e.ID)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil || !bytes.Contains(raw, []byte(e.Source.Agent)) {
		return err
	}
	list, _ := jsonvalue.Elements(raw)
	for _, part := range list {
		for _, one := range read(jsonvalue.AsObject(part).Object(e.Source.Agent)) {
			n.called(call{Spent: one}, e)
		}
	}
	return nil
}

func (n *counter) called(c call, e history.Entry) {
	all := max(c.Input, c.CacheRead, c.CacheWrite, c.CacheHour, c.Output)
	if all == 0 || all > mostTokens {
		return
	}
	if e.Role == transcript.RoleModel {
		c.Model = cmp.Or(c.Model, e.Author)
	}
	key := e.Source.Agent + "\x00" + cmp.Or(c.Call, e.ID.String())
	if c.Sums {
		key += "\x00" + n.origin
	}
	was := n.calls[key]
	c.Model, c.Output = cmp.Or(c.Model, was.Model), max(c.Output, was.Output)
	if n.calls[key] = c; c.Model == "" {
		n.nameless = append(n.nameless, key)
	}
}

// named gives the calls that were read before an answer to the model that gave it: an agent may
// write what a call took behind its answer, and branches are read from their ends.
func (n *counter) named(e history.Entry) {
	if e.Role != transcript.RoleModel || e.Author == "" {
		return
	}
	for _, key := range n.nameless {
		c := n.calls[key]
		c.Model = e.Author
		n.calls[key] = c
	}
	n.nameless = n.nameless[:0]
}

// spent returns what the calls took, those of the model that took most first.
func (n *counter) spent() []Spent {
	models, known := map[string]*Spent{}, map[string]*transcript.Spent{}
	for _, c := range n.calls {
		m, k := models[c.Model], known[c.Model]
		if m == nil {
			m, k = &Spent{Model: c.Model}, &transcript.Spent{}
			models[c.Model], known[c.Model] = m, k
		}
		m.Calls++
		m.Input, m.CacheRead, m.Output = m.Input+c.Input, m.CacheRead+c.CacheRead, m.Output+c.Output
		m.CacheWrite += c.CacheWrite + c.CacheHour
		if c.outputOnly {
			m.OutputOnly++
			continue
		}
		k.Input, k.CacheRead, k.Output = k.Input+c.Input, k.CacheRead+c.CacheRead, k.Output+c.Output
		k.CacheWrite, k.CacheHour = k.CacheWrite+c.CacheWrite, k.CacheHour+c.CacheHour
	}
	list := prices(n.o.Prices)
	out := make([]Spent, 0, len(models))
	for _, m := range models {
		if p, ok := priceOf(list, m.Model); ok && m.OutputOnly < m.Calls {
			k := known[m.Model]
			dollars := p.Of(k.Input, k.Output, k.CacheRead, k.CacheWrite, k.CacheHour)
			m.Dollars = &dollars
		}
		out = append(out, *m)
	}
	all := func(m Spent) uint64 { return m.Input + m.CacheRead + m.CacheWrite + m.Output }
	slices.SortFunc(out, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(all(b), all(a)), cmp.Compare(a.Model, b.Model))
	})
	return out
}
