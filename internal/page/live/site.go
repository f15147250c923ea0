package live

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/page"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// project is the Site of a store. It opens the store anew for each look, so that it sees what
// others have written, packed or removed since.
type project struct{ env repo.Env }

func (p *project) open(look func(s *session.Store, v *refs.View) error) error {
	r, err := repo.Open(p.env)
	if err != nil {
		return err
	}
	defer r.Close()
	s := session.New(r)
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	return look(s, v)
}

// Operation implements Site.
func (p *project) Operation(context.Context) (n uint64, err error) {
	err = p.open(func(_ *session.Store, v *refs.View) error {
		n = v.Number
		return nil
	})
	return n, err
}

// Page implements Site. Each branch of each session has a page, under the name that its file has.
func (p *project) Page(c context.Context, name string) (b []byte, ok bool, err error) {
	err = p.open(func(s *session.Store, v *refs.View) error {
		if name == "" {
			ok = true
			b, err = index(c, s, v)
			return err
		}
		for _, ref := range v.Names("sessions/") {
			of, branch, isBranch := history.BranchOfRef(ref)
			first := page.FileName(of, branch)
			if !isBranch || !isPageOf(name, first) {
				continue
			}
			b, ok, err = nth(c, s, v, page.Branch{Session: of, Branch: branch, Tip: v.Get(ref)},
				first, name)
			if err != nil || ok {
				return err
			}
		}
		return nil
	})
	return b, ok, err
}

func index(c context.Context, s *session.Store, v *refs.View) ([]byte, error) {
	doc, err := page.ReadProject(c, s, v,
		func(name string) string { return page.FileName(name, history.MainBranch) })
	if err != nil {
		return nil, err
	}
	doc.Live = true
	return Project(doc)
}

// isPageOf reports whether name may be that of a page of the branch whose first page is first.
func isPageOf(name, first string) bool {
	const ext = ".html"
	n := len(first) - len(ext)
	return name == first || len(name) > len(first) && name[:n] == first[:n] && name[n] == '-'
}

// nth returns the page of a branch that has a name.
func nth(
	c context.Context, s *session.Store, v *refs.View, of page.Branch, first, name string,
) ([]byte, bool, error) {
	if of.Tip.Kind != format.SessionValue {
		return nil, false, nil
	}
	doc, err := page.Read(c, s, v, of, false)
	if err != nil {
		return nil, false, err
	}
	doc.Live = true
	pages, _, err := Pages(doc, page.MostBytes, first)
	for n, b := range pages {
		if page.NthName(first, n) == name {
			return b, true, err
		}
	}
	return nil, false, err
}
