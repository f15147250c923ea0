package markup

import (
	"fmt"
	"strings"
)

// This file writes what stands before the turns: what the model was told, and the clusters.

// told appends what the model was told before the conversation.
func (w *writer) told(b []byte) []byte {
	if len(w.s.Told) == 0 {
		return b
	}
	b = append(b, "<details class=told><summary>What the model is told first</summary>"...)
	for _, t := range w.s.Told {
		b = append(appendName(append(b, "<h3 class=q>"...), t.Key), "</h3><div class=t>"...)
		b = append(appendText(b, t.Text), "</div>"...)
	}
	return append(b, "</details>\n"...)
}

func (w *writer) forest(b []byte, l layout) []byte {
	if len(w.s.Clusters) == 0 {
		b = append(b,
			"<p class=quiet>No clusters yet: every message is still in the window.</p>"...)
	}
	largest := 1
	for _, c := range w.s.Clusters {
		largest = max(largest, len(c.Members))
	}
	for i := range w.s.Clusters {
		b = w.cluster(b, &w.s.Clusters[i], largest, l)
	}
	if w.s.Others > 0 {
		b = fmt.Appendf(b, "<p class=quiet>%s of other sessions.</p>", count(w.s.Others, "cluster"))
	}
	return b
}

func (w *writer) cluster(b []byte, c *Cluster, largest int, l layout) []byte {
	b = fmt.Appendf(b,
		"<details class=\"k %s\" data-n=%s><summary><svg viewBox=\"0 0 100 3\" "+
			"preserveAspectRatio=none>"+
			"<rect width=%d /></svg><b>", strings.ReplaceAll(c.State, ",", ""), c.ID[:anchorLen],
		max(1, 100*len(c.Members)/largest))
	b = append(appendName(b, c.Label), "</b><small>"...)
	b = fmt.Appendf(b, "%s", count(c.Count, "message"))
	if n := c.Count - len(c.Members); n > 0 {
		b = fmt.Appendf(b, ", %d of other sessions", n)
	}
	b = fmt.Appendf(b, " · %s · %s</small></summary>", days(c.First, c.Last), c.State)
	for _, sum := range c.Summaries {
		b = append(b, "<div class=sum>"...)
		for _, one := range sum.Sentences {
			if one.From == "" {
				b = append(b, "<p class=x tabindex=0>"...)
			} else {
				b = append(l.href(append(b, "<p><a "...), one.From), '>')
			}
			b = appendText(b, one.Text)
			if one.From != "" {
				b = append(b, "</a>"...)
			}
		}
		if len(sum.Sentences) > 0 {
			b = append(b, "</p>"...) // of the last sentence; each other ends where the next begins
		}
		b = append(b, "<small>"...)
		if sum.More > 0 {
			b = fmt.Appendf(b, "%d more in `ctx expand`'s words · ", sum.More)
		}
		b = append(appendName(append(b, "by "...), sum.By), " · <code>"...)
		b = append(append(b, sum.ID[:anchorLen]...), "</code></small></div>"...)
	}
	b = append(b, "<p class=mem>"...)
	for i := 0; i < len(c.Members); {
		end := i + 1
		for end < len(c.Members) && c.Members[end].Seq == c.Members[end-1].Seq+1 {
			end++
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendSeq(l.href(append(b, "<a "...), c.Members[i].ID), c.Members[i].Seq)
		if end > i+1 {
			b = appendSeq(l.href(append(b, "–<a "...), c.Members[end-1].ID), c.Members[end-1].Seq)
		}
		i = end
	}
	return append(append(append(b, "</p><p class=quiet><code>ctx expand "...), c.ID[:anchorLen]...),
		"</code></p></details>\n"...)
}
