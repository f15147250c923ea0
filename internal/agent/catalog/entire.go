package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/gitfile"
)

// Checkpoint is a transcript of any agent that Entire has put into a git repository: with each
// commit of the project, as far as it went then.
type Checkpoint struct {
	Form  string   // the agent's, once Read has seen the transcript; "" if ctx does not know it
	By    string   // the agent, as Entire calls it
	dir   string   // in the repository
	blobs []string // of a long transcript several
	next  []string // of the transcript of the session that follows
}

// entireRefs are where Entire keeps checkpoints: in a branch for all, a ref for each, or, before a
// commit, in a branch for a commit.
var entireRefs = [...]string{"refs/heads/entire/", "refs/remotes/*/entire/**",
	"refs/entire/checkpoints/"}

// EntireRefs lists where Entire keeps checkpoints in the repository that has a directory.
func EntireRefs(c context.Context, dir string) ([]string, error) {
	out, err := gitfile.Run(c, dir, "",
		append([]string{"for-each-ref", "--format=%(refname)"}, entireRefs[:]...)...)
	return strings.Fields(out), err
}

// checkpointFile matches the files of a session, or of a subagent of it: the directory, what it
// says of the session, or the transcript, of which further parts have numbers.
const checkpointFile = `^((?:[0-9a-f]{2}/[0-9a-f]{10}/(?:\d+/)?|\d+/|\.entire/metadata/[^/]+/)` +
	`(?:tasks/[^/]+/)?)(?:(metadata\.json)|(full|agent-[^/]+)\.jsonl(?:\.\d{3})?)$`

// datedSession matches the id that Entire once gave a session: a day, and the agent's own.
const datedSession = `^\d{4}-\d{2}-\d{2}-(.+)$`

// Checkpoints lists the transcripts that Entire has put into refs of the repository that has a
// directory, each once, from the oldest to the newest. It reads none.
func Checkpoints(c context.Context, dir string, refs []string) (list []Listed, err error) {
	sessions := map[string][]Listed{}
	for _, ref := range refs {
		if err := checkpointsIn(c, dir, ref, sessions); err != nil {
			return nil, err
		}
	}
	byTime := func(a, b Listed) int { return cmp.Compare(a.Updated, b.Updated) }
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		all := sessions[id]
		slices.SortStableFunc(all, byTime)
		all = slices.CompactFunc(all,
			func(a, b Listed) bool { return slices.Equal(a.Kept.blobs, b.Kept.blobs) })
		for i := range all[1:] {
			all[i].Kept.next = all[i+1].Kept.blobs
		}
		list = append(list, all...)
	}
	slices.SortStableFunc(list, byTime)
	return list, nil
}

// checkpointsIn adds the transcripts in a ref to those of their sessions.
func checkpointsIn(c context.Context, dir, ref string, sessions map[string][]Listed) error {
	out, err := gitfile.Run(c, dir, "", "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", ref)
	if err != nil {
		return err
	}
	files, dated := regexp.MustCompile(checkpointFile), regexp.MustCompile(datedSession)
	about, blobs := map[string]string{}, map[string][]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		head, name, _ := strings.Cut(entry, "\t")
		id := head[strings.LastIndexByte(head, ' ')+1:]
		switch m := files.FindStringSubmatch(name); {
		case m == nil:
		case m[2] != "":
			about[m[1]] = id
		default:
			blobs[m[1]+m[3]] = append(blobs[m[1]+m[3]], id) // in the order of the parts
		}
	}
	texts := objectsOf(c, dir, slices.Collect(maps.Values(about)))
	for _, file := range slices.Sorted(maps.Keys(blobs)) {
		in, name := path.Split(file)
		says := struct {
			Session string `json:"session_id"`
			Created string `json:"created_at"`
			Agent   string `json:"agent"`
		}{Session: path.Base(in)}
		of, _, _ := strings.Cut(in, "tasks/")
		_ = json.Unmarshal([]byte(texts[about[of]]), &says) // before a commit there is none
		if name == "full" {
			name = dated.ReplaceAllString(says.Session, "$1")
		}
		updated := int64(0)
		if at, err := time.Parse(time.RFC3339, says.Created); err == nil {
			updated = at.UnixMilli()
		}
		ref := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/")
		sessions[name] = append(sessions[name], Listed{ID: name, Updated: updated,
			Name: ref + ":" + in + name + ".jsonl",
			Kept: &Checkpoint{By: says.Agent, dir: dir, blobs: blobs[file]}})
	}
	return nil
}

// objectsOf reads small objects of a repository, by id. Those that are not there are left out.
func objectsOf(c context.Context, dir string, ids []string) map[string]string {
	texts := map[string]string{}
	out, _ := gitfile.Run(c, dir, strings.Join(ids, "\n")+"\n", "cat-file", "--batch")
	for out != "" {
		head, rest, _ := strings.Cut(out, "\n")
		out = rest
		if f := strings.Fields(head); len(f) == 3 { // else it is missing
			size, _ := strconv.Atoi(f[2])
			size = min(max(size, 0), len(rest))
			texts[f[0]], out = rest[:size], strings.TrimPrefix(rest[size:], "\n")
		}
	}
	return texts
}

// Read returns a transcript, and finds its form. It is "" if the next transcript of the session
// begins with it.
func (k *Checkpoint) Read(c context.Context) (string, error) {
	text, err := k.text(c, k.blobs)
	if k.Form = Whose(strings.NewReader(text)); text == "" {
		k.Form = shape.JSONLAgent
	}
	if next, failed := k.text(c, k.next); failed == nil && strings.HasPrefix(next, text) {
		text = "" // a next transcript that cannot be read has an error of its own
	}
	return text, err
}

func (k *Checkpoint) text(c context.Context, blobs []string) (string, error) {
	parts := make([]string, len(blobs))
	for i, id := range blobs {
		var err error
		if parts[i], err = gitfile.Run(c, k.dir, "", "cat-file", "blob", id); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "\n"), nil
}
