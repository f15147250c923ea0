package lock

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// A signal that interrupts the call for the lock is no error: the call is made again. Any other
// error ends the wait.
func TestWaitGoesOnAfterASignal(t *testing.T) {
	interrupted := fmt.Errorf("flock: %w", syscall.EINTR)
	refused := errors.New("no locks available")
	for _, tt := range []struct {
		say  []error // what each call says; nil is a lock that is taken
		want error
	}{
		{[]error{interrupted, interrupted, nil}, nil},
		{[]error{interrupted, refused}, refused},
	} {
		calls := 0
		ok, err := wait(context.Background(), time.Hour, func() (bool, error) {
			calls++
			return tt.say[calls-1] == nil, tt.say[calls-1]
		})
		if !errors.Is(err, tt.want) || ok != (tt.want == nil) || calls != len(tt.say) {
			t.Errorf("%v: %t, %v after %d calls", tt.say, ok, err, calls)
		}
	}
}

// With a time-out of zero the lock is asked for once, and a lock that another process holds is not
// taken.
func TestWaitOnce(t *testing.T) {
	calls := 0
	ok, err := wait(context.Background(), 0, func() (bool, error) { calls++; return false, nil })
	if ok || err != nil || calls != 1 {
		t.Errorf("%t, %v after %d calls", ok, err, calls)
	}
}
