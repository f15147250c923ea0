package catalog

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
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

// forkOfRollout returns the session of a rollout by its first record, and the one whose history it
// begins with; "" for none.
func forkOfRollout(head jsonvalue.Object) (id, of string) {
	meta := head.Object("payload")
	if of = meta.Text("forked_from_id"); of == "" {
		of = meta.Object("source").Object("subagent").Object("thread_spawn").Text(
			"parent_thread_id")
	}
	return meta.Text("id"), of
}

func placeCodex(root, id, _, when string) (string, error) {
	day, clock, _ := strings.Cut(strings.TrimSuffix(when, "Z"), "T")
	clock, _, _ = strings.Cut(clock, ".")
	name := "rollout-" + day + "T" + strings.ReplaceAll(clock, ":", "-") + "-" + id + ".jsonl"
	return filepath.Join(root, "sessions", filepath.FromSlash(strings.ReplaceAll(day, "-", "/")),
		name), nil
}

// withTitle has emit followed by a note with the title that Codex keeps of the session beside its
// rollouts, if it does.
func withTitle(path string, emit emit) emit {
	told := false
	return func(st transcript.Step) error {
		if err := emit(st); err != nil || told || st.Kind != transcript.KindMessage ||
			st.Thread != "" {
			return err
		}
		told = true
		title := titleInIndex(path, st.Session)
		if title == "" {
			return nil
		}
		is := jsonvalue.NewObject("payload",
			map[string]string{"type": "thread_name_updated", "thread_name": title})
		st.Loose = true
		st.Message = transcript.Message{
			Origin: transcript.Origin{Agent: codex.Agent, Session: transcript.Fit(st.Session),
				Message: transcript.BesideID + "title:" + transcript.Derive(16, title)},
			Note: true, Role: transcript.RoleSystem, Time: st.Message.Time,
			Parts: jsonvalue.Array([]json.RawMessage{transcript.Kept(codex.Agent,
				jsonvalue.NewObject(transcript.BeforeName, []jsonvalue.Object{is}))}),
		}
		return emit(st)
	}
}

// titleInIndex returns the newest title of a session in the index above the directory of rollouts.
func titleInIndex(path, session string) (title string) {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); name != "sessions" && name != "archived_sessions" {
			continue
		}
		headsOf(filepath.Join(filepath.Dir(dir), "session_index.jsonl"), session,
			func(o jsonvalue.Object) bool {
				if o.Text("id") == session {
					title = o.Text("thread_name")
				}
				return true
			})
		break
	}
	return title
}
