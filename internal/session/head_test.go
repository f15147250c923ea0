package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestFollowPersonBesideAnother has another process record what a person says, and HEAD follow
// there, while this one still looks where a person spoke last.
func TestFollowPersonBesideAnother(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "old", "user", "hello")
	before := storetest.View(t, s)
	storetest.Say(t, s, "one", "user", "what is the pump called?")

	now := s.Now
	beside := true
	s.Recall.Now = func() time.Time {
		if beside {
			beside = false
			storetest.Say(t, s, "two", "user", "and the valve?")
			if err := s.FollowPerson(context.Background(), before); err != nil {
				t.Fatal(err)
			}
		}
		return now()
	}
	if err := s.FollowPerson(context.Background(), before); err != nil {
		t.Fatal(err)
	}
	if head := storetest.View(t, s).Get("HEAD").Name; head != "two" {
		t.Errorf("HEAD is %q, and the person spoke last in %q", head, "two")
	}
}
