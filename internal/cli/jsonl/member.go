package jsonl

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ErrUnknown is for field, about a key that it does not know.
var ErrUnknown = errors.New("unknown key")

// EachField calls field for the members of a JSON object that are not null, in order. unknown gets
// the keys for which field returns ErrUnknown. Any other error of field ends the call, and gets the
// key in front of it. EachField fails if object is not one valid JSON object.
func EachField(
	object []byte, unknown func(key string), field func(key string, value []byte) error,
) error {
	members, err := jsonvalue.Members(object)
	if err != nil {
		return err
	}
	for _, m := range members {
		if string(m.Value) == "null" {
			continue
		}
		switch err := field(m.Name, m.Value); {
		case errors.Is(err, ErrUnknown):
			unknown(m.Name)
		case err != nil:
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}
