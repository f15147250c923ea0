package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// Form is how the settings of an agent hold hooks.
type Form struct {
	Agent string
	// In is the member that has the events.
	In string
	// Flat says that an event has a list of hooks; else it has a list of groups, each with a list of
	// hooks.
	Flat bool
	// Versioned says that settings without a version get one.
	Versioned bool
}

// Groups is the form of most agents.
func Groups(agent string) Form { return Form{Agent: agent, In: "hooks"} }

// Hook is a command that an agent runs at an event.
type Hook struct {
	Event   string
	Matcher string // of its group; "" for none
	Members []Member
}

// Member is a member of a hook: a string or a number.
type Member struct {
	Name  string
	Value any
}

// The members that may hold a command. An agent that knows both runs one of them, by the system.
const (
	Bash       = "bash"
	PowerShell = "powershell"
	command    = "command"
)

// Command returns the member with the command of a hook.
func Command(text string) Member { return Member{command, text} }

// mark is part of every command of ours for an agent, whatever the path of the program.
func mark(agent string) string { return " hook " + agent }

// item prints the hook as an element of an event's list.
func (f *Form) item(h Hook) string {
	var lines []string
	for _, m := range h.Members {
		value := fmt.Sprint(m.Value)
		if s, ok := m.Value.(string); ok {
			value = quoted(s)
		}
		lines = append(lines, quoted(m.Name)+": "+value)
	}
	if f.Flat {
		return "{\n\t" + strings.Join(lines, ",\n\t") + "\n}"
	}
	matcher := ""
	if h.Matcher != "" {
		matcher = "\t\"matcher\": " + quoted(h.Matcher) + ",\n"
	}
	return "{\n" + matcher + "\t\"hooks\": [\n\t\t{\n\t\t\t" + strings.Join(lines, ",\n\t\t\t") + "\n\t\t}\n\t]\n}"
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
func Install(b []byte, f Form, hooks []Hook) ([]byte, error) {
	if len(b) == 0 {
		b = []byte("{}\n")
	}
	if f.Versioned {
		root, err := parse(b)
		if err != nil {
			return nil, err
		}
		if get(&root, "version") == nil {
			b = insert(b, &root, &root, `"version": 1`)
		}
	}
	for _, h := range hooks {
		var err error
		if b, err = f.install(b, h); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (f *Form) install(b []byte, h Hook) ([]byte, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	all := get(&root, f.In)
	if all == nil {
		item := quoted(f.In) + ": {" + "\n\t" + quoted(h.Event) + ": [\n\t\t" +
			indented(indented(f.item(h))) + "\n\t]\n}"
		return insert(b, &root, &root, item), nil
	}
	if all.Value.Kind() != '{' {
		return nil, fmt.Errorf("%s is not an object", f.In)
	}
	list := get(all, h.Event)
	if list == nil {
		return insert(b, &root, all, quoted(h.Event)+": [\n\t"+indented(f.item(h))+"\n]"), nil
	}
	if list.Value.Kind() != '[' {
		return nil, fmt.Errorf("%s.%s is not an array", f.In, h.Event)
	}
	there := f.ours(list)
	if len(there) == 0 {
		return insert(b, &root, list, f.item(h)), nil
	}
	for _, m := range h.Members {
		want, isText := m.Value.(string)
		if at := get(there[0].value, m.Name); isText && isCommand(m.Name) && at != nil &&
			text(at) != want {
			at.Value = hujson.Literal(quoted(want))
		}
	}
	return root.Pack(), nil
}

func isCommand(member string) bool {
	return member == command || member == Bash || member == PowerShell
}

// place is a hook of ours in an event's list of groups.
type place struct {
	group, hook int           // indexes
	hooks       *hujson.Value // the list of the group
	value       *hujson.Value // the hook
}

// ours returns our hooks for an agent in an event's list: those that have our name, or a command of
// ours.
func (f *Form) ours(list *hujson.Value) (found []place) {
	if f.Flat {
		for j, hook := range children(list) {
			if f.isHook(hook.value) {
				found = append(found, place{group: j, hook: j, hooks: list, value: hook.value})
			}
		}
		return found
	}
	for i, group := range children(list) {
		hooks := get(group.value, "hooks")
		for j, hook := range children(hooks) {
			if f.isHook(hook.value) {
				found = append(found, place{group: i, hook: j, hooks: hooks, value: hook.value})
			}
		}
	}
	return found
}

// isHook reports whether a hook is ours.
func (f *Form) isHook(hook *hujson.Value) bool {
	said := commandOf(hook)
	named := text(get(hook, "name")) == "ctx" && strings.Contains(said, mark(f.Agent))
	return named || isOurs(said, f.Agent)
}

// commandOf returns the command of a hook; that for bash if it has several.
func commandOf(hook *hujson.Value) string {
	for _, member := range []string{command, Bash, PowerShell} {
		if s := text(get(hook, member)); s != "" {
			return s
		}
	}
	return ""
}

// isOurs reports whether a command runs the hook for an agent and nothing else: ctx, or gctx as it
// is called beside another ctx, by its name or by a path, quoted or not, for bash or PowerShell.
// The name of an event may follow.
func isOurs(command, agent string) bool {
	program, rest, ok := strings.Cut(command, mark(agent))
	if event, spaced := strings.CutPrefix(rest, " "); spaced {
		rest = strings.TrimLeft(event, letters)
	}
	if !ok || rest != "" && rest != "; exit 0" {
		return false
	}
	program = strings.TrimPrefix(program, "& ")
	if n := len(program); n > 1 && (program[0] == '\'' || program[0] == '"') &&
		program[n-1] == program[0] {
		program = program[1 : n-1]
	} else if strings.ContainsAny(program, " ;&|") {
		return false
	}
	program = strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
	return program == "ctx" || program == "gctx"
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Remove returns settings without our hooks for an agent. Lists and objects that hold nothing else
// go with them.
func Remove(b []byte, f Form) ([]byte, error) {
	for {
		next, err := f.removeOne(b)
		if err != nil || next == nil {
			return b, err
		}
		b = next
	}
}

// removeOne removes one hook of ours; nil where there is none.
func (f *Form) removeOne(b []byte) ([]byte, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	for h, top := range children(&root) {
		if text(top.head) != f.In || top.value.Value.Kind() != '{' {
			continue
		}
		for e, event := range children(top.value) {
			for _, p := range f.ours(event.value) {
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
	Shells   map[string]string // those for PowerShell, where a hook has them besides
	Off      bool              // all hooks are switched off
	Disabled bool              // ours are, by name
}

// Look returns what settings say about our hooks for an agent.
func Look(b []byte, f Form) (State, error) {
	s := State{Commands: map[string]string{}, Shells: map[string]string{}}
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
	names := lists.Map(children(get(config, "disabled")), func(e child) string {
		return text(e.value)
	})
	for _, event := range children(get(&root, f.In)) {
		for _, p := range f.ours(event.value) {
			command := commandOf(p.value)
			s.Commands[text(event.head)] = command
			s.Shells[text(event.head)] = text(get(p.value, PowerShell))
			s.Disabled = s.Disabled || slices.Contains(names, text(get(p.value, "name"))) ||
				slices.Contains(names, command)
		}
	}
	return s, nil
}
