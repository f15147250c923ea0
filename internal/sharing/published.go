package sharing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/cache"
)

// cache keeps what this store shares on the remote, so that the next push need not read its log
// there. It has the form of a push that shares all of it.
func (x *Sharer) cache(p *published) {
	all := &share.Push{Store: x.s.Shared, Number: p.number + 1, Before: p.digest, Time: x.now(),
		Forest: p.forest}
	for b, tip := range p.tips {
		b.Tip = tip
		all.Branches = append(all.Branches, b)
	}
	slices.SortFunc(all.Branches, share.Branch.Compare)
	for _, session := range slices.Sorted(maps.Keys(p.parent)) {
		all.Parents = append(all.Parents, p.parent[session])
	}
	for _, session := range slices.Sorted(maps.Keys(p.about)) {
		all.Abouts = append(all.Abouts, share.About{Session: session, Blob: p.about[session]})
	}
	for id := range p.forgot {
		all.Forgot = append(all.Forgot, id)
	}
	slices.SortFunc(all.Forgot, format.ID.Compare)
	if b, err := all.Encode(); err == nil {
		_ = x.s.History.Cache.Store(x.cacheName(), cache.Stamp{Number: p.number, Digest: p.digest},
			b)
	}
}

// cached returns what cache kept of a push; nil where it kept that of another.
func (x *Sharer) cached(number uint64, digest format.ID) *published {
	b, stamp, ok := x.s.History.Cache.Load(x.cacheName())
	if !ok || stamp.Number != number || stamp.Digest != digest {
		return nil
	}
	all, _, err := share.DecodePush(b)
	if err != nil || all.Store != x.s.Shared {
		return nil
	}
	p := newPublished()
	p.apply([]step{{Push: all}})
	p.number, p.digest = number, digest
	return p
}

// tags returns the tags of the heads that the last pulls took in, by folder: a head with the same
// tag need not be read.
func (x *Sharer) tags() map[string]string {
	known := map[string]string{}
	b, _, ok := x.s.History.Cache.Load(x.tagsName())
	if !ok {
		return known
	}
	for line := range strings.Lines(string(b)) {
		if folder, tag, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			known[folder] = tag
		}
	}
	return known
}

// keepTags keeps the tags of heads for the next pull.
func (x *Sharer) keepTags(tags map[string]string) {
	var b []byte
	for _, folder := range slices.Sorted(maps.Keys(tags)) {
		if tag := tags[folder]; tag != "" && !strings.Contains(tag, "\n") {
			b = fmt.Appendf(b, "%s %s\n", folder, tag)
		}
	}
	if old, _, ok := x.s.History.Cache.Load(x.tagsName()); !ok && len(b) == 0 ||
		ok && string(old) == string(b) {
		return
	}
	_ = x.s.History.Cache.Store(x.tagsName(), cache.Stamp{}, b)
}

func (x *Sharer) tagsName() string { return "tags-" + x.o.Name }

// tipsOf returns the ends of the branches of a session.
func (p *published) tipsOf(session string) (tips []format.ID) {
	for b, tip := range p.tips {
		if b.Session == session {
			tips = append(tips, tip)
		}
	}
	slices.SortFunc(tips, format.ID.Compare)
	return tips
}
