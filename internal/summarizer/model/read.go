package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// claudeResult is the last document of `claude -p --output-format json`.
type claudeResult struct {
	Type       string `json:"type"`
	IsError    bool   `json:"is_error"`
	Status     *int   `json:"api_error_status"`
	Result     string `json:"result"`
	Subtype    string `json:"subtype"`
	StopReason string `json:"stop_reason"`
	Models     map[string]struct {
		Output int `json:"outputTokens"`
	} `json:"modelUsage"`
}

// readClaude reads the single result document, or the first result in a list, which Claude Code
// prints if the user's settings make it verbose.
func readClaude(out []byte) (Reply, error) {
	list := []claudeResult{{}}
	if json.Unmarshal(out, &list[0]) != nil && json.Unmarshal(out, &list) != nil {
		return Reply{}, errNoOutput
	}
	at := slices.IndexFunc(list, func(r claudeResult) bool { return r.Type == "result" })
	if at < 0 {
		return Reply{}, errNoOutput
	}
	r := list[at]
	if r.IsError || r.Subtype != "success" {
		text := cmp.Or(strings.TrimSpace(r.Result), r.Subtype, "it failed and does not say why")
		if r.Status != nil {
			text = fmt.Sprintf("HTTP %d: %s", *r.Status, text)
		}
		return Reply{}, &said{text}
	}
	used := map[string]int{}
	for name, m := range r.Models {
		used[name] = m.Output
	}
	cut := r.StopReason == "max_tokens"
	return Reply{Text: r.Result, Model: mostUsed(used), Cut: cut}, nil
}

// mostUsed returns the name of the model that wrote most; among equals the first name. It ignores
// models without a name, and returns "" if there is none.
func mostUsed(tokens map[string]int) string {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(tokens)) {
		if name != "" && (best == "" || tokens[name] > tokens[best]) {
			best = name
		}
	}
	return best
}

// eachLine calls f for every line of output that is a JSON object.
func eachLine[T any](out []byte, f func(T)) {
	for line := range bytes.Lines(out) {
		var v T
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && json.Unmarshal(line, &v) == nil {
			f(v)
		}
	}
}

type codexEvent struct {
	Type string `json:"type"`
	Item struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// readCodex reads the events of `codex exec --json`. The last message of the agent is the answer.
// Items of type error are warnings; failed turns have their own events.
func readCodex(out []byte) (Reply, error) {
	var text, failed, told string
	var tool, done bool
	eachLine(out, func(e codexEvent) {
		switch e.Type {
		case "item.completed":
			switch e.Item.Type {
			case "agent_message":
				text = e.Item.Text
			case "command_execution", "file_change", "mcp_tool_call", "web_search",
				"collab_tool_call":
				tool = true
			}
		case "turn.completed":
			done = true
		case "turn.failed":
			failed = e.Error.Message
		case "error":
			told = e.Message
		}
	})
	return settle(text, done, tool, cmp.Or(failed, told))
}

// unreached says in a message of Codex that it has reached no server.
var unreached = regexp.MustCompile(`(?i)^reconnecting\b.*(waiting for network|lookup address|` +
	`error sending request|connection (failed|refused)|network is unreachable)`)

// codexOffline recognizes the message of Codex that it tries again, if it says that there is no
// connection. Codex goes on for minutes.
func codexOffline(line []byte) bool {
	var e codexEvent
	return json.Unmarshal(line, &e) == nil && e.Type == "error" && unreached.MatchString(e.Message)
}

// settle returns the reply of an agent that prints events. done says that its turn ended
// successfully, tool that it used a tool.
func settle(text string, done, tool bool, failed string) (Reply, error) {
	switch {
	case tool:
		return Reply{}, errTool
	case done:
		return Reply{Text: text}, nil
	case failed != "":
		return Reply{}, &said{failed}
	}
	return Reply{}, errNoOutput
}

type codexServer struct {
	Name string `json:"name"`
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// codexServers reads the output of `codex mcp list --json`. A name that cannot be part of a dotted
// key is an error, because its server could not be turned off.
func codexServers(out []byte) ([]string, error) {
	var list []codexServer
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, errNoOutput
	}
	var names []string
	for _, s := range list {
		if !plainName.MatchString(s.Name) {
			return nil,
				fmt.Errorf("the name of the server %.40q has other characters than letters, "+
					"digits, _ and -", s.Name)
		}
		names = append(names, s.Name)
	}
	return names, nil
}

type geminiResult struct {
	Response string `json:"response"`
	Error    *struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Models map[string]struct {
			Tokens struct {
				Candidates int `json:"candidates"`
			} `json:"tokens"`
		} `json:"models"`
		Tools struct {
			Success int `json:"totalSuccess"`
		} `json:"tools"`
	} `json:"stats"`
}

// readGemini reads the document of `gemini -o json`. Some versions print lines of text before it.
func readGemini(out []byte) (Reply, error) {
	var r *geminiResult
	for rest := out; len(rest) > 0; {
		from := json.NewDecoder(bytes.NewReader(rest))
		if rest[0] == '{' && from.Decode(&r) == nil {
			break
		}
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	switch {
	case r == nil:
		return Reply{}, errNoOutput
	case r.Error != nil:
		return Reply{}, &said{cmp.Or(r.Error.Message, "it failed and does not say why")}
	case r.Stats.Tools.Success > 0:
		return Reply{}, errTool
	}
	used := map[string]int{}
	for name, m := range r.Stats.Models {
		used[name] = m.Tokens.Candidates
	}
	return Reply{Text: r.Response, Model: mostUsed(used)}, nil
}

type opencodeEvent struct {
	Type string `json:"type"`
	Part struct {
		Text   string `json:"text"`
		Reason string `json:"reason"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

// readOpencode reads the events of `opencode run --format json`. The texts of the last step are the
// answer.
func readOpencode(out []byte) (Reply, error) {
	var texts []string
	var tool, done bool
	var failed, reason string
	eachLine(out, func(e opencodeEvent) {
		switch e.Type {
		case "step_start":
			texts = nil
		case "text":
			texts = append(texts, e.Part.Text)
		case "step_finish":
			done, reason = true, e.Part.Reason
		case "tool_use":
			tool = true
		case "error":
			failed = cmp.Or(e.Error.Data.Message, e.Error.Name)
		}
	})
	reply, err := settle(strings.Join(texts, "\n"), done && failed == "", tool, failed)
	reply.Cut = reason == "length"
	return reply, err
}

// opencodeServers reads the output of `opencode debug config`.
func opencodeServers(out []byte) ([]string, error) {
	var config struct {
		Servers map[string]json.RawMessage `json:"mcp"`
	}
	if json.Unmarshal(out, &config) != nil {
		return nil, errNoOutput
	}
	return slices.Sorted(maps.Keys(config.Servers)), nil
}
