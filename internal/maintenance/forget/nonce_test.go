package forget_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A nonce that ends in "t", before "here …", does not hold "there …".
func TestForgetBesideANonce(t *testing.T) {
	s := kit.Create(t)
	texts := make([]string, 2000)
	for n := range texts {
		texts[n] = fmt.Sprintf("here we say number %d of them", n)
	}
	met := 0
	for i, done := range kit.Say(t, s, "talk", texts...) {
		raw := storetest.Must[format.Raw](t)(s.Objects.Get(done.ID))
		if raw.Body[format.NonceLen-1] != 't' {
			continue
		}
		if met++; met == 1 {
			got, err := forget.Run(context.Background(), s.Opened,
				forget.Options{Text: "t" + texts[i]})
			if err != nil || len(got.Objects)+len(got.Remains) != 0 {
				t.Errorf("forgot %v, remains %q, %v", got.Objects, got.Remains, err)
			}
		}
	}
	if met == 0 {
		t.Error("no nonce ends as wanted")
	}
}
