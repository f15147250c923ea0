package forestfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
	var in struct {
		Head
		Nodes    []json.RawMessage `json:"nodes"`
		Clusters []json.RawMessage `json:"clusters"`
		Lineage  []json.RawMessage `json:"lineage"`
	}
	if len(b) > MaxBytes {
		return fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	if err := jsonvalue.Exact(b, &in); err != nil {
		return err
	}
	if d.Head = in.Head; d.Version != version {
		return fmt.Errorf("version %d is not known here: this build reads version %d", d.Version,
			version)
	}
	members := jsonvalue.AsObject(b)
	err := firstOf(
		func() error {
			return same(jsonvalue.Encode(members.Without("nodes", "clusters", "lineage")), d.Head)
		},
		func() error { return each(in.Nodes, "nodes", &d.Nodes) },
		func() error { return each(in.Clusters, "clusters", &d.Clusters) },
		func() error { return each(in.Lineage, "lineage", &d.Lineage) },
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
func each[T any](elements []json.RawMessage, key string, list *[]T) error {
	if elements == nil || len(elements) > MaxNodes {
		return fmt.Errorf("%s: not an array of at most %d", key, MaxNodes)
	}
	*list = make([]T, len(elements))
	for i, raw := range elements {
		err := jsonvalue.Exact(raw, &(*list)[i])
		if err == nil {
			err = same(raw, &(*list)[i])
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
	}
	return nil
}

// same refuses a value that would be written with other members.
func same(raw json.RawMessage, v any) error {
	if !jsonvalue.Same(raw, jsonvalue.Encode(v)) {
		return errors.New("a key is missing, or has another case, or an empty one is there")
	}
	return nil
}
