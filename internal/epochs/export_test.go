package epochs

import (
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
)

func (t *Tx) ObserveIn(session, branch string, set *epoch.Set, o ObserveOptions) (Observed, error) {
	return t.Observe(session, branch, set, o)
}
