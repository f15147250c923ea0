package environ

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// patience is how long a program may take to end after an interrupt: to release the lock, remove
// its temporary files and end its helpers. After that the process ends, whatever it does. A store
// survives a kill at any moment.
const patience = 700 * time.Millisecond

// Interrupts returns a context that ends with the first SIGINT or SIGTERM, and watch, which starts
// to catch these signals. From then on the process ends within a second of the first signal, and at
// once with the second one. If the program does not end by itself, a message with its name is
// printed and it ends with code. Only the first call of watch counts.
//
// Before watch is called, a signal ends the process at once. SIGPIPE is not caught: it ends the
// process when nobody reads its output.
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

// cutOff ends the process. It does not wait for a reader of standard error.
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
