package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/hooks"
)

// The schemas in docs/schema are made from the types of what commands print, as the scripts make
// them print it: a document is fields of known types, but which fields it has is known only when it
// is printed. `go test ./cmd/ctx -run TestScripts -update` writes them. Without -update the test
// fails for a document that the schema of its command does not have.

// schema is a JSON Schema, as far as it is used here.
type schema struct {
	Schema     string             `json:"$schema,omitempty"`
	Title      string             `json:"title,omitempty"`
	Type       types              `json:"type,omitempty"`
	Const      json.RawMessage    `json:"const,omitempty"`
	Pattern    string             `json:"pattern,omitempty"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Items      *schema            `json:"items,omitempty"`
	Additional *schema            `json:"additionalProperties,omitempty"`
	AnyOf      []*schema          `json:"anyOf,omitempty"`
}

// types is one type, or several.
type types []string

func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

func (t *types) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = make(types, 1)
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

const idPattern = "^[0-9a-f]{64}$"

// ofType returns the schema of the values of a type, as encoding/json writes them.
func ofType(t reflect.Type) *schema {
	switch {
	case t == reflect.TypeFor[format.ID]():
		return &schema{Type: types{"string", "null"}, Pattern: idPattern}
	case t == reflect.TypeFor[time.Time]():
		return &schema{Type: types{"string"}}
	case t == reflect.TypeFor[json.RawMessage]():
		return &schema{}
	case t == reflect.TypeFor[document.Score]():
		return &schema{Type: types{"number"}}
	case t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Nested["):
		nested := ofType(t.Field(0).Type)
		if nested.Properties == nil {
			return nested
		}
		nested.Properties["v"] = &schema{Const: json.RawMessage("1")}
		nested.Required = append([]string{"v"}, nested.Required...)
		return nested
	case t.Implements(reflect.TypeFor[json.Marshaler]()) && t.Kind() != reflect.Map:
		return &schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(ofType(t.Elem()))
	case reflect.Bool:
		return &schema{Type: types{"boolean"}}
	case reflect.String:
		return &schema{Type: types{"string"}}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: types{"integer"}}
	case reflect.Float32, reflect.Float64:
		return &schema{Type: types{"number"}}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &schema{Type: types{"string", "null"}}
		}
		return &schema{Type: types{"array", "null"}, Items: ofType(t.Elem())}
	case reflect.Array:
		return &schema{Type: types{"array"}, Items: ofType(t.Elem())}
	case reflect.Map:
		return &schema{Type: types{"object", "null"}, Additional: ofType(t.Elem())}
	case reflect.Struct:
		s := &schema{Type: types{"object"}, Properties: map[string]*schema{}}
		s.addFields(t)
		return s
	}
	return &schema{} // an interface: any value
}

// addFields adds the members that a struct has in JSON.
func (s *schema) addFields(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" && options == "":
		case f.Anonymous && tag == "":
			if f.Type.Kind() != reflect.Pointer {
				s.addFields(f.Type)
				continue
			}
			required := slices.Clone(s.Required)
			s.addFields(f.Type.Elem())
			s.Required = required // where it is nil, none of them is there
		case f.IsExported():
			name := tag
			if name == "" {
				name = f.Name
			}
			s.Properties[name] = ofType(f.Type)
			if !strings.Contains(options, "omit") {
				s.Required = append(s.Required, name)
			}
		}
	}
}

func orNull(s *schema) *schema {
	if s.Type != nil {
		s.Type = union(s.Type, types{"null"})
	}
	return s
}

func union(a, b types) types {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// ofFields returns the schema of a document with the fields that answer gets.
func ofFields(fields []any) *schema {
	s := &schema{Type: types{"object"},
		Properties: map[string]*schema{"v": {Const: json.RawMessage("1")}}, Required: []string{"v"}}
	for i := 0; i < len(fields); i++ {
		key, pair := fields[i].(string)
		if !pair {
			if t := reflect.TypeOf(fields[i]); t.Kind() == reflect.Pointer {
				s.addFields(t.Elem())
			} else {
				s.addFields(t)
			}
			continue
		}
		i++
		value := fields[i]
		s.Required = append(s.Required, key)
		if value == nil {
			s.Properties[key] = &schema{Type: types{"null"}}
			continue
		}
		of := ofType(reflect.TypeOf(value))
		if slices.Equal(of.Type, types{"array", "null"}) {
			of.Type = types{"array"} // document.Encode writes an empty list
		}
		s.Properties[key] = of
	}
	slices.Sort(s.Required)
	s.Required = slices.Compact(s.Required)
	return s
}

// rendered is the document of `ctx render`, which is written member by member, so that what changes
// comes last.
type rendered struct {
	Session string `json:"session"`
	Branch  string `json:"branch"`
	Pin     string `json:"pin"`
	Through uint64 `json:"through"`
	Epoch   *struct {
		Parts []struct {
			Key  string `json:"key"`
			Text string `json:"text"`
		} `json:"parts"`
	} `json:"epoch,omitempty"`
	Brief []struct {
		Section string `json:"section"`
		Entry   string `json:"entry"`
		Text    string `json:"text"`
	} `json:"brief,omitempty"`
	Clusters []struct {
		ID       string            `json:"id"`
		Members  int               `json:"members"`
		First    *string           `json:"first"`
		Last     *string           `json:"last"`
		Label    string            `json:"label,omitempty"`
		Summary  any               `json:"summary"`
		Messages []renderedMessage `json:"messages,omitempty"`
		Interim  bool              `json:"interim"`
		Sessions []string          `json:"sessions,omitempty"`
	} `json:"clusters"`
	Tombstones []struct {
		ID      string `json:"id"`
		Members int    `json:"members"`
		Line    string `json:"line"`
	} `json:"tombstones"`
	Older   int               `json:"older_tombstones"`
	Tail    []renderedMessage `json:"tail"`
	Dropped any               `json:"dropped"`
	Tokens  int               `json:"tokens"`
}

// renderedMessage is a message in it, and what stands there in its place.
type renderedMessage struct {
	ID        string          `json:"id"`
	Seq       uint64          `json:"seq"`
	Kind      string          `json:"kind,omitempty"`
	Role      string          `json:"role"`
	Author    string          `json:"author"`
	Time      *string         `json:"time"`
	Text      string          `json:"text"`
	Parts     json.RawMessage `json:"parts,omitempty"`
	Gone      string          `json:"gone,omitempty"`
	StandsFor []string        `json:"stands_for,omitempty"`
	Masked    []int           `json:"masked,omitempty"`
	Replaced  []struct {
		Part int    `json:"part"`
		By   string `json:"by"`
	} `json:"replaced,omitempty"`
}

// noteSchema keeps the schema of a document that a command printed in a script, or says that the
// document is not what its own types say.
func noteSchema(dir, command string, fields []any, doc []byte) {
	if fields == nil {
		fields = []any{rendered{}}
	}
	s := ofFields(fields)
	var value any
	if err := json.Unmarshal(doc, &value); err != nil {
		panic(err)
	}
	if why := s.refuses(value, "$"); why != "" {
		panic(fmt.Sprintf("%s: %s: %s", command, why, doc))
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	name := strings.ReplaceAll(command, " ", "-")
	file := filepath.Join(dir, fmt.Sprintf("%s.%x", name, sha256.Sum256(b)))
	if _, err := os.Stat(file); err == nil {
		return
	}
	temp := fmt.Sprintf("%s.%d", file, os.Getpid())
	if os.WriteFile(temp, b, 0o600) == nil {
		_ = os.Rename(temp, file)
	}
}

// refuses says why a value is not one of a schema; "" if it is.
func (s *schema) refuses(value any, at string) string {
	if len(s.AnyOf) > 0 {
		why := ""
		for _, one := range s.AnyOf {
			if why = one.refuses(value, at); why == "" {
				return ""
			}
		}
		return why
	}
	if s.Const != nil {
		b, _ := json.Marshal(value)
		if !bytes.Equal(b, s.Const) {
			return fmt.Sprintf("%s is %s, not %s", at, b, s.Const)
		}
		return ""
	}
	kind := kindOf(value)
	if s.Type == nil {
		return ""
	}
	if !slices.Contains(s.Type, kind) && !(kind == "integer" && slices.Contains(s.Type, "number")) {
		return fmt.Sprintf("%s is %s, not %v", at, kind, s.Type)
	}
	switch v := value.(type) {
	case string:
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			return fmt.Sprintf("%s is %.80q", at, v)
		}
	case []any:
		for i, one := range v {
			if why := s.Items.refuses(one, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	case map[string]any:
		return s.refusesMembers(v, at)
	}
	return ""
}

func (s *schema) refusesMembers(v map[string]any, at string) string {
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			return at + " has no " + name
		}
	}
	for name, one := range v {
		of := s.Properties[name]
		if of == nil {
			of = s.Additional
		}
		if of == nil {
			return at + " has " + name + ", which the schema has not"
		}
		if why := of.refuses(one, at+"."+name); why != "" {
			return why
		}
	}
	return ""
}

func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// merged returns the schema of all documents of a command. Documents with the same members become
// one form, in which a member has every type that was seen; others are forms of their own.
func merged(command string, list []*schema) *schema {
	var forms []*schema
	for _, s := range list {
		at := slices.IndexFunc(forms, func(f *schema) bool {
			return slices.Equal(slices.Sorted(maps.Keys(f.Properties)),
				slices.Sorted(maps.Keys(s.Properties)))
		})
		if at < 0 {
			forms = append(forms, s)
			continue
		}
		for name, p := range s.Properties {
			forms[at].Properties[name] = eitherOf(forms[at].Properties[name], p)
		}
		forms[at].Required = slices.DeleteFunc(forms[at].Required,
			func(name string) bool { return !slices.Contains(s.Required, name) })
	}
	slices.SortFunc(forms, func(a, b *schema) int {
		return strings.Compare(strings.Join(slices.Sorted(maps.Keys(a.Properties)), " "),
			strings.Join(slices.Sorted(maps.Keys(b.Properties)), " "))
	})
	whole := &schema{AnyOf: forms}
	if len(forms) == 1 {
		whole = forms[0]
	}
	whole.Schema, whole.Title = "https://json-schema.org/draft/2020-12/schema",
		"What `"+command+" --json` prints"
	return whole
}

// eitherOf returns a schema of what one of two takes, which differ in their types alone.
func eitherOf(a, b *schema) *schema {
	if a.Type != nil && b.Type != nil && (a.Properties == nil || b.Properties == nil) {
		out := *a
		out.Type = union(a.Type, b.Type)
		if b.Pattern != "" && a.Pattern == "" {
			out.Pattern = ""
		}
		if out.Properties == nil {
			out.Properties, out.Required = b.Properties, b.Required
		}
		if out.Items == nil {
			out.Items = b.Items
		}
		return &out
	}
	if reflect.DeepEqual(a, b) || a.Type == nil && a.AnyOf == nil {
		return a
	}
	if b.Type == nil && b.AnyOf == nil {
		return b
	}
	for _, one := range a.AnyOf {
		if reflect.DeepEqual(one, b) {
			return a
		}
	}
	if a.AnyOf != nil {
		return &schema{AnyOf: append(slices.Clone(a.AnyOf), b)}
	}
	return &schema{AnyOf: []*schema{a, b}}
}

// checkSchemas compares what the scripts printed with docs/schema, or writes it with -update.
func checkSchemas(t *testing.T, seen string) {
	t.Helper()
	files, err := os.ReadDir(seen) // sorted, so that the order of the forms is always the same
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]*schema{}
	for _, f := range files {
		command, digest, _ := strings.Cut(f.Name(), ".")
		if len(digest) != 2*sha256.Size {
			continue // a process was killed while it wrote
		}
		b, err := os.ReadFile(filepath.Join(seen, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		list[command] = append(list[command], &s)
	}
	dir := filepath.Join("..", "..", "docs", "schema")
	for command, forms := range list {
		s := merged(strings.ReplaceAll(command, "-", " "), forms)
		for _, c := range commands() { // whose own names have dashes
			if strings.HasPrefix(command, "ctx-"+c.name) && strings.Contains(c.name, "-") {
				s.Title = strings.Replace(s.Title, strings.ReplaceAll(c.name, "-", " "), c.name, 1)
			}
		}
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		b = append(bytes.ReplaceAll(bytes.ReplaceAll(b, []byte(`\u003e`), []byte(">")),
			[]byte(`\u003c`), []byte("<")), '\n')
		path := filepath.Join(dir, command+".json")
		old, err := os.ReadFile(path)
		if err == nil && bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), b) {
			continue
		}
		if *update && !ofSome() {
			if err := errorsJoin(os.MkdirAll(dir, 0o755),
				os.WriteFile(path, b, 0o644)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !isPart(old, forms) {
			t.Errorf(
				"%s does not have all that the scripts print; "+
					"`go test ./cmd/ctx -run TestScripts -update` writes it", path)
		}
	}
}

// ofSome reports whether some scripts alone run, from which no schema can be written.
func ofSome() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

func errorsJoin(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// isPart reports whether a schema has the forms: some scripts alone may have run.
func isPart(old []byte, forms []*schema) bool {
	var s schema
	if json.Unmarshal(old, &s) != nil {
		return false
	}
	have := s.AnyOf
	if len(have) == 0 {
		have = []*schema{&s}
	}
	for _, f := range forms {
		if !slices.ContainsFunc(have, func(h *schema) bool { return h.has(f) }) {
			return false
		}
	}
	return true
}

// has reports whether everything that is of the schema f is also of s.
func (s *schema) has(f *schema) bool {
	if s.Type == nil && s.AnyOf == nil && s.Const == nil {
		return true
	}
	if len(s.AnyOf) > 0 && len(f.AnyOf) == 0 {
		return slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return one.has(f) })
	}
	for _, t := range f.Type {
		if !slices.Contains(s.Type, t) {
			return false
		}
	}
	if f.Type == nil && f.Const == nil {
		return false
	}
	for name, p := range f.Properties {
		if s.Properties[name] == nil || !s.Properties[name].has(p) {
			return false
		}
	}
	for _, name := range s.Required {
		if f.Properties != nil && !slices.Contains(f.Required, name) {
			return false
		}
	}
	return f.Items == nil || s.Items != nil && s.Items.has(f.Items)
}

// TestSchemaRefuses shows that the check of the schemas can fail.
func TestSchemaRefuses(t *testing.T) {
	s := ofFields([]any{"id", format.ID{1}, "count", 3, "list", []string(nil),
		document.Score(0.5)}[:6])
	for doc, ok := range map[string]bool{
		`{"v":1,"id":null,"count":3,"list":[]}`:                                  true,
		`{"v":1,"id":"` + strings.Repeat("0a", 32) + `","count":3,"list":["x"]}`: true,
		`{"v":2,"id":null,"count":3,"list":[]}`:                                  false,
		`{"v":1,"id":"x","count":3,"list":[]}`:                                   false,
		`{"v":1,"id":null,"count":"3","list":[]}`:                                false,
		`{"v":1,"id":null,"count":3,"list":null}`:                                false,
		`{"v":1,"id":null,"count":3,"list":[1]}`:                                 false,
		`{"v":1,"id":null,"count":3}`:                                            false,
		`{"v":1,"id":null,"count":3,"list":[],"more":1}`:                         false,
	} {
		var value any
		if err := json.Unmarshal([]byte(doc), &value); err != nil {
			t.Fatal(err)
		}
		if why := s.refuses(value, "$"); (why == "") != ok {
			t.Errorf("%s: %q", doc, why)
		}
	}
}

// Every error that a command prints with --json is of docs/schema/error.json.
func TestErrorSchema(t *testing.T) {
	s := ofFields([]any{"error", command.Problem{}})
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema",
		"What a command that fails prints with `--json` on standard error"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	path := filepath.Join("..", "..", "docs", "schema", "error.json")
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), b) {
		t.Errorf(
			"%s is not as the type says (%v); `go test ./cmd/ctx -run TestErrorSchema -update` "+
				"writes it", path, err)
	}
	for _, f := range []command.FailedWith{
		{Err: errors.New("disk full"), JSON: true, Running: true},
		{Err: errors.New("unknown flag"), JSON: true, Hint: "`ctx help` says how it is used"},
	} {
		var out bytes.Buffer
		f.Report(t.Context(), &out)
		var value any
		if err := json.Unmarshal(out.Bytes(), &value); err != nil {
			t.Fatal(err)
		}
		if why := s.refuses(value, "$"); why != "" {
			t.Errorf("%s: %s", why, out.String())
		}
	}
	if s.refuses(map[string]any{"v": 1.0, "error": map[string]any{"code": "2"}}, "$") == "" {
		t.Error("a code that is no number is not refused")
	}
}

// noSchema says why a command has no schema. With --json these print what is no document of ctx.
func noSchema() map[string]string {
	const nothing, protocol = "it prints nothing", "it answers an agent, in the words of that agent"
	list := map[string]string{
		"ctx avail consume": nothing, "ctx avail healthy": nothing, "ctx avail mark": nothing,
		"ctx avail reset": nothing, "ctx avail reset-turn": nothing,
		"ctx completion": "it prints a program for a shell", "ctx help": "it prints help",
		"ctx session state get": "it prints the value, which is JSON as it was set",
		"ctx browse":            "it is for a terminal", "ctx eval": "it is a program of its own",
	}
	for _, agent := range hooks.Agents() {
		list["ctx hook "+agent.Name] = protocol
	}
	return list
}

// TestSchemaOfEachCommand: every command has a schema of what it prints with --json, or a reason
// why it has none, and every schema is of a command.
func TestSchemaOfEachCommand(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "schema")
	left := map[string]bool{"error.json": true}
	eachCommand(docTree(), func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".json"
		left[name] = true
		_, err := os.Stat(filepath.Join(dir, name))
		why, none := noSchema()[c.CommandPath()]
		switch {
		case err == nil && none:
			t.Errorf("%s has a schema, but: %s", c.CommandPath(), why)
		case err != nil && !none && c.Runnable() && !c.HasSubCommands():
			t.Errorf("%s has no schema: a script that runs it with --json makes one",
				c.CommandPath())
		}
	})
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !left[f.Name()] {
			t.Errorf("%s is of no command", f.Name())
		}
	}
}
