package objects

import "runtime"

// turns calls work for several numbers at a time, each in a goroutine of its own, and take with the
// results in the order in which the work was begun. The zero value is not ready; see newTurns.
type turns[T any] struct {
	take  func(T) error
	under []chan T // way, the oldest first
	most  int
	err   error // the first of take, after which nothing is taken
}

func newTurns[T any](take func(T) error) *turns[T] {
	return &turns[T]{take: take, most: runtime.GOMAXPROCS(0)}
}

// begin begins a piece of work, and first takes the oldest result if enough are under way. It
// returns the first error of take; then the work is not begun.
func (t *turns[T]) begin(work func() T) error {
	for len(t.under) >= t.most {
		t.takeOldest()
	}
	if t.err != nil {
		return t.err
	}
	done := make(chan T, 1)
	t.under = append(t.under, done)
	go func() { done <- work() }()
	return nil
}

// alone is begin for work that takes much memory: it is done while nothing else is under way or
// waits to be taken, and its result is taken at once.
func (t *turns[T]) alone(work func() T) error {
	if t.end() == nil && t.begin(work) == nil {
		return t.end()
	}
	return t.err
}

func (t *turns[T]) takeOldest() {
	result := <-t.under[0]
	if t.under = t.under[1:]; t.err == nil {
		t.err = t.take(result)
	}
}

// end waits for all that was begun, and takes it. It returns the first error of take. It must be
// called in any case: nothing of the work goes on afterwards.
func (t *turns[T]) end() error {
	for len(t.under) > 0 {
		t.takeOldest()
	}
	return t.err
}
