package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// begunInRollout returns what a rollout says of where its session began: in its first record, or as
// old ones do, in what the model was told first.
func begunInRollout(file string) (s identity.Session) {
	headsOf(file, "cwd", func(o jsonvalue.Object) bool {
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

// codexMeta returns the payload of a rollout's first record, which describes its session; nil if
// there is none.
func codexMeta(file string) (meta jsonvalue.Object) {
	headsOf(file, "", func(o jsonvalue.Object) bool {
		meta = o.Object("payload")
		return false
	})
	return meta
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
