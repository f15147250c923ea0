package helper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

// group serves a remote that has members.
func group() Program {
	return Program{Name: "ctx-remote-play", Features: []string{FeatureMembers},
		Open: func(context.Context, string) (remote.Remote, error) { return &grouped{}, nil }}
}

// grouped repeats what it is told of members, and where its cache is. To remove them is to tamper.
type grouped struct{ remotetest.Memory }

func (g *grouped) Members(_ context.Context, change remote.MemberChange) (remote.Group, error) {
	if change.Do == remote.RemoveMembers {
		return remote.Group{}, fmt.Errorf("%w: the keys", remote.ErrTampered)
	}
	return remote.Group{ID: os.Getenv(CacheVariable), Round: 7, Self: change.Self,
		Members: change.Members, Classic: true, Began: true}, nil
}

func TestMembers(t *testing.T) {
	cache := t.TempDir()
	r, err := Open(t.Context(),
		Config{URL: "play+dir:/x", Beside: players(t, "members"), Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g, ok := r.(remote.Grouper)
	if !ok {
		t.Fatalf("%T has no members", r)
	}
	members := []remote.Member{{Name: "ann", Recipient: "age1" + strings.Repeat("q", 100_000)},
		{Name: "bob", Recipient: "ssh-rsa A+/= "}}
	of, err := g.Members(t.Context(),
		remote.MemberChange{Do: remote.AddMembers, Members: members, Self: "ann"})
	want := remote.Group{ID: cache, Round: 7, Self: "ann", Members: members,
		Classic: true, Began: true}
	if err != nil || fmt.Sprint(of) != fmt.Sprint(want) {
		t.Errorf("got %.200v, error %v", of, err)
	}
	if _, err := g.Members(t.Context(),
		remote.MemberChange{Do: remote.RemoveMembers}); !errors.Is(err, remote.ErrTampered) ||
		!strings.HasSuffix(err.Error(), ": the keys") {
		t.Errorf("got error %v", err)
	}
	if _, ok := playing(t).(remote.Grouper); ok {
		t.Error("a helper without the feature has members")
	}
}
