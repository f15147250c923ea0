package sessions_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// D2, D3: a header holds no free text, and a short secret's digest depends on the store's key.
func TestD2D3DigestsTellNothing(t *testing.T) {
	digests := map[string]bool{}
	for i := range 2 {
		e := storetest.Env(durabletest.TempDir(t), nil)
		e.Random = bytes.NewReader(bytes.Repeat([]byte{byte(i + 1)}, 1000))
		s := storetest.Init(t, e)
		id := storetest.Say(t, s, "talk", "user", "4711")
		header := storetest.Must[[]byte](t)(s.Objects.Header(id))
		if bytes.Contains(header, []byte("4711")) {
			t.Error("the text is in the header")
		}
		shown := storetest.Must[*history.Shown](t)(s.History.Entry(id))
		digests[fmt.Sprintf("%x", shown.Entry.Body.Digest)] = true
	}
	if len(digests) != 2 {
		t.Error("two stores give a short text the same digest")
	}
}
