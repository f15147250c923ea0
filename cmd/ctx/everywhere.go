package main

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// place is a store of this user, open for reading.
type place struct {
	name string // of its project; no two places have the same
	dir  string // of its project
	s    *session.Store
	view *refs.View
}

// everywhereFlag adds --everywhere to a command.
func everywhereFlag(cmd *cobra.Command, everywhere *bool, what string) {
	cmd.Flags().BoolVar(everywhere, "everywhere", false, what+
		" in all your stores (ctx allow --list)")
}

// places opens the store of the project, or all of this user.
func (a *app) places(everywhere bool) ([]place, error) {
	if everywhere {
		return a.everywhere()
	}
	s, view, err := a.openView()
	return []place{{s: s, view: view}}, err
}

// everywhere opens the stores on the user's list, in the order of their paths. A store that cannot
// be read is skipped and named on standard error. That a store is gone is said only if the list has
// no other place of it.
func (a *app) everywhere() ([]place, error) {
	list, err := repo.AllowedStores(a.env())
	if err != nil {
		return nil, err
	}
	opened, errs := make([]place, len(list)), make([]error, len(list))
	lists.OnAll(len(list), func(i int) {
		env := a.env()
		env.StoreDir = list[i].Path
		r, err := repo.Open(env)
		if err != nil {
			errs[i] = err
			return
		}
		p := &opened[i]
		p.s, p.dir = session.New(r), cmp.Or(repo.ProjectOf(list[i].Path), list[i].Path)
		p.view, errs[i] = p.s.Refs.Read()
	})
	var places []place
	var gone []repo.AllowedStore
	there := map[string]bool{} // directories and ids of stores
	for i, one := range list {
		p, err := opened[i], errs[i]
		if p.s != nil {
			a.keep(p.s)
			if there[p.s.Dir] {
				continue // two paths lead to it
			}
			there[p.s.Dir], there[one.Store] = true, true
		}
		switch {
		case errors.Is(err, repo.ErrNoStore):
			gone = append(gone, one)
		case err != nil:
			a.skip(one.Path, err)
		default:
			places = append(places, p)
		}
	}
	for _, one := range gone {
		if !there[one.Store] {
			a.skip(one.Path, errors.New("it is gone"))
		}
	}
	namePlaces(places)
	return places, nil
}

func (a *app) skip(path string, err error) { a.say("ctx: skipped store %q: %v", path, err) }

// namePlaces names each place by the end of its project's path, as long as no other ends so.
func namePlaces(places []place) {
	ending := func(dir string, n int) string {
		parts := strings.Split(filepath.ToSlash(dir), "/")
		return strings.Join(parts[max(len(parts)-n, 0):], "/")
	}
	for i := range places {
		same := func(n int) bool {
			name := ending(places[i].dir, n)
			return name != filepath.ToSlash(places[i].dir) &&
				slices.ContainsFunc(places, func(p place) bool {
					return p.dir != places[i].dir && ending(p.dir, n) == name
				})
		}
		n := 1
		for same(n) {
			n++
		}
		places[i].name = ending(places[i].dir, n)
	}
}

// of is something that a place has.
type of[T any] struct {
	place *place
	T     T
}

// ofAll asks each place, several at once, and returns all answers, the largest by order first. A
// place that fails is skipped and named; if it is the project's, which was not to be looked for
// everywhere, its error is returned.
func ofAll[T any](
	a *app, places []place, ask func(p *place) ([]T, error), order func(x, y T) int,
) (all []of[T], err error) {
	answers, errs := make([][]T, len(places)), make([]error, len(places))
	lists.OnAll(len(places), func(i int) { answers[i], errs[i] = ask(&places[i]) })
	for i := range places {
		if errs[i] != nil && places[i].name == "" {
			return nil, errs[i]
		}
		if errs[i] != nil {
			a.skip(places[i].s.Dir, errs[i])
		}
		for _, one := range answers[i] {
			all = append(all, of[T]{&places[i], one})
		}
	}
	if len(places) == 1 {
		return all, nil // in its own order
	}
	slices.SortStableFunc(all, func(x, y of[T]) int {
		return cmp.Or(order(y.T, x.T), strings.Compare(x.place.dir, y.place.dir))
	})
	return all, nil
}

// enter has what is printed from now on be of a place.
func (a *app) enter(p *place) {
	if a.at = nil; p.name != "" {
		a.at = p
	}
}
