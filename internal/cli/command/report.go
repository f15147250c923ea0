package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Failed is how a run ended in an error.
type FailedWith struct {
	Err     error
	Running bool   // the command line was understood; an error before that is a usage error
	JSON    bool   // the reader is a program
	Hint    string // for a usage error without a hint of its own
}

// Report writes the error to w, as text or as a JSON document, and returns the exit code. A run
// whose context c ended was interrupted. Nothing is written where the reader of the output has
// gone.
func (f FailedWith) Report(c context.Context, w io.Writer) int {
	err := f.Err
	switch {
	case errors.Is(err, syscall.EPIPE):
		return Failed
	case c.Err() != nil && errors.Is(err, c.Err()):
		err = context.Canceled
	}
	p := Explain(err)
	if !f.Running && p.Code == Failed {
		p.Code, p.Kind = Usage, "usage"
	}
	if p.Code == Usage && p.Hint == "" {
		p.Hint = f.Hint
	}
	if !f.JSON {
		fmt.Fprintln(w, p.Text())
		return p.Code
	}
	b, _ := json.Marshal(struct { // strings and a number: cannot fail
		V     int     `json:"v"`
		Error Problem `json:"error"`
	}{1, p})
	fmt.Fprintf(w, "%s\n", b)
	return p.Code
}
