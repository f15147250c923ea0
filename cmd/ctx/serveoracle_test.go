package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// served is a command that a test asks for: command of internal/faults/oracle describes the fields.
type served struct {
	Dir, Home string
	Args      []string
	Env       map[string]string
	Stdin     string
	Now       time.Time
	Seed      uint64
	Stop      int
	Keep      int
	Look      bool
	At        int
	Beside    []served
}

// answer is what became of a command.
type answer struct {
	Code, Steps int
	Out, Err    string
	Beside      []answer
	Logs        map[string]string
}

// blocked is how long the others that run beside a command do nothing before it goes on: they wait
// for a lock of it then, and end after it.
const blocked = 30 * time.Millisecond

// init makes the program one that runs the commands of its standard input in itself, one after the
// other. Its clock and its random bytes are those of the test, and it can be stopped at a step.
func init() {
	if len(os.Args) != 2 || os.Args[1] != "serve-oracle" {
		return
	}
	debug.SetGCPercent(earlyGarbage)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var s served
		if in.Decode(&s) != nil {
			os.Exit(0)
		}
		if out.Encode(s.run(&atomic.Int64{})) != nil {
			os.Exit(1)
		}
	}
}

// run runs the command. steps counts its steps.
func (s *served) run(steps *atomic.Int64) (r answer) {
	var out, errs bytes.Buffer
	fsys := &durable.FS{}
	defer func() {
		if failed := recover(); failed != nil {
			r.Code = -2
			fmt.Fprintf(&errs, "panic: %v\n%s", failed, debug.Stack())
		}
		if fsys.Stopped() {
			r.Code = -1
		}
		r.Out, r.Err = out.String(), errs.String()
	}()
	beside := make(chan []answer, 1)
	var others atomic.Int64
	begin := sync.OnceFunc(func() {
		go func() {
			var list []answer
			for _, other := range s.Beside {
				list = append(list, other.run(&others))
			}
			beside <- list
		}()
	})
	fsys.Hook = func(c durable.Call) error {
		r.Steps = c.N
		steps.Add(1)
		if len(s.Beside) > 0 && c.N == s.At {
			begin()
			for done := int64(-1); others.Load() != done; {
				done = others.Load()
				select {
				case list := <-beside:
					beside <- list
				case <-time.After(blocked):
				}
			}
		}
		if c.N == s.Stop {
			return &durable.Torn{Keep: len(c.Data) * s.Keep / 4}
		}
		return nil
	}
	r.Code = s.as(fsys, &out, &errs)
	begin()
	r.Beside = <-beside
	if s.Look {
		r.Logs = s.look()
	}
	return r
}

// look returns the sessions of the store, with the log of those that are its own.
func (s *served) look() map[string]string {
	read := func(args ...string) string {
		var out, errs bytes.Buffer
		other := *s
		other.Args = args
		if code := other.as(nil, &out, &errs); code != 0 {
			return errs.String()
		}
		return out.String()
	}
	logs := map[string]string{}
	for line := range strings.Lines(read("session", "list", "--json")) {
		var one struct{ Session string }
		if json.Unmarshal([]byte(line), &one) != nil {
			return map[string]string{line: line}
		}
		logs[one.Session] = ""
		if !strings.Contains(one.Session, "@") {
			logs[one.Session] = read("log", "-s", one.Session, "--json")
		}
	}
	return logs
}

// as runs the command with a file system.
func (s *served) as(fsys *durable.FS, out, errs *bytes.Buffer) int {
	return run(context.Background(), world{
		stdin: strings.NewReader(s.Stdin), stdout: out, stderr: errs,
		dir: s.Dir, home: s.Home, userConf: filepath.Join(s.Home, "config.toml"),
		userData: filepath.Join(s.Home, "data"), host: "host", pid: 1,
		getenv: func(name string) string { return s.Env[name] },
		now:    func() time.Time { return s.Now },
		random: rand.NewChaCha8([32]byte{byte(s.Seed), byte(s.Seed >> 8), byte(s.Seed >> 16),
			byte(s.Seed >> 24), byte(s.Seed >> 32)}),
		fs: fsys,
	}, s.Args)
}
