package document

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/gitfile"
)

// Line is a line of a file with the call that wrote it.
type Line struct {
	File string `json:"file"` // from the root of the project
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
	By   string `json:"by"` // session, commit or nobody
	// The message that made the call; null if no session wrote the line
	ID     *string `json:"id"`
	Commit *Commit `json:"commit"` // of the line, as HEAD has it; null if it is not committed
	*Written
}

// Written is the call that wrote a line.
type Written struct {
	Session string  `json:"session"`
	Agent   *string `json:"agent"`
	Time    string  `json:"time"`
	Tool    string  `json:"tool"`
	Call    string  `json:"call"`
	Prompt  *string `json:"prompt"` // the message of the user that began the turn
	Rewound bool    `json:"rewound,omitempty"`
}

// Commit is a commit of git that has a line.
type Commit struct {
	ID      string `json:"id"`
	Author  string `json:"author"`
	Time    string `json:"time"`
	Summary string `json:"summary"`
}

// LineOf returns the document of a line. call and commit may be nil.
func LineOf(file string, number int, text string, call *blame.Call, commit *gitfile.Commit) Line {
	d := Line{File: file, Line: number, Text: text, By: "nobody"}
	if commit != nil {
		d.By = "commit"
		d.Commit = &Commit{ID: commit.ID, Author: commit.Author, Time: TimeText(commit.Time),
			Summary: commit.Summary}
	}
	if call != nil {
		d.By, d.ID = "session", IDText(call.Entry)
		d.Written = &Written{Session: call.Header.Session, Agent: OrNull(AgentOf(call)),
			Time: TimeText(call.Header.Time), Tool: call.Tool,
			Call: call.ID, Rewound: call.Rewound}
	}
	return d
}

// AgentOf returns the agent that made a call; "" if nothing says it.
func AgentOf(c *blame.Call) string {
	if s := c.Header.Source; s != nil && s.Agent != format.JSONLAgent {
		return s.Agent
	}
	return c.Header.Author
}
