package catalog

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file finds the sessions of agents that write one JSON object for each.

// document reads a transcript that is one JSON object; nil if it is none. Of one that is cut off it
// has the members before the cut.
func document(file string) jsonvalue.Object {
	in, end, err := open(file)
	if err != nil {
		return nil
	}
	defer end()
	b, _ := io.ReadAll(io.LimitReader(in, maxHead))
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	o, whole := jsonvalue.ParseObject(b)
	if whole {
		return o
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if first, _ := d.Token(); first != json.Delim('{') {
		return nil
	}
	o = jsonvalue.Object{}
	for {
		name, _ := d.Token()
		var value json.RawMessage
		key, ok := name.(string)
		if !ok || d.Decode(&value) != nil {
			return o
		}
		o[key] = value
	}
}

// begunInWorkspace is what a session of Continue says.
func begunInWorkspace(file string) identity.Session {
	return identity.Session{Dir: localDir(document(file).Text("workspaceDirectory"))}
}

// begunInVSCode reads what the editor keeps of a window in the directory above: the folder that was
// open, or the file that lists several.
func begunInVSCode(file string) identity.Session {
	window := document(filepath.Join(filepath.Dir(filepath.Dir(file)), "workspace.json"))
	dir := localDir(window.Text("folder"))
	if list := localDir(window.Text("workspace")); dir == "" && list != "" {
		dir = filepath.Dir(list)
	}
	return identity.Session{Dir: dir}
}

// begunInKiro reads what lies beside the lines of a session, or the session of the editor.
func begunInKiro(file string) identity.Session {
	if lines, ok := strings.CutSuffix(Plain(file), ".jsonl"); ok {
		return identity.Session{Dir: document(lines + ".json").Text("cwd")}
	}
	return begunInWorkspace(file)
}

// begunInAmp takes the first of the directories that a thread began with.
func begunInAmp(file string) identity.Session {
	trees, _ := document(file).Object("env").Object("initial").Array("trees")
	if len(trees) == 0 {
		return identity.Session{}
	}
	return identity.Session{Dir: localDir(jsonvalue.AsObject(trees[0]).Text("uri"))}
}
