package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// slowSyncs is put before a command to have each of its syncs take 5 ms longer. It slows the
// process down as well.
const slowSyncs = "strace -f -qq -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_exit=5000"

// slow measures appends, hooks and an import on a disk that syncs slowly, beside the same of
// another build of ctx.
func (b *bench) slow() error {
	if b.before == "" || !b.has("strace") {
		return nil
	}
	before, err := filepath.Abs(b.before)
	if err != nil {
		return err
	}
	builds := []string{b.ctx, before}
	for _, g := range []struct {
		what   string
		rounds int
		make   func(ctx string) (func(i int) (took, error), error)
	}{
		{"append", max(b.rounds/2, 1), b.slowAppend},
		{"hook at the end of a turn", max(b.rounds/2, 1), b.slowHook},
		{"import of the transcripts", 3, b.slowImport},
	} {
		var contenders []func(int) (took, error)
		for _, ctx := range builds {
			do, err := g.make(ctx)
			if err != nil {
				return err
			}
			if do != nil {
				contenders = append(contenders, do)
			}
		}
		if len(contenders) == 0 {
			continue
		}
		m, err := b.median(g.rounds, contenders...)
		if err != nil {
			return err
		}
		b.beside(g.what+", syncs 5 ms longer, another build", m...)
	}
	return nil
}

// slowly runs a build of ctx on the slow disk.
func (b *bench) slowly(dir, in, ctx string, args ...string) (took, error) {
	all := append(strings.Fields(slowSyncs), ctx)
	all = append(all, args...)
	return b.run(dir, strings.NewReader(in), all[0], all[1:]...)
}

// initBy makes a project with a store that another build of ctx has made.
func (b *bench) initBy(ctx string) (string, error) {
	dir, err := b.project(false)
	if err == nil {
		_, err = b.run(dir, nil, ctx, "init")
	}
	return dir, err
}

func (b *bench) slowAppend(ctx string) (func(int) (took, error), error) {
	dir, err := b.initBy(ctx)
	return func(i int) (took, error) {
		return b.slowly(dir, words(i, 1000), ctx, "append", "-s", "talk", "--role", "user")
	}, err
}

// slowHook lets a transcript of Gemini CLI, which every build of ctx knows, grow by a turn of 4 KB
// before each hook.
func (b *bench) slowHook(ctx string) (func(int) (took, error), error) {
	dir, err := b.initBy(ctx)
	if err != nil {
		return nil, err
	}
	transcript := filepath.Join(dir, "session-1.jsonl")
	call := fmt.Sprintf(
		`{"session_id":"s-1","transcript_path":%q,"cwd":%q,"hook_event_name":"AfterAgent"}`,
		transcript, dir)
	const start = `{"sessionId":"s-1","projectHash":"ab","startTime":"2026-01-02T10:00:00.000Z",` +
		`"lastUpdated":"2026-01-02T10:00:00.000Z","kind":"main"}` + "\n"
	records := []byte(start)
	return func(i int) (took, error) {
		const record = `{"id":"%s%d","timestamp":"2026-01-02T10:00:00.000Z","type":%q,"content":[{"text":%q}]}` + "\n"
		records = fmt.Appendf(records, record, "u", i, "user", words(2*i, 1000))
		records = fmt.Appendf(records, record, "a", i, "gemini", words(2*i+1, 3000))
		if err := os.WriteFile(transcript, records, 0o600); err != nil {
			return took{}, err
		}
		return b.slowly(dir, call, ctx, "hook", "gemini-cli")
	}, nil
}

// slowImport imports the transcripts into a new store each time. It returns nil if there are none.
func (b *bench) slowImport(ctx string) (func(int) (took, error), error) {
	if b.sessions == "" {
		return nil, nil
	}
	files, _, err := b.files()
	return func(int) (took, error) {
		dir, err := b.initBy(ctx)
		if err != nil {
			return took{}, err
		}
		return b.slowly(dir, "", ctx, append([]string{"import", b.agent}, files...)...)
	}, err
}
