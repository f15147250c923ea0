package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// maxConfig limits a config file, in bytes. The template has less than 2 KiB.
const maxConfig = 1 << 20

// fromFile reads a config file. An unknown key is an error. An empty path, or a missing file, sets
// nothing.
func fromFile(path string, table []setting) ([]assignment, error) {
	if path == "" {
		return nil, nil
	}
	origin := "file " + path
	b, err := durable.ReadAtMost(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, durable.ErrTooLarge):
		return nil,
			&ConfigError{Origin: origin, Why: fmt.Sprintf("file has more than %d bytes", maxConfig)}
	case err != nil:
		return nil, fmt.Errorf("cannot read config: %w", err)
	}
	return parseConfig(string(b), origin, table)
}

// parseConfig returns the assignments in the order of the text.
func parseConfig(text, origin string, table []setting) ([]assignment, error) {
	var values map[string]any
	meta, err := toml.Decode(text, &values)
	if err != nil {
		return nil, badSyntax(origin, err)
	}
	var out []assignment
	keys := meta.Keys()
	for i, key := range keys {
		g := assignment{key: key.String(), origin: origin,
			line: func() int { return lineOf(text, key) }}
		isTable := meta.Type(key...) == "Hash"
		switch {
		case isSection(key, table) && !isTable:
			return nil, g.fault(errors.New("not a table"), "")
		case isSection(key, table), isTable && i+1 < len(keys) && isUnder(keys[i+1], key):
			continue // its keys follow
		}
		s, ok := find(table, g.key)
		if !ok {
			return nil, unknown(g)
		}
		if g.text, err = plain(valueAt(values, key), s.form); err != nil {
			return nil, g.fault(err, defaultHint(s))
		}
		out = append(out, g)
	}
	return out, nil
}

func badSyntax(origin string, err error) error {
	e := &ConfigError{Origin: origin, Why: "not TOML: " + err.Error(),
		Hint: "correct the file, or move it away: without it each setting has its default"}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		e.Line, e.Why = parse.Position.Line, "not TOML: "+parse.Message
		if strings.Contains(parse.Message, "NULL bytes") {
			e.Why = "not TOML: it has zero bytes, as after a power cut, or is UTF-16"
		}
	}
	return e
}

// isSection reports whether a key is the part before the dot of a known key.
func isSection(key toml.Key, table []setting) bool {
	prefix := key.String() + "."
	return slices.ContainsFunc(table, func(s setting) bool {
		front, back, many := strings.Cut(s.key, "*")
		return strings.HasPrefix(s.key, prefix) ||
			many && back != "" && len(key) == 2 && prefix == front+key[1]+"." &&
				isSummarizerName(key[1])
	})
}

func isUnder(key, table toml.Key) bool {
	return len(key) > len(table) && slices.Equal(key[:len(table)], table)
}

// valueAt follows a key through tables. It returns nil if there is no value; TOML has no nil.
func valueAt(values map[string]any, key toml.Key) any {
	var at any = values
	for _, part := range key {
		in, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = in[part]
	}
	return at
}

// plain returns a TOML value of the right type as the text that setting.put reads.
func plain(value any, want form) (string, error) {
	switch v := value.(type) {
	case int64:
		if want == wholeNumber || want == fraction {
			return strconv.FormatInt(v, 10), nil
		}
	case float64:
		if want == fraction {
			return strconv.FormatFloat(v, 'g', -1, 64), nil
		}
	case string:
		if want == duration || want == word {
			return v, nil
		}
	case []any:
		if list, ok := allStrings(v); ok && want == words {
			return jsonList(list), nil
		} else if ok && want == names &&
			!slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, ",") }) {
			return strings.Join(list, ","), nil
		}
	}
	return "", errors.New([...]string{
		wholeNumber: "not a whole number",
		fraction:    "not a number",
		duration:    "not a string that holds a duration",
		names:       "not an array of names",
		words:       "not an array of strings",
		word:        "not a string",
	}[want])
}

func allStrings(values []any) (list []string, ok bool) {
	list = make([]string, len(values))
	for i, v := range values {
		if list[i], ok = v.(string); !ok {
			return nil, false
		}
	}
	return list, true
}

// lineOf returns the line of a key in a valid text, from 1, or 0 if it is not known. The library
// reports positions only in errors, so lineOf decodes the text again, with a type that refuses the
// key.
func lineOf(text string, key toml.Key) int {
	var in map[string]toml.Primitive
	meta, err := toml.Decode(text, &in)
	for ; err == nil && len(key) > 1; key = key[1:] {
		next := in[key[0]]
		in = nil
		err = meta.PrimitiveDecode(next, &in)
	}
	if err != nil {
		return 0
	}
	var parse toml.ParseError
	if errors.As(meta.PrimitiveDecode(in[key[0]], &refusal{}), &parse) {
		return parse.Position.Line
	}
	return 0
}

// refusal is a type that refuses every value.
type refusal struct{}

// UnmarshalTOML always fails.
func (*refusal) UnmarshalTOML(any) error { return errors.New("refused") }
