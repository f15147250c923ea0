package message

import (
	"bytes"
	"encoding/json"
)

// Directory returns the directory in which an agent worked when it wrote the record of a message,
// as a field of the record says that is kept in parts; "" if none does. Only what no model was
// shown counts: what a tool printed may look like such a field.
func Directory(parts []Part) string {
	for i := range parts {
		p := &parts[i]
		if p.Call != nil || p.Result != nil || !p.Thought {
			continue
		}
		for _, key := range [...]string{`"cwd":`, `"directory":`} {
			_, rest, ok := bytes.Cut(p.Raw, []byte(key))
			if !ok {
				continue
			}
			var dir string
			if json.NewDecoder(bytes.NewReader(rest)).Decode(&dir) == nil && dir != "" {
				return dir
			}
		}
	}
	return ""
}
