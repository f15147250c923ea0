package session

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Each of the names is checked, whether or not those before it are given: a name with a slash would
// be another scope.
func TestStateNamesAreChecked(t *testing.T) {
	s := create(t)
	bad := strings.Repeat("x", format.MaxName+1)
	for _, n := range []StateNames{{Session: bad}, {App: bad}, {App: "shop", User: bad}, {User: "ada"}, {App: "shop/ada"}, {App: "shop", User: "a/b"}, {}} {
		if list, err := s.State(must[*refs.View](t)(s.Refs.Read()), n); !errors.Is(err, ErrInput) {
			t.Errorf("%.20s, %.20s, %.20s: read as %v, %v", n.Session, n.App, n.User, list, err)
		}
		if _, err := s.SetState(context.Background(), n, []StateChange{set("app:a", "1")}); !errors.Is(err, ErrInput) {
			t.Errorf("%.20s, %.20s, %.20s: %v", n.Session, n.App, n.User, err)
		}
	}
}
