package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// front stands between standard input and output and the server. It answers a line that is no
// message with a JSON-RPC error, since such a line would end the server. It delays the end of the
// input until every request is answered.
type front struct {
	in  *bufio.Reader
	out io.Writer

	mu      sync.Mutex // of what follows, and of writing to out
	open    map[jsonrpc.ID]bool
	changed chan struct{} // has a value when a request has left open
}

func newFront(in io.Reader, out io.Writer) *front {
	return &front{
		in: bufio.NewReaderSize(in, 64<<10), out: out, open: map[jsonrpc.ID]bool{},
		changed: make(chan struct{}, 1),
	}
}

// reader returns the input of the server: one message on each line. It ends after the input has
// ended, or when c does.
func (f *front) reader(c context.Context) io.ReadCloser {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(f.pump(c, w)) }() // never an error
	return r
}

// pump passes messages on until the input ends and all requests are answered.
func (f *front) pump(c context.Context, to io.Writer) error {
	for {
		line, err := f.next()
		if len(bytes.TrimSpace(line)) > 0 {
			if handed := f.hand(line, to); handed != nil {
				return handed
			}
		}
		switch {
		case errors.Is(err, errLong):
			f.refuse(jsonrpc.CodeInvalidRequest,
				fmt.Sprintf("a message has at most %d bytes", maxFrame))
		case errors.Is(err, io.EOF):
			return f.settle(c)
		case err != nil:
			return err
		}
	}
}

var errLong = errors.New("line is too long")

// next returns a line with its end. io.EOF comes with the last line. A line of more than maxFrame
// bytes is skipped, and the error is errLong.
func (f *front) next() (line []byte, err error) {
	long := false
	for {
		part, err := f.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxFrame; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long:
			return nil, errLong // an end of the input is found again
		default:
			return line, err
		}
	}
}

// hand passes one message to the server, or answers it.
func (f *front) hand(line []byte, to io.Writer) error {
	if !json.Valid(line) {
		f.refuse(jsonrpc.CodeParseError, "not JSON: a message is a line of JSON")
		return nil
	}
	if bytes.TrimSpace(line)[0] == '[' {
		f.refuse(jsonrpc.CodeInvalidRequest,
			"batches are not taken: a message is a line of its own")
		return nil
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		err = checkID(line)
	}
	if err != nil {
		f.refuse(jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0: "+err.Error())
		return nil
	}
	if request, ok := m.(*jsonrpc.Request); ok {
		f.begin(request)
	}
	_, err = to.Write(append(bytes.TrimSpace(line), '\n'))
	return err
}

// checkID refuses an id that is neither a text nor a whole number, since the server could not
// return it unchanged.
func checkID(line []byte) error {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	if id := bytes.TrimSpace(m.ID); len(id) > 0 && id[0] != '"' && bytes.ContainsAny(id, ".eE") {
		return fmt.Errorf("id %.40s is no whole number", id)
	}
	return nil
}

// begin records a request that needs an answer, or the cancellation of one.
func (f *front) begin(r *jsonrpc.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.IsCall() {
		f.open[r.ID] = true
		return
	}
	var cancelled struct {
		ID any `json:"requestId"`
	}
	if r.Method == "notifications/cancelled" && json.Unmarshal(r.Params, &cancelled) == nil {
		if id, err := jsonrpc.MakeID(cancelled.ID); err == nil {
			f.end(id) // it gets no answer
		}
	}
}

// end records that a request is answered. The caller holds f.mu.
func (f *front) end(id jsonrpc.ID) {
	delete(f.open, id)
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// settle waits until no request is open, or c is done, and returns io.EOF.
func (f *front) settle(c context.Context) error {
	for {
		f.mu.Lock()
		left := len(f.open)
		f.mu.Unlock()
		if left == 0 {
			return io.EOF
		}
		select {
		case <-f.changed:
		case <-c.Done():
			return io.EOF
		}
	}
}

// Write implements io.Writer for the server, which writes one message in each call.
func (f *front) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.out.Write(p)
	if m, bad := jsonrpc.DecodeMessage(p); bad == nil {
		if response, ok := m.(*jsonrpc.Response); ok {
			f.end(response.ID)
		}
	}
	return n, err
}

// Close implements io.Closer. It leaves standard output open.
func (f *front) Close() error { return nil }

// refuse answers a message whose id could not be read.
func (f *front) refuse(code int64, why string) {
	b, _ := json.Marshal(map[string]any{ // numbers and a text
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why},
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = f.out.Write(append(b, '\n')) // who does not read shows when the server writes
}
