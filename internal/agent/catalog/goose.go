package catalog

import (
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func begunInGoose(file string) identity.Session {
	return begunIn(file, `"working_dir"`, func(o jsonvalue.Object) identity.Session {
		return identity.Session{Dir: o.Text("working_dir")}
	})
}

func sessionsOfGoose(root string, only func(file string) bool) []Begun {
	return begunEach(transcripts(root, "sessions/*.jsonl"), only, begunInGoose)
}
