package lock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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
		_, ok, err := wait(context.Background(), time.Hour, func() (bool, error) {
			calls++
			return tt.say[calls-1] == nil, tt.say[calls-1]
		}, nobody)
		if !errors.Is(err, tt.want) || ok != (tt.want == nil) || calls != len(tt.say) {
			t.Errorf("%v: %t, %v after %d calls", tt.say, ok, err, calls)
		}
	}
}

// With a time-out of zero the lock is asked for once, and a lock that another process holds is not
// taken.
func TestWaitOnce(t *testing.T) {
	calls := 0
	_, ok, err := wait(context.Background(), 0,
		func() (bool, error) { calls++; return false, nil }, nobody)
	if ok || err != nil || calls != 1 {
		t.Errorf("%t, %v after %d calls", ok, err, calls)
	}
}

func nobody() string { return "" }

// Where others take turns, a waiter stays until it has its own, however short its time-out. Where
// one holder keeps the lock, it gives up after one time-out.
func TestWaitForATurn(t *testing.T) {
	for _, tt := range []struct {
		holders, kept int // holders, of which the last keeps the lock for so many looks
		ok            bool
	}{
		{holders: 50, ok: true},
		{holders: 1, kept: 2},
		{holders: 7, kept: 2},
	} {
		looks, over := 0, tt.holders+tt.kept
		waited, ok, err := wait(context.Background(), time.Nanosecond,
			func() (bool, error) { return tt.kept == 0 && looks == over, nil },
			func() string { looks++; return strconv.Itoa(min(looks, tt.holders)) })
		if err != nil || ok != tt.ok || waited != time.Duration(tt.holders) {
			t.Errorf("%d holders: %t, %v, after %d time-outs and %d looks", tt.holders, ok, err,
				waited, looks)
		}
	}
}
