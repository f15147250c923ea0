package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Hook is a command that an agent runs at an event.
type Hook struct {
	Event   string
	Name    string // for agents whose hooks have names; "" for none
	Command string
	Timeout int // in the unit of the agent
}

// mark is part of every command of ours for an agent, whatever the path of the program.
func mark(agent string) string { return " hook " + agent }

// group prints the hook as an element of an event's list.
func (h Hook) group() string {
	name := ""
	if h.Name != "" {
		name = "\t\t\t\"name\": " + quoted(h.Name) + ",\n"
	}
	return fmt.Sprintf("{\n\t\"hooks\": [\n\t\t{\n\t\t\t\"type\": \"command\",\n%s\t\t\t\"command\": %s,\n\t\t\t\"timeout\": %d\n\t\t}\n\t]\n}",
		name, quoted(h.Command), h.Timeout)
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be printed
	s = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(string(b))
	return s
}

func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n\t") }

// Install returns settings with the hooks of an agent in them. A hook that is already there stays
// in its place and gets the new command. No bytes are empty settings. An error says which line or
// value is not what the agent expects.
func Install(b []byte, agent string, hooks []Hook) ([]byte, error) {
	if len(b) == 0 {
		b = []byte("{}\n")
	}
	for _, h := range hooks {
		var err error
		if b, err = install(b, agent, h); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func install(b []byte, agent string, h Hook) ([]byte, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	all := get(&root, "hooks")
	if all == nil {
		item := `"hooks": {` + "\n\t" + quoted(h.Event) + ": [\n\t\t" + indented(indented(h.group())) + "\n\t]\n}"
		return insert(b, &root, &root, item), nil
	}
	if all.Value.Kind() != '{' {
		return nil, fmt.Errorf("hooks is not an object")
	}
	list := get(all, h.Event)
	if list == nil {
		return insert(b, &root, all, quoted(h.Event)+": [\n\t"+indented(h.group())+"\n]"), nil
	}
	if list.Value.Kind() != '[' {
		return nil, fmt.Errorf("hooks.%s is not an array", h.Event)
	}
	there := ours(list, agent)
	if len(there) == 0 {
		return insert(b, &root, list, h.group()), nil
	}
	if at := get(there[0].value, "command"); text(at) != h.Command {
		at.Value = hujson.Literal(quoted(h.Command))
	}
	return root.Pack(), nil
}

// place is a hook of ours in an event's list of groups.
type place struct {
	group, hook int           // indexes
	hooks       *hujson.Value // the list of the group
	value       *hujson.Value // the hook
}

// ours returns our hooks for an agent in an event's list: those that have our name, or a command of
// ours.
func ours(list *hujson.Value, agent string) (found []place) {
	for i, group := range children(list) {
		hooks := get(group.value, "hooks")
		for j, hook := range children(hooks) {
			command := text(get(hook.value, "command"))
			named := text(get(hook.value, "name")) == "ctx" && strings.Contains(command, mark(agent))
			if named || isOurs(command, agent) {
				found = append(found, place{group: i, hook: j, hooks: hooks, value: hook.value})
			}
		}
	}
	return found
}

// isOurs reports whether a command runs the hook for an agent and nothing else: ctx by its name or
// by a path, quoted or not, for bash or for PowerShell.
func isOurs(command, agent string) bool {
	program, rest, ok := strings.Cut(command, mark(agent))
	if !ok || rest != "" && rest != "; exit 0" {
		return false
	}
	program = strings.TrimPrefix(program, "& ")
	if n := len(program); n > 1 && (program[0] == '\'' || program[0] == '"') && program[n-1] == program[0] {
		program = program[1 : n-1]
	} else if strings.ContainsAny(program, " ;&|") {
		return false
	}
	program = program[strings.LastIndexAny(program, `/\`)+1:]
	return program == "ctx" || program == "ctx.exe"
}

// Remove returns settings without our hooks for an agent. Lists and objects that hold nothing else
// go with them.
func Remove(b []byte, agent string) ([]byte, error) {
	for {
		next, err := removeOne(b, agent)
		if err != nil || next == nil {
			return b, err
		}
		b = next
	}
}

// removeOne removes one hook of ours; nil where there is none.
func removeOne(b []byte, agent string) ([]byte, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	for h, top := range children(&root) {
		if text(top.head) != "hooks" || top.value.Value.Kind() != '{' {
			continue
		}
		for e, event := range children(top.value) {
			for _, p := range ours(event.value, agent) {
				switch {
				case len(children(p.hooks)) > 1:
					return remove(b, &root, p.hooks, p.hook), nil
				case len(children(event.value)) > 1:
					return remove(b, &root, event.value, p.group), nil
				case len(children(top.value)) > 1:
					return remove(b, &root, top.value, e), nil
				}
				return remove(b, &root, &root, h), nil
			}
		}
	}
	return nil, nil
}

// State is what settings say about our hooks.
type State struct {
	Commands map[string]string // by event
	Off      bool              // all hooks are switched off
	Disabled bool              // ours are, by name
}

// Look returns what settings say about our hooks for an agent.
func Look(b []byte, agent string) (State, error) {
	s := State{Commands: map[string]string{}}
	root, err := parse(b)
	if err != nil {
		return s, err
	}
	config := get(&root, "hooksConfig")
	on := get(config, "enabled")
	s.Off = on != nil && on.Value.Kind() == 'f'
	if all := get(&root, "disableAllHooks"); all != nil && all.Value.Kind() == 't' {
		s.Off = true // Claude Code and Qwen Code
	}
	var names []string
	for _, e := range children(get(config, "disabled")) {
		names = append(names, text(e.value))
	}
	for _, event := range children(get(&root, "hooks")) {
		for _, p := range ours(event.value, agent) {
			command := text(get(p.value, "command"))
			s.Commands[text(event.head)] = command
			s.Disabled = s.Disabled || slices.Contains(names, text(get(p.value, "name"))) || slices.Contains(names, command)
		}
	}
	return s, nil
}
