package catalog

import (
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ofSession is what the first record of a session of Pi says.
func ofSession(o jsonvalue.Object) identity.Session {
	if o.Text("type") != "session" {
		return identity.Session{}
	}
	return identity.Session{Dir: o.Text("cwd")}
}

func begunInPi(file string) identity.Session { return begunIn(file, `"cwd"`, ofSession) }

func sessionsOfPi(root string, only func(file string) bool) []Begun {
	return begunEach(transcripts(root, "sessions/*/*.jsonl"), only, begunInPi)
}

func sessionsOfOpenClaw(root string, only func(file string) bool) []Begun {
	return begunEach(transcripts(root, "agents/*/sessions/*.jsonl"), only, begunInPi)
}

// SessionsWithin lists the transcripts that the agent keeps in the directory of a project.
func (a *Agent) SessionsWithin(dir string) (list []Begun) {
	for _, pattern := range a.Within {
		list = append(list, begunEach(transcripts(dir, pattern), nil,
			func(string) identity.Session { return identity.Session{Dir: dir} })...)
	}
	return list
}

// begunEach says of each of the files that are wanted where its session began.
func begunEach(
	files []string, only func(file string) bool, began func(file string) identity.Session,
) (list []Begun) {
	for _, file := range files {
		if wanted(only, file) {
			list = append(list, Begun{File: file, Session: began(file)})
		}
	}
	return list
}
