package main

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
)

// importAll imports every transcript of the project that is on this machine. paths are directories
// that are the project, too.
func importAll(a *app, paths []string, dryRun bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	noted, err := notedPaths(s)
	if err != nil {
		return err
	}
	own := catalog.NewProject(a.projectDir(s))
	for i := range paths {
		paths[i] = filepath.Clean(a.path(paths[i]))
	}
	p := a.findPlaces(own, noted, paths)
	list, notes, looked := a.findTranscripts(p)
	more, problems := a.findInDatabases(s, p)
	list, notes = append(list, more...), append(notes, problems...)
	for _, note := range notes {
		a.say("ctx: import: %s", note)
	}
	if len(list) == 0 {
		return withHint(notFound("a transcript of this project: %q", p[0]), "looked in %s", looked)
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
	if err := a.notePaths(s, noted, append(own[:1:1], paths...)); err != nil {
		return err
	}
	return importFiles(a, files, l.importNext(a), l)
}
