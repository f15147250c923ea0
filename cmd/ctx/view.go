package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/history"
	viewer "github.com/gemini-ctx/ctx/internal/page"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

type viewOptions struct {
	branchFlags
	file  string
	open  bool
	serve bool
	port  int
}

func newViewCmd(a *app) *cobra.Command {
	o := &viewOptions{}
	cmd := o.newCmd(a, "view [SESSION] [--open] [--serve]",
		a.onView(func(s *session.Store, view *refs.View, _ []string) error {
			return o.run(a, s, view)
		}))
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write into `FILE`, once it is complete")
	cmd.Flags().BoolVar(&o.open, "open", false, "open the page")
	cmd.Flags().BoolVar(&o.serve, "serve", false, "show the page live, until interrupted")
	cmd.Flags().IntVar(&o.port, "port", 0, "for --serve: port `N` of 127.0.0.1; 0 is a free one")
	return cmd
}

func (o *viewOptions) run(a *app, s *session.Store, view *refs.View) error {
	if o.serve || o.cmd.Flags().Changed("port") {
		return o.startServer(a, s, view)
	}
	cache := filepath.Join(s.Dir, "cache", "view")
	pagesOf := o.projectPage
	if o.cmd.Flags().Changed("session") {
		pagesOf = o.sessionPages
	}
	pages, path, err := pagesOf(a, s, view, cache, a.path(o.file))
	if err != nil {
		return err
	}
	if o.file == "-" {
		return o.print(a, pages)
	}
	if o.file == "" { // right before it is needed: another process may empty the cache
		if err := os.MkdirAll(cache, 0o700); err != nil {
			return err
		}
	}
	if err := writePages(s.FS, path, pages, 0); err != nil {
		return err
	}
	total := 0
	for _, p := range pages {
		total += len(p)
	}
	if err := a.pathResult(fields("path", path, "pages", len(pages), "bytes", total),
		path); err != nil || !o.open {
		return err
	}
	if err := environ.Show(a.c, path); err != nil {
		return withHint(err, "open %s in a browser", path)
	}
	return nil
}

// print writes the page to standard output.
func (o *viewOptions) print(a *app, pages [][]byte) error {
	if len(pages) > 1 || o.open || a.json {
		return usagef("-o - is for one page, which is not opened: -o FILE says where %d go",
			len(pages))
	}
	_, err := a.out.Write(pages[0])
	return err
}

// startServer runs the program that serves pages in the place of this one.
func (o *viewOptions) startServer(a *app, s *session.Store, view *refs.View) error {
	switch {
	case !o.serve:
		return usagef("--port goes with --serve")
	case o.file != "" || a.json:
		return usagef("--serve writes no file and no JSON: it prints the address of the page")
	case o.port < 0 || o.port > 65535:
		return usagef("bad --port: %d is not a port: 1 to 65535, or 0 for a free one", o.port)
	}
	args := []string{"-port", strconv.Itoa(o.port)}
	for _, set := range a.overrides {
		args = append(args, "-c", set)
	}
	switch {
	case o.cmd.Flags().Changed("session"):
		session, branch, _, err := o.tip(s, view)
		if err != nil {
			return err
		}
		args = append(args, "-s", session, "-b", branch)
	case o.cmd.Flags().Changed("branch"):
		return usagef("--branch goes with --session")
	}
	if o.open {
		args = append(args, "-open")
	}
	path, err := a.pageMaker()
	if err != nil {
		return err
	}
	code, err := a.runExternal(external{name: viewServer, path: path, args: args})
	if err != nil {
		return err
	}
	return exitWith(code)
}

// sessionPages returns the pages of a session, and the path of the first.
func (o *viewOptions) sessionPages(
	a *app, s *session.Store, view *refs.View, cache, path string,
) ([][]byte, string, error) {
	session, branch, tip, err := o.tip(s, view)
	if err != nil {
		return nil, "", err
	}
	if o.file == "" {
		path = filepath.Join(cache, viewer.FileName(session, branch))
	}
	doc, err := viewer.Read(a.c, s, view, viewer.Branch{Session: session, Branch: branch, Tip: tip},
		true)
	if err != nil {
		return nil, "", err
	}
	answer, err := a.makePages(
		viewer.Ask{Session: doc, Most: viewer.MostBytes, First: filepath.Base(path)})
	if err == nil && !answer.Embedded {
		a.say("ctx: view: %s: %s without the entries: `ctx export --format html` writes "+
			"one page with them",
			oneLine(session), plural(len(answer.Pages), "page", "pages"))
	}
	return answer.Pages, path, err
}

// projectPage returns the page of the project, and its path.
func (o *viewOptions) projectPage(
	a *app, s *session.Store, view *refs.View, cache, path string,
) ([][]byte, string, error) {
	if o.cmd.Flags().Changed("branch") {
		return nil, "", usagef("--branch goes with --session")
	}
	doc, err := viewer.ReadProject(a.c, s, view, func(name string) string {
		page := viewer.FileName(name, history.MainBranch)
		if _, err := os.Stat(filepath.Join(cache, page)); err != nil || o.file != "" {
			return ""
		}
		return page
	})
	if err != nil {
		return nil, "", err
	}
	if o.file == "" {
		path = filepath.Join(cache, "index.html")
	}
	answer, err := a.makePages(viewer.Ask{Project: doc})
	return answer.Pages, path, err
}
