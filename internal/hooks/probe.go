package hooks

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/session"
)

// probeText is the text of a probe's messages; it begins with probeWords.
const (
	probeWords = "A probe of ctx doctor"
	probeText  = probeWords + ": é, \"quotes\", <tags> & a tab\t."
)

// probeSession is the session of a probe, a form that every agent but opencode accepts.
const (
	probeSession         = "c7c0d0c7-0000-4000-8000-000000000001"
	opencodeProbeSession = "ses_ctxdoctorprobe0000000000001"
)

// sessionOfProbe returns the session of a probe of an agent.
func sessionOfProbe(agent string) string {
	if agent == opencode.Agent {
		return opencodeProbeSession
	}
	return probeSession
}

// probes has a turn of each agent, as its transcripts have one. $TEXT and $DIR stand for strings.
//
//go:embed probes
var probes embed.FS

// writeProbe writes the transcript of one turn of an agent into dir, and returns the event that the
// agent would then send to its hook.
func writeProbe(agent *Agent, dir string, now time.Time) (event []byte, err error) {
	form, err := probes.ReadFile("probes/" + agent.Name + ".jsonl")
	if err != nil {
		return nil, err
	}
	name := sessionOfProbe(agent.Name)
	text := strings.NewReplacer("$TEXT", string(jsonvalue.Encode(probeText)),
		"$DIR", string(jsonvalue.Encode(dir)), "$SESSION", name,
		"$TIME", now.UTC().Format(time.RFC3339), "$MILLI", fmt.Sprint(now.UnixMilli()),
	).Replace(string(form))
	said := map[string]any{"hook_event_name": agent.Turn, "session_id": name, "cwd": dir,
		"prompt": probeText}
	if agent.Plugin() != "" {
		said["document"] = json.RawMessage(text)
		return json.Marshal(said)
	}
	path := filepath.Join(dir, name+".jsonl")
	said["transcript_path"] = path
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return json.Marshal(said)
}

// startOfProbe returns the event that an agent sends to its hook when the session after that of the
// probe begins: at the event at which the model is told of others.
func startOfProbe(agent *Agent, dir string) ([]byte, error) {
	name := "next" + sessionOfProbe(agent.Name)
	return json.Marshal(map[string]string{
		"hook_event_name": agent.Tells(), "session_id": name, "cwd": dir, "source": "startup",
		"prompt":          probeText,
		"transcript_path": filepath.Join(dir, name+".jsonl"),
	})
}

// readProbe checks that the store has the turn of a probe of an agent.
func readProbe(s *session.Store, agent string) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	tip := v.Get(history.RefName(sessionOfProbe(agent), history.MainBranch))
	if !tip.Exists() {
		said := "nothing was recorded"
		if list, _ := Troubles(s.Dir); len(list) > 0 {
			said += ": " + list[len(list)-1].Problem
		}
		return errors.New(said)
	}
	shown, err := s.History.Entry(tip.ID)
	if err == nil && (shown.Text != probeText || shown.Entry.Seq != 2) {
		err = fmt.Errorf("what was recorded is not what was said: %.100q", shown.Text)
	}
	return err
}
