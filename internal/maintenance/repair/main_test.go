package repair_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
)

func TestMain(m *testing.M) { kit.Main(m) }
