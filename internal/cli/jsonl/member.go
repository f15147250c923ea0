package jsonl

import "github.com/gemini-ctx/ctx/internal/jsonvalue"

// EachMember calls each for the members of a JSON object, in order, with the text of the key and
// the bytes of the value. It fails if object is not one valid JSON object, or if each fails.
func EachMember(object []byte, each func(key, value []byte) error) error {
	members, err := jsonvalue.Members(object)
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := each([]byte(m.Name), m.Value); err != nil {
			return err
		}
	}
	return nil
}
