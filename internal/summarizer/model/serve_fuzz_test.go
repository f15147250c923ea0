package model

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// FuzzServe checks that each line of a helper's output is a document, that the first one is the
// capability, and that there are no more answers than requests.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}\n",
		`{"v":1,"claim":"a","tokens":10,"timeout_ms":5}` + "\n",
		`{"v":1,"claim":"a"}` + "\n" + `{"v":1,"claim":"b","tokens":-1}`, "{\n", `{"v":9}`,
		"\xff\n", `{"v":1,"tokens":1e400}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		asked := 0
		_ = Serve(context.Background(), bytes.NewReader(in), &out,
			summarizer.Capability{Name: "x", Version: "1", MaxInputTokens: 100000},
			func(context.Context, summarizer.WireRequest) (Reply, error) {
				asked++
				return Reply{Text: "said"}, nil
			})
		lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
		if len(lines) != asked+1 || asked > bytes.Count(in, []byte("\n"))+1 {
			t.Errorf("%d lines, %d asked", len(lines), asked)
		}
		for _, line := range lines {
			if !json.Valid(line) {
				t.Errorf("not JSON: %q", line)
			}
		}
	})
}
