package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
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

// begunInTask looks for the directory in what the extension tells the model with the first prompt.
func begunInTask(file string) identity.Session {
	return identity.Session{Dir: shape.TaskDir(beginning(file, maxSettings))}
}

// taskFile is the name of the transcript in the directory of a task.
const taskFile = "api_conversation_history.json"

// nameOfTask returns the task, which is the directory's name.
func nameOfTask(path string) string {
	if Plain(filepath.Base(path)) != taskFile {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}

func begunInCopilot(file string) identity.Session {
	return begunIn(file, `"cwd"`, func(o jsonvalue.Object) identity.Session {
		at := o.Object("data").Object("context")
		return identity.Session{Dir: at.Text("cwd"), Branch: at.Text("branch")}
	})
}

// nameOfCopilot returns the session that a file belongs to: its directory is named for it.
func nameOfCopilot(path string) string {
	name := filepath.Base(path) // a program that syncs folders puts another version beside it
	if !strings.HasPrefix(name, "events") || filepath.Ext(Plain(name)) != ".jsonl" {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}

// folderOfDroid knows that old versions have no folders.
func folderOfDroid(file string) *Folder {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == "sessions" {
		return nil
	}
	return newFolder(dir, oneName(claudecode.Slug))
}

func rootOfGoose(e Env) string {
	if root := e.Get("GOOSE_PATH_ROOT"); root != "" {
		return filepath.Join(root, "data")
	}
	return e.under("XDG_DATA_HOME", ".local/share", "goose")
}

// begunInGoose reads the first line, or an export whole.
func begunInGoose(file string) identity.Session {
	if filepath.Ext(Plain(file)) == ".json" {
		return identity.Session{Dir: document(file).Text("working_dir")}
	}
	return begunIn(file, `"working_dir"`, func(o jsonvalue.Object) identity.Session {
		return identity.Session{Dir: o.Text("working_dir")}
	})
}

func rootOfQwen(e Env) string {
	if dir := e.Get("QWEN_RUNTIME_DIR"); dir != "" {
		return dir
	}
	return e.under("QWEN_HOME", ".qwen", "")
}

func folderOfQwen(file string) *Folder {
	return newFolder(filepath.Dir(filepath.Dir(file)), oneName(slugOfQwen))
}

// slugOfQwen returns the name of the directory of a project. On Windows it has no capitals.
func slugOfQwen(dir string) string {
	if os.PathSeparator == '\\' {
		dir = strings.ToLower(dir)
	}
	return claudecode.Slug(dir)
}

func placeQwen(root, id, dir, _ string) (string, error) {
	slug := slugOfQwen(dir)
	if len(slug) > 255 {
		return "",
			fmt.Errorf("cannot tell where qwen keeps the sessions of %q: the path is too long", dir)
	}
	return filepath.Join(root, "projects", slug, "chats", id+".jsonl"), nil
}
