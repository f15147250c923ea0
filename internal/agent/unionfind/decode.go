package unionfind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ErrForm says that a file is not a forest in this form; the error's text says where.
var ErrForm = errors.New("not a union-find-json file")

// Decode reads a document and checks all of it. Unknown keys, keys that come twice, numbers that
// are no whole numbers or name nothing, parents that lead in a circle, ids that come twice, and
// members that contradict each other are errors that wrap ErrForm. An error of r is returned as it
// is.
func Decode(r io.Reader) (*Document, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if err := d.decode(b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return d, nil
}

func (d *Document) decode(b []byte) error {
	var bad *json.SyntaxError
	switch err := json.Unmarshal(b, new(struct{})); {
	case len(b) > MaxBytes:
		return fmt.Errorf("it has more than %d bytes", MaxBytes)
	case errors.As(err, &bad):
		return fmt.Errorf("not JSON: %w", err)
	case !utf8.Valid(b):
		return errors.New("not UTF-8")
	}
	members, err := jsonvalue.Members(b)
	if err != nil {
		return err
	}
	head, lists := jsonvalue.Object{}, map[string]json.RawMessage{}
	rest := slices.DeleteFunc(slices.Clone(members), func(m jsonvalue.Member) bool {
		switch m.Name {
		case "nodes", "clusters", "lineage":
			lists[m.Name] = m.Value
			return true
		}
		head[m.Name] = m.Value
		return false
	})
	if v := head["version"]; v != nil && string(v) != "1" {
		return fmt.Errorf("version %.40s is not known here: this build reads version %d", v,
			version)
	}
	if len(rest)+len(lists) < len(members) {
		return errors.New("nodes, clusters or lineage is there twice")
	}
	err = firstOf(
		func() error { return member(jsonvalue.Encode(head), rest, &d.Head) },
		func() error { return each(lists, "nodes", &d.Nodes) },
		func() error { return each(lists, "clusters", &d.Clusters) },
		func() error { return each(lists, "lineage", &d.Lineage) },
		d.check)
	if err != nil {
		return err
	}
	for i := range d.Clusters {
		is := d.Clusters[i]
		if d.derive(&is); !bytes.Equal(jsonvalue.Encode(is), jsonvalue.Encode(d.Clusters[i])) {
			return fmt.Errorf("clusters[%d]: first, last, dirty or summary: the rest says otherwise", i)
		}
	}
	return nil
}

// each reads the elements of a list.
func each[T any](lists map[string]json.RawMessage, key string, list *[]T) error {
	elements, err := jsonvalue.Elements(lists[key])
	switch {
	case lists[key] == nil:
		return fmt.Errorf("%s: missing", key)
	case err != nil:
		return fmt.Errorf("%s: not an array", key)
	case len(elements) > MaxNodes:
		return fmt.Errorf("%s: more than %d", key, MaxNodes)
	}
	*list = make([]T, len(elements))
	for i, raw := range elements {
		members, err := jsonvalue.Members(raw)
		if err == nil {
			err = member(raw, members, &(*list)[i])
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
	}
	return nil
}

// member reads an object into v. It refuses one that would be written with other members.
func member(raw json.RawMessage, members []jsonvalue.Member, v any) error {
	var bad *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, v); {
	case errors.As(err, &bad):
		return fmt.Errorf("%s: not as this form has it: %.40q", bad.Field, bad.Value)
	case err != nil:
		return err
	}
	want := jsonvalue.AsObject(jsonvalue.Encode(v)).Without()
	seen := map[string]bool{}
	for _, m := range members {
		value, known := want[m.Name]
		switch {
		case seen[m.Name]:
			return fmt.Errorf("key %.40q is there twice", m.Name)
		case known && !jsonvalue.Same(m.Value, value):
			return fmt.Errorf("%s: not as this form has it: %.80q", m.Name, m.Value)
		case known:
		case string(m.Value) == "[]" && (m.Name == "calls" || m.Name == "results"):
		case string(m.Value) == `""` || string(m.Value) == "0":
			return fmt.Errorf("%s: an empty one is left out", m.Name)
		default:
			return fmt.Errorf("unknown key: %.40q", m.Name)
		}
		seen[m.Name] = true
		delete(want, m.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return fmt.Errorf("%s: missing", name)
	}
	return nil
}
