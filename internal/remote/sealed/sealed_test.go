package sealed

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

func TestConformance(t *testing.T) {
	host, ann := &remotetest.Memory{}, newPerson(t, "ann")
	ann.begin(t, host)
	remotetest.Check(t, func(*testing.T) remote.Remote { return ann.open(host) })
}
