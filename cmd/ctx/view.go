package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/history"
	viewer "github.com/gemini-ctx/ctx/internal/page"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

type viewOptions struct {
	branchFlags
	file string
	open bool
}

func newViewCmd(a *app) *cobra.Command {
	o := &viewOptions{}
	cmd := &cobra.Command{
		Use:   "view [-s SESSION] [--open]",
		Short: "Write a page to look at a session or the project",
		Long: long(`Writes a page of HTML and prints its path. With -s it shows a session: the conversation, the forest, and a time
line. Each sentence of a summary opens its sources. Without -s it shows the project: its sessions, where their work
stands, and the files that were touched.

A page is one file that loads nothing. It can be read without JavaScript, and is better with it. What the rules of this
version find in a text is left out, and counted at the end of the page. The page is written into the cache of the store,
where the next one of the same session replaces it, or into the file that -o names. A session of more than 5 MiB
becomes several pages. docs/viewing.md tells more.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx view --open\n  ctx view -s work --open\n  ctx view -s work -o work.html",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.add(a, cmd)
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write into `FILE`; an old file is replaced when the new one is complete")
	cmd.Flags().BoolVar(&o.open, "open", false, "open the page with the program of this system for it")
	return cmd
}

func (o *viewOptions) run(a *app) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	path := a.path(o.file)
	cache := filepath.Join(s.Dir, "cache", "view")
	if o.file == "" {
		if err := os.MkdirAll(cache, 0o700); err != nil {
			return err
		}
	}
	var pages [][]byte
	if o.cmd.Flags().Changed("session") {
		pages, path, err = o.sessionPages(a, s, view, cache, path)
	} else {
		pages, path, err = o.projectPage(a, s, view, cache, path)
	}
	if err != nil {
		return err
	}
	total := 0
	for n, p := range slices.Backward(pages) {
		total += len(p)
		err := writeWhole(s.FS, filepath.Join(filepath.Dir(path), nthPage(filepath.Base(path), n)), func(w io.Writer) error {
			_, err := w.Write(p)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := a.pathResult(fields("path", path, "pages", len(pages), "bytes", total), path); err != nil || !o.open {
		return err
	}
	return openPath(a, path)
}

// viewBytes is the most bytes of a page of a session. A browser on a small machine has one of this
// size ready in a second: 16 MB, with 50,000 messages, took it more than four.
const viewBytes = 5 << 20

// sessionPages returns the pages of a session, and the path of the first.
func (o *viewOptions) sessionPages(a *app, s *session.Store, view *refs.View, cache, path string) ([][]byte, string, error) {
	session, branch, tip, err := o.tip(view)
	if err != nil {
		return nil, "", err
	}
	if o.file == "" {
		path = filepath.Join(cache, pageFile(session, branch))
	}
	doc, err := viewer.Read(a.c, s, view, viewer.Branch{Session: session, Branch: branch, Tip: tip}, true)
	if err != nil {
		return nil, "", err
	}
	name := func(n int) string { return nthPage(filepath.Base(path), n) }
	pages, _ := doc.Pages(0, name)
	if len(pages[0]) > viewBytes {
		var embedded bool
		if pages, embedded = doc.Pages(viewBytes, name); !embedded {
			a.say("ctx: view: %s: %s without the entries: `ctx export --format html` writes one page with them",
				oneLine(session), plural(len(pages), "page", "pages"))
		}
	}
	return pages, path, nil
}

// projectPage returns the page of the project, and its path.
func (o *viewOptions) projectPage(a *app, s *session.Store, view *refs.View, cache, path string) ([][]byte, string, error) {
	if o.cmd.Flags().Changed("branch") {
		return nil, "", usagef("--branch goes with --session")
	}
	doc, err := viewer.Project(a.c, s, view, func(name string) string {
		page := pageFile(name, history.MainBranch)
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
	return [][]byte{doc.Page()}, path, nil
}

// pageFile returns the name of the file of a session's page. Names that no file system takes get
// another one.
func pageFile(session, branch string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, session)
	if name != session || branch != history.MainBranch || len(name) > 100 || strings.HasPrefix(name, ".") {
		sum := sha256.Sum256([]byte(session + "/" + branch))
		name = fmt.Sprintf("%.40s-%x", name, sum[:6])
	}
	return "s-" + name + ".html"
}

// openPath starts the program that this system opens a file with. It does not wait for what the
// user does there.
func openPath(a *app, path string) error {
	var c *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		c = exec.CommandContext(a.c, "rundll32", "url.dll,FileProtocolHandler", path)
	case "darwin":
		c = exec.CommandContext(a.c, "open", path)
	default:
		c = exec.CommandContext(a.c, "xdg-open", path)
	}
	if out, err := c.CombinedOutput(); err != nil {
		return withHint(fmt.Errorf("cannot open the page: %w: %s", err, oneLine(string(out))), "open %s in a browser", path)
	}
	return nil
}
