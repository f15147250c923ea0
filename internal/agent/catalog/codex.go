package catalog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// compressed ends the name of a rollout that Codex has compressed. It does so with rollouts that
// were idle for a week.
const compressed = ".jsonl.zst"

// The most that is read of a compressed rollout, and the most memory that its decoder takes, in
// bytes. A small file can be made that unpacks without end.
const (
	maxUnpacked     = 4 << 30
	maxDecoderBytes = 128 << 20
)

func sessionsOfCodex(root string, only func(file string) bool) (list []Begun) {
	seen := map[string]bool{}
	for _, dir := range []string{"sessions/*/*/*/", "sessions/", "archived_sessions/"} {
		for _, ending := range []string{".jsonl", compressed} {
			for _, file := range glob(root, dir+"rollout-*"+ending) {
				plain := strings.TrimSuffix(file, ".zst")
				if seen[plain] || !wanted(only, file) {
					continue // it is being compressed, or was unpacked to go on
				}
				seen[plain] = true
				list = append(list, Begun{File: file, Session: begunInRollout(file)})
			}
		}
	}
	return list
}

// begunInRollout returns what a rollout says of where its session began: in its first record, or as
// old ones do, in what the model was told first.
func begunInRollout(file string) (s identity.Session) {
	in, end, err := openRollout(file)
	if err != nil {
		return s
	}
	defer end()
	heads(in, "cwd", func(o jsonvalue.Object) bool {
		payload := o.Object("payload")
		if payload == nil {
			payload = o // of the first versions
		}
		s.Dir = payload.Text("cwd")
		if git := payload.Object("git"); git != nil {
			s.Remote, s.Branch = git.Text("repository_url"), git.Text("branch")
		}
		if content, ok := payload.Array("content"); ok && s.Dir == "" {
			for _, part := range content {
				_, told, _ := strings.Cut(jsonvalue.AsObject(part).Text("text"), "<cwd>")
				if dir, _, ok := strings.Cut(told, "</cwd>"); ok && s.Dir == "" {
					s.Dir = strings.TrimSpace(dir)
				}
			}
		}
		return s.Dir == ""
	})
	return s
}

// openRollout opens a rollout, compressed or not.
func openRollout(file string) (io.Reader, func(), error) {
	f, _, err := durable.OpenAtMost(file, durable.MaxInput)
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasSuffix(file, compressed) {
		return f, closing(f), nil
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(maxDecoderBytes))
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	in := &transcript.UpToCut{R: &transcript.AtMost{R: z, Most: maxUnpacked}}
	return in, closing(f, z.IOReadCloser()), nil
}

// closing returns a function that closes files that were read; an error of that says nothing.
func closing(files ...io.Closer) func() {
	return func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
}

// readCompressedRollout returns a reader for a compressed rollout, and nil for any other file.
func readCompressedRollout(path string) transcript.Read {
	if !strings.HasSuffix(path, compressed) {
		return nil
	}
	return func(emit func(transcript.Step) error) (transcript.Stats, error) {
		in, end, err := openRollout(path)
		if err != nil {
			return transcript.NewStats(), &transcript.ReadError{Err: err}
		}
		defer end()
		stats, err := codex.Read(in, emit)
		of, _ := in.(*transcript.UpToCut)
		if of != nil && of.Cut && stats.Skipped[transcript.SkipTornTail] == 0 {
			stats.Skip(transcript.SkipTornTail, 1)
		}
		return stats, err
	}
}

// codexMeta returns the payload of a rollout's first record, which describes its session; nil if
// there is none.
func codexMeta(file string) jsonvalue.Object {
	in, end, err := openRollout(file)
	if err != nil {
		return nil
	}
	defer end()
	head, err := bufio.NewReaderSize(io.LimitReader(in, maxSettings), 64<<10).ReadBytes('\n')
	if err != nil && len(head) == 0 {
		return nil
	}
	o, _ := jsonvalue.ParseObject(bytes.TrimSpace(head))
	return o.Object("payload")
}

// orderCodex puts a rollout after the one whose history it begins with, and changes the order of
// files no further.
func orderCodex(files []string, path func(string) string) []string {
	byID, parent := map[string]string{}, map[string]string{}
	for _, file := range files {
		if file == "-" {
			continue
		}
		meta := codexMeta(path(file))
		byID[meta.Text("id")] = file
		if parent[file] = meta.Text("forked_from_id"); parent[file] == "" {
			parent[file] = meta.Object("source").Object("subagent").Object("thread_spawn").Text(
				"parent_thread_id")
		}
	}
	depth := func(file string) (n int) {
		for ; n <= len(files); n++ {
			up, ok := byID[parent[file]]
			if !ok || parent[file] == "" {
				return n
			}
			file = up
		}
		return 0 // a ring
	}
	out := slices.Clone(files)
	slices.SortStableFunc(out, func(x, y string) int { return depth(x) - depth(y) })
	return out
}

func placeCodex(root, id, _, when string) (string, error) {
	day, clock, _ := strings.Cut(strings.TrimSuffix(when, "Z"), "T")
	clock, _, _ = strings.Cut(clock, ".")
	name := "rollout-" + day + "T" + strings.ReplaceAll(clock, ":", "-") + "-" + id + ".jsonl"
	return filepath.Join(root, "sessions", filepath.FromSlash(strings.ReplaceAll(day, "-", "/")),
		name), nil
}
