package message

import (
	"bytes"
	"encoding/json"
)

// Directory returns the directory in which an agent worked when it wrote the record of a message,
// as a field of the record says that is kept in parts; "" if none does. Only what no model was
// shown counts: what a tool printed may look like such a field.
func Directory(parts []Part) string { return recorded(parts, `"cwd":`, `"directory":`) }

// Branch returns the branch of git that was checked out when an agent wrote the record of a
// message, as Directory finds the directory; "" if no field says so, or no branch was checked out.
func Branch(parts []Part) string {
	branch := recorded(parts, `"gitBranch":`)
	if branch == "HEAD" {
		return ""
	}
	return branch
}

// recorded returns the first text that a record has under one of the keys.
func recorded(parts []Part, keys ...string) string {
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
			var text string
			if json.NewDecoder(bytes.NewReader(rest)).Decode(&text) == nil && text != "" {
				return text
			}
		}
	}
	return ""
}
