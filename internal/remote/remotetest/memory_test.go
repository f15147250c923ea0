package remotetest

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

func TestMemory(t *testing.T) {
	m := &Memory{}
	Check(t, func(*testing.T) remote.Remote { return m })
}
