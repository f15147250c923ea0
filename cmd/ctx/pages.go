package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/durable"
	viewer "github.com/gemini-ctx/ctx/internal/page"
)

// viewServer is the program that makes and serves pages, without the prefix of programs.
const viewServer = "view-serve"

// pageMaker finds the program that makes and serves pages.
func (a *app) pageMaker() (string, error) {
	path := a.findProgram(a.dir, viewServer)
	if path == "" {
		return "", notInstalled(fmt.Errorf("%s is not there", viewer.Program), viewServer)
	}
	return path, nil
}

// makePages returns pages of HTML.
func (a *app) makePages(ask viewer.Ask) (answer viewer.Answer, err error) {
	path, err := a.pageMaker()
	if err != nil {
		return answer, err
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return answer, err
	}
	var said child.Tail
	cmd := exec.CommandContext(a.c, path, "-pages")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &said
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err == nil && len(answer.Pages) == 0 {
		err = errors.New("it made no page")
	}
	if err != nil {
		err = fmt.Errorf("cannot make pages: %s: %w%s", viewer.Program, err, said.Said())
	}
	return answer, cmp.Or(a.c.Err(), err)
}

// writePages writes pages into files beside the first, whose path is given: the last one first, and
// none of those before from.
func writePages(fsys *durable.FS, path string, pages [][]byte, from int) error {
	for n := len(pages) - 1; n >= from; n-- {
		err := writeWhole(fsys,
			filepath.Join(filepath.Dir(path), viewer.NthName(filepath.Base(path), n)),
			func(w io.Writer) error {
				_, err := w.Write(pages[n])
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}
