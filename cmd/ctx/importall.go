package main

import (
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
)

// importAll imports every transcript of the project that is on this machine, or of those of its
// directories that paths names. A directory elsewhere is the project, too.
func importAll(a *app, paths []string, dryRun bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	noted, err := notedPaths(s)
	if err != nil {
		return err
	}
	for i := range paths {
		paths[i] = filepath.Clean(a.path(paths[i]))
	}
	look, p := a.lookFor(s, noted, paths)
	list, outside, looked := a.pick(s, look, &p)
	if len(list) == 0 {
		in := append(p.Asked, p.Dir)[0]
		return withHint(notFound("a transcript of this project: %q", in), "looked in %s", looked)
	}
	if dryRun {
		for _, f := range list {
			if err := a.result(fields("agent", f.agent, "file", f.file), "%s %s", f.agent,
				oneLine(f.file)); err != nil {
				return err
			}
		}
		return nil
	}
	inOrderOfTime(list)
	agents, listed := map[string]string{}, map[string]*catalog.Listed{}
	var files []string
	for _, f := range list {
		agents[f.file], listed[f.file] = f.agent, f.listed
		files = append(files, f.file)
	}
	agent := func(file string) *catalog.Agent {
		f, _ := catalog.Named(agents[file])
		return &f
	}
	l := &linker{newest: true, ahead: readAhead{files: files, agent: agent, listed: listed}}
	paths = slices.Concat([]string{p.Dir}, outside, look.Trees())
	if err := a.notePaths(s, noted, paths); err != nil {
		return err
	}
	return importFiles(a, files, l.importNext(a), l)
}
