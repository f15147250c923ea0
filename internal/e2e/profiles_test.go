package e2e

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A profile is what a client writes, without its words: the members of each kind of record, of each
// call of a hook and of each settings file, and the kinds of records that ctx does not know. It is
// a set of lines.
type profile map[string]bool

// add adds the members of a value, which is of a kind of thing.
func (p profile) add(thing string, value map[string]json.RawMessage) {
	for member := range value {
		p[thing+" "+member] = true
	}
}

// text is a member that is a text; "" if it is none.
func text(value map[string]json.RawMessage, name string) (s string) {
	_ = json.Unmarshal(value[name], &s) // what is no text is none
	return s
}

// record adds a record, and what stands in it under payload, message or attachment.
func (p profile) record(value map[string]json.RawMessage) {
	kind := "record " + text(value, "type")
	if sub := text(value, "subtype"); sub != "" {
		kind += "/" + sub
	}
	p.add(kind, value)
	for _, name := range []string{"payload", "message", "attachment"} {
		var inner map[string]json.RawMessage
		if json.Unmarshal(value[name], &inner) == nil && inner != nil {
			p.add(kind+"."+name+":"+text(inner, "type"), inner)
		}
	}
}

// files adds the records of transcripts and the members of settings files of a home.
func (p profile) files(home string) error {
	return filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		var value map[string]json.RawMessage
		switch {
		case err != nil:
		case strings.HasSuffix(path, ".jsonl"):
			for line := range strings.Lines(string(b)) {
				if json.Unmarshal([]byte(line), &value) == nil {
					p.record(value)
				}
				value = nil
			}
		case strings.HasSuffix(path, ".json") && json.Unmarshal(b, &value) == nil &&
			strings.Count(strings.TrimPrefix(path, home), "/") <= 3:
			p.add("settings "+filepath.Base(path), value)
		}
		return err
	})
}

// document adds a session of opencode, which it prints.
func (p profile) document(b []byte) error {
	var session struct {
		Info     map[string]json.RawMessage
		Messages []struct {
			Info  map[string]json.RawMessage
			Parts []map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &session); err != nil {
		return err
	}
	p.add("record session", session.Info)
	for _, m := range session.Messages {
		p.add("record "+text(m.Info, "role"), m.Info)
		for _, part := range m.Parts {
			p.record(part)
		}
	}
	return nil
}

// What a client writes in three turns, as a file of CTX_E2E_PROFILES for .ci/newest. ctx knows
// every kind of record of the versions that .ci/clients pins.
func TestProfiles(t *testing.T) {
	for _, c := range liveClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.client)
			w.run("ctx", "install", c.name)
			w.watch()
			w.run(c.prompt(turnText(0))...)
			session := w.only()
			w.run(c.again(session, turnText(1))...)
			w.run(c.last(turnText(2))...)
			w.same(w.only(), w.server.recorded(0))
			p := profile{}
			var status struct {
				Drift []struct{ Kind string }
			}
			err := json.Unmarshal([]byte(w.run("ctx", "status", "--json")), &status)
			for _, d := range status.Drift {
				p["unknown "+d.Kind] = true
				t.Errorf("records of kind %q are not understood", d.Kind)
			}
			calls, failed := filepath.Glob(filepath.Join(w.home, "hooks", "*.call"))
			for _, name := range calls {
				b, readError := os.ReadFile(name)
				var value map[string]json.RawMessage
				if err == nil && readError == nil && json.Unmarshal(b, &value) == nil {
					p.add("hook "+text(value, "hook_event_name"), value)
				}
			}
			if err == nil && failed == nil {
				err = p.files(w.home)
			}
			if err == nil && c.export != nil {
				err = p.document([]byte(w.run(c.export(session)...)))
			}
			if dir := os.Getenv("CTX_E2E_PROFILES"); err == nil && dir != "" {
				lines := strings.Join(slices.Sorted(maps.Keys(p)), "\n") + "\n"
				err = os.WriteFile(filepath.Join(dir, c.name), []byte(lines), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			w.sound()
		})
	}
}
