package machine

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// patience is how long a program may take to end by itself after an interrupt: to let go of the
// lock, to remove its temporary files, to end its helpers. After that the process ends, wherever it
// waits: a store holds after a kill at any moment.
const patience = 700 * time.Millisecond

// Interrupts returns a context that ends with the first SIGINT or SIGTERM, and watch, which begins
// to look for these signals. From then on the process ends within a second of the first one, and at
// once with the second one. Where the program does not end by itself, it says that it was
// interrupted, by its name, and ends with code. Only the first call of watch counts.
//
// Before that a signal ends the process at once: there is nothing to tidy up, and commands that
// need no store start sooner. SIGPIPE is left alone: it ends the process quietly when nobody reads
// any more.
func Interrupts(name string) (c context.Context, watch func(code int)) {
	c, cancel := context.WithCancel(context.Background())
	var once sync.Once
	return c, func(code int) {
		once.Do(func() {
			got := make(chan os.Signal, 1)
			signal.Notify(got, os.Interrupt, syscall.SIGTERM)
			go func() {
				<-got
				signal.Stop(got)
				cancel()
				<-time.After(patience)
				cutOff(name, code)
			}()
		})
	}
}

// cutOff ends the process. Nobody may be reading its standard error.
func cutOff(name string, code int) {
	told := make(chan struct{})
	go func() {
		fmt.Fprintf(os.Stderr, "%s: interrupted\n", name)
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(patience / 10):
	}
	os.Exit(code)
}
