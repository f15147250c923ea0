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
