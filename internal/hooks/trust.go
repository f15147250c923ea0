package hooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// trust reads what an agent has noted about this directory and the hooks: some agents run no hook
// before the user has agreed, and do not say so.
func (d *Doctor) trust(agent *Agent, places []hookPlace) []Check {
	c := Check{Agent: agent.Name, Name: "trust", State: Warn}
	known := true
	switch agent.Name {
	case GeminiCLI:
		known = d.geminiTrust(places, &c)
	case "claude-code":
		d.claudeTrust(&c)
	case "codex":
		d.codexTrust(places[0], &c)
	default:
		known = false
	}
	if !known {
		return nil
	}
	return []Check{c}
}

// geminiTrust looks for the hooks among those that Gemini CLI knows. It returns false if no hook is
// installed that needs trust.
func (d *Doctor) geminiTrust(places []hookPlace, c *Check) bool {
	i := slices.IndexFunc(places,
		func(one hookPlace) bool { return one.kind != "extension" && len(one.state.Commands) > 0 })
	if i < 0 {
		return false
	}
	c.Detail, c.Hint = "the agent has not run with these hooks in this directory yet",
		"start it here once; it says that it found new hooks"
	var folders map[string]string
	var trusted map[string][]string
	readJSON(filepath.Join(d.Home, ".gemini", "trustedFolders.json"), &folders)
	readJSON(filepath.Join(d.Home, ".gemini", "trusted_hooks.json"), &trusted)
	for _, name := range d.spellings() {
		if folders[name] == "DO_NOT_TRUST" {
			c.State, c.Detail = Fail,
				"the agent does not trust this directory, and calls no hooks in it"
			c.Hint = "/permissions in the agent changes that"
			return true
		}
		if slices.Contains(trusted[name],
			HookName+":"+places[i].state.Commands[AfterAgent]) {
			c.State, c.Detail = OK, "the agent knows the hooks"
		}
	}
	return true
}

// claudeTrust looks for the directory, or one above it, among those that Claude Code trusts. In a
// directory that it does not trust it runs hooks only without a terminal.
func (d *Doctor) claudeTrust(c *Check) {
	c.Detail =
		"Claude Code has not noted that it may trust this directory: in a terminal it runs no " +
			"hooks until then"
	c.Hint = "start claude here once, and answer its question"
	var known struct {
		Projects map[string]struct {
			Trusted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	dir := cmp.Or(d.Getenv("CLAUDE_CONFIG_DIR"), d.UserHome)
	readJSON(filepath.Join(dir, ".claude.json"), &known)
	for _, name := range d.spellings() {
		for above := ""; name != above; above, name = name, filepath.Dir(name) {
			if known.Projects[filepath.ToSlash(name)].Trusted {
				c.State, c.Detail = OK, "Claude Code trusts this directory"
			}
		}
	}
}

// codexTrust looks for the review of the hooks in the settings of Codex, which skips hooks that
// nobody has reviewed, and says nothing. It notes the file of the hooks with each review.
func (d *Doctor) codexTrust(p hookPlace, c *Check) {
	c.Detail, c.Hint = "Codex has not noted a review of the hooks: it skips them until then",
		"type /hooks in Codex once"
	agent, _ := AgentNamed("codex")
	config := filepath.Join(filepath.Dir(agent.UserSettings(d.Getenv, d.UserHome)), "config.toml")
	b, err := durable.ReadAtMost(config, maxFile)
	if err != nil {
		return
	}
	var said struct {
		Hooks struct {
			State map[string]any `toml:"state"`
		} `toml:"hooks"`
	}
	if err := toml.Unmarshal(b, &said); err != nil {
		c.Detail, c.Hint = fmt.Sprintf("%s cannot be read: %v", config, err),
			"mend the file: Codex cannot read it either"
		return
	}
	for of := range said.Hooks.State {
		if strings.HasPrefix(of, p.path+":") {
			c.State, c.Detail = OK, "Codex has noted a review of the hooks"
		}
	}
}

// spellings returns the project's directory, and what it is without links.
func (d *Doctor) spellings() []string {
	return slices.Compact([]string{d.Project, repo.Physical(d.Project)})
}

// readJSON reads a file of another program. It leaves to unchanged if the file cannot be read.
func readJSON(path string, to any) {
	if b, err := durable.ReadAtMost(path, maxFile); err == nil {
		_ = json.Unmarshal(b, to)
	}
}
