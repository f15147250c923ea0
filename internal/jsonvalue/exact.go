package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Exact decodes one JSON value, and nothing after it, into v. It refuses what is not Unicode, a
// member that is there twice, one that v does not have, and a value of another kind. An error says
// which it is, in a line.
func Exact(value []byte, v any) error {
	text := jsontext.NewDecoder(bytes.NewBuffer(value))
	err := text.SkipValue()
	var bad *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &bad):
		return fmt.Errorf("%.80q twice", bad.JSONPointer)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return errors.New("not JSON in Unicode: it ends too early")
	case errors.As(err, &bad):
		return fmt.Errorf("not JSON in Unicode from byte %d on", bad.ByteOffset)
	case err != nil:
		return errors.New("not JSON in Unicode")
	}
	if _, err := text.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	in := json.NewDecoder(bytes.NewReader(value))
	in.DisallowUnknownFields()
	err = in.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("%.40q in place of the object", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: %.40q is of another kind",
			wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], wrong.Value)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
