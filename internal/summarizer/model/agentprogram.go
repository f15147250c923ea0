package model

import (
	"fmt"
	"os"
)

// Program returns the helper ctx-summarize-agent. Its argument is the name of an agent.
func AgentProgram() Program {
	return Program{
		Name:     "ctx-summarize-agent",
		Short:    "has an installed agent write summaries for ctx",
		Argument: "AGENT",
		Help: `AGENT is claude, codex, gemini or opencode. The agent's own login and provider settings
are used; it has no tools and no MCP servers.

Variables:

  CTX_AGENT_MAX_INPUT  the most tokens of history in one request (default 100000, gemini 200000,
                       opencode 60000)
  PATH                 where the agent's program is looked for, unless --program says where it is`,
		Open: open,
	}
}

func open(s Settings) (AnswerFunc, int, error) {
	agent, ok := Find(s.Argument)
	if !ok {
		return nil, 0, fmt.Errorf("no such agent: %.40q: claude, codex, gemini or opencode",
			s.Argument)
	}
	most, err := s.Number("CTX_AGENT_MAX_INPUT", agent.MaxInput)
	if err != nil {
		return nil, 0, err
	}
	o := AgentOptions{Agent: agent, Program: s.Program, Model: s.Model, Environ: os.Environ()}
	r, err := NewRunner(o)
	if err != nil {
		return nil, 0, err
	}
	return r.Ask, most, nil
}
