package message

import (
	"bytes"
	"encoding/json"
)

// Directory returns the directory in which an agent worked when it wrote the record of a message,
// as a field of the record says that is kept in parts; "" if none does. Only what no model was
// shown counts: what a tool printed may look like such a field.
func Directory(parts []Part) string { return recorded[string](parts, `"cwd":`, `"directory":`) }

// Branch returns the branch of git that was checked out when an agent wrote the record of a
// message, as Directory finds the directory; "" if no field says so, or no branch was checked out.
// Codex says it once, at the beginning of a session.
func Branch(parts []Part) string {
	branch := recorded[string](parts, `"gitBranch":`)
	if branch == "" {
		branch = recorded[struct{ Branch string }](parts, `"git":`).Branch
	}
	if branch == "HEAD" {
		return ""
	}
	return branch
}

// recorded returns the first value that is not empty which a record has under one of the keys.
func recorded[T comparable](parts []Part, keys ...string) (none T) {
	for i := range parts {
		p := &parts[i]
		if p.Call != nil || p.Result != nil || !p.Thought {
			continue
		}
		for _, key := range keys {
			_, rest, ok := bytes.Cut(p.Raw, []byte(key))
			if !ok {
				continue
			}
			var v T
			if json.NewDecoder(bytes.NewReader(rest)).Decode(&v) == nil && v != none {
				return v
			}
		}
	}
	return none
}
