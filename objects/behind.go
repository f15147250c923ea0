package objects

import (
	"errors"

	"github.com/gemini-ctx/ctx/format"
)

// errRefused ends a walk after a check that failed.
var errRefused = errors.New("refused")

// behind calls a check for objects while others are still read. Both take about as long.
type behind struct {
	batch   []checkedObject
	batches chan []checkedObject
	failed  chan struct{} // closed once err is set
	done    chan struct{}
	err     error
}

type checkedObject struct {
	id  format.ID
	raw format.Raw
}

// checkedBatch is how many objects go over at once.
const checkedBatch = 256

// checkBehind begins to call check, from one goroutine, for what add is given.
func checkBehind(check func(format.ID, format.Raw) error) *behind {
	b := &behind{batches: make(chan []checkedObject, 4), failed: make(chan struct{}),
		done: make(chan struct{})}
	go func() {
		defer close(b.done)
		for batch := range b.batches {
			for _, o := range batch {
				if b.err != nil {
					break
				}
				if b.err = check(o.id, o.raw); b.err != nil {
					close(b.failed)
				}
			}
		}
	}()
	return b
}

// add has an object checked. It reports whether all checks so far were passed, as far as is known.
func (b *behind) add(id format.ID, raw format.Raw) bool {
	if b.batch = append(b.batch, checkedObject{id, raw}); len(b.batch) == checkedBatch {
		b.batches <- b.batch
		b.batch = make([]checkedObject, 0, checkedBatch)
	}
	select {
	case <-b.failed:
		return false
	default:
		return true
	}
}

// wait returns the error of the first check that failed, once all were made.
func (b *behind) wait() error {
	b.batches <- b.batch
	close(b.batches)
	<-b.done
	return b.err
}
