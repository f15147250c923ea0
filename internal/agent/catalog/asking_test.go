package catalog

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestAsker asks programs that answer, fail and hang, in turns.
func TestAsker(t *testing.T) {
	asked := 0
	answer := error(nil)
	hangs, fails := errors.New("hangs"), os.ErrPermission
	export := func(ctx context.Context, _ string, _ Listed) (*os.File, func(), error) {
		asked++
		if errors.Is(answer, hangs) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}
		return nil, nil, answer
	}
	for name, c := range map[string]struct {
		answers []error
		asked   int
		last    string // what the last error says; "" for none
	}{
		"answers":         {[]error{nil, nil, nil}, 3, ""},
		"fails":           {[]error{fails, fails, fails}, 3, "permission"},
		"hangs":           {[]error{hangs}, 1, "opencode did not answer within 1ms"},
		"hangs on":        {[]error{hangs, hangs, nil}, 2, "not asked any more"},
		"hangs at times":  {[]error{hangs, nil, hangs, nil}, 4, ""},
		"hangs and fails": {[]error{hangs, fails, hangs, nil}, 4, ""},
	} {
		q := &Asker{Limit: time.Millisecond}
		of := &Agent{Program: "opencode", Database: &Database{Export: export}}
		asked = 0
		var err error
		for _, answer = range c.answers {
			_, _, err = q.Export(t.Context(), of, "", Listed{})
		}
		if asked != c.asked || (err == nil) != (c.last == "") ||
			err != nil && !strings.Contains(err.Error(), c.last) {
			t.Errorf("%s: asked %d times; %v", name, asked, err)
		}
	}
}
