package document

import "github.com/gemini-ctx/ctx/internal/find"

// Ran is a run of a command, or another act.
type Ran struct {
	ID      string  `json:"id"`
	Session string  `json:"session"`
	Time    string  `json:"time"`
	Command string  `json:"command"`
	Dir     *string `json:"dir"`
}

// RanOf returns the document of a run.
func RanOf(r *find.Ran) Ran {
	return Ran{r.Entry.String(), r.Session, TimeText(r.Time), r.Command, OrNull(r.Dir)}
}

// Mending is a failure, and what ended it.
type Mending struct {
	Failure Ran      `json:"failure"`
	Line    string   `json:"line"`   // of the tool
	Result  string   `json:"result"` // the message with the line
	Edits   []string `json:"edits"`
	Said    *string  `json:"said"`
	SaidBy  *string  `json:"said_by"`
	Passed  *Ran     `json:"passed"` // null if nothing of the kind was done since
}

// MendingOf returns the document of a mending.
func MendingOf(m *find.Mending) Mending {
	d := Mending{Failure: RanOf(&m.Failed), Line: m.Line, Result: m.Result.String(),
		Edits: append([]string{}, m.Edits...), Said: OrNull(m.Said), SaidBy: IDText(m.SaidBy)}
	if m.Passed != nil {
		passed := RanOf(m.Passed)
		d.Passed = &passed
	}
	return d
}
