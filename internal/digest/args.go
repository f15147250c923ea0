package digest

import (
	"encoding/json"
	"slices"
	"strings"
)

// args are the arguments of a call. Member names are exact.
type args map[string]json.RawMessage

func readArgs(raw json.RawMessage) args {
	var a args
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

func (a args) has(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := a[n]; return ok })
}

// text returns the first of the named members that is a text or a list of texts, which are joined by
// spaces.
func (a args) text(names []string) string {
	for _, n := range names {
		raw, ok := a[n]
		if !ok {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
		var list []string
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			return joinCommand(list)
		}
	}
	return ""
}

// joinCommand joins the words of a command. Of `bash -lc SCRIPT` the script alone counts.
func joinCommand(list []string) string {
	if len(list) == 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") {
		return list[2]
	}
	return strings.Join(list, " ")
}

// onlyNumbersBeside reports whether all members but the named ones are numbers, booleans or null.
func (a args) onlyNumbersBeside(names []string) bool {
	for n, raw := range a {
		if !slices.Contains(names, n) && len(raw) > 0 && strings.IndexByte(`"{[`, raw[0]) >= 0 {
			return false
		}
	}
	return true
}

// list decodes a member that is an array of objects.
func (a args) list(names ...string) []args {
	for _, n := range names {
		var list []args
		if raw, ok := a[n]; ok && json.Unmarshal(raw, &list) == nil {
			return list
		}
	}
	return nil
}

// first returns the first text among the named members and then among all others, in the order of
// their names.
func (a args) first(names []string) string {
	if s := a.text(names); s != "" {
		return s
	}
	rest := make([]string, 0, len(a))
	for n := range a {
		rest = append(rest, n)
	}
	slices.Sort(rest)
	return a.text(rest)
}

// NewText returns what a call that edits or writes a file put there; "" for any other call.
func NewText(raw json.RawMessage) string {
	a := readArgs(raw)
	if s := a.text(newNames); s != "" {
		return s
	}
	if s := a.text(contentNames); s != "" {
		return s
	}
	return a.text(patchNames)
}
