package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Hook is an entry that an agent calls at an event.
type Hook struct {
	Event   string
	Name    string
	Command string
	Timeout int // milliseconds
}

// commandMark is in every command of ours, whichever program it begins with.
const commandMark = " hook gemini-cli"

// group prints the hook as an element of an event's list.
func (h Hook) group() string {
	return fmt.Sprintf("{\n\t\"hooks\": [\n\t\t{\n\t\t\t\"type\": \"command\",\n\t\t\t\"name\": %s,\n\t\t\t\"command\": %s,\n\t\t\t\"timeout\": %d\n\t\t}\n\t]\n}",
		quoted(h.Name), quoted(h.Command), h.Timeout)
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be printed
	s = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(string(b))
	return s
}

func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n\t") }

// Install returns the settings with the hooks in them. One that is there stays where it is, and gets the command of the new one. nil, or a text without anything, is the
// settings of nobody. *SyntaxError, or an error that says which value is not what it should be, leaves nothing to be done.
func Install(b []byte, hooks []Hook) ([]byte, error) {
	if len(b) == 0 {
		b = []byte("{}\n")
	}
	for _, h := range hooks {
		var err error
		if b, err = install(b, h); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func install(b []byte, h Hook) ([]byte, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	all := root.get("hooks")
	if all == nil {
		return insert(b, root, root, `"hooks": {`+"\n\t"+quoted(h.Event)+": [\n\t\t"+indented(indented(h.group()))+"\n\t]\n}"), nil
	}
	if all.kind != '{' {
		return nil, fmt.Errorf("hooks is not an object")
	}
	list := all.get(h.Event)
	if list == nil {
		return insert(b, root, all, quoted(h.Event)+": [\n\t"+indented(h.group())+"\n]"), nil
	}
	if list.kind != '[' {
		return nil, fmt.Errorf("hooks.%s is not an array", h.Event)
	}
	there := ours(b, list)
	if len(there) == 0 {
		return insert(b, root, list, h.group()), nil
	}
	if at := there[0].node.get("command"); at.text(b) != h.Command {
		return replace(b, at.start, at.end, quoted(h.Command)), nil
	}
	return b, nil
}

// place is an entry of ours in an event's list.
type place struct {
	group, hook int // indexes
	in          *node
	node        *node
}

// ours returns the entries of ours in an event's list.
func ours(b []byte, list *node) (found []place) {
	for i, group := range list.elements {
		hooks := group.get("hooks")
		if hooks == nil {
			continue
		}
		for j, hook := range hooks.elements {
			command := hook.get("command").text(b)
			if strings.Contains(command, "ctx"+commandMark) || hook.get("name").text(b) == "ctx" && strings.Contains(command, commandMark) {
				found = append(found, place{group: i, hook: j, in: hooks, node: hook})
			}
		}
	}
	return found
}

// Remove returns the settings without any entry of ours, and without the lists and the object that hold nothing any more when they are out.
func Remove(b []byte) ([]byte, error) {
	for {
		next, err := removeOne(b)
		if err != nil || next == nil {
			return b, err
		}
		b = next
	}
}

// removeOne takes one entry out; nil where there is none.
func removeOne(b []byte) ([]byte, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	for h, top := range root.members {
		if top.key != "hooks" || top.value.kind != '{' {
			continue
		}
		for e, event := range top.value.members {
			for _, p := range ours(b, event.value) {
				switch group := event.value.elements[p.group]; {
				case len(p.in.elements) > 1:
					return remove(b, p.in, p.hook), nil
				case len(event.value.elements) > 1:
					return remove(b, event.value, p.group), nil
				case len(top.value.members) > 1:
					return remove(b, top.value, e), nil
				case group != nil:
					return remove(b, root, h), nil
				}
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

// Look returns what settings say about our hooks.
func Look(b []byte) (State, error) {
	s := State{Commands: map[string]string{}}
	root, err := parse(b)
	if err != nil {
		return s, err
	}
	config := root.get("hooksConfig")
	if on := config.get("enabled"); on != nil {
		s.Off = string(b[on.start:on.end]) == "false"
	}
	var names []string
	if list := config.get("disabled"); list != nil {
		for _, e := range list.elements {
			names = append(names, e.text(b))
		}
	}
	all := root.get("hooks")
	if all == nil {
		return s, nil
	}
	for _, event := range all.members {
		for _, p := range ours(b, event.value) {
			command := p.node.get("command").text(b)
			s.Commands[event.key] = command
			s.Disabled = s.Disabled || slices.Contains(names, p.node.get("name").text(b)) || slices.Contains(names, command)
		}
	}
	return s, nil
}
