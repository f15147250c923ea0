package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// call is a tool call as far as it is compared.
type call struct {
	key string // a digest of name and arguments
	id  string // a digest of its id; "" where it has none
}

func newCall(id, name string, args []byte) (call, error) {
	canonical, err := canonical(args)
	if err != nil {
		return call{}, err
	}
	c := call{key: digest(name + ":" + string(canonical))}
	if id != "" {
		c.id = digest(id)
	}
	return c, nil
}

// known reports whether a call was told before.
func (c call) known(list []call) bool {
	return c.id != "" && slices.ContainsFunc(list, func(old call) bool { return old.id == c.id })
}

// cycleOf returns the length of the shortest cycle that the newest calls have gone through often
// enough, or 0.
func cycleOf(calls []call) int {
	for cycle := 1; cycle <= maxCycle && cycle*callTimes <= len(calls); cycle++ {
		last := calls[len(calls)-cycle*callTimes:]
		same := true
		for i := cycle; i < len(last) && same; i++ {
			same = last[i].key == last[i-cycle].key
		}
		if same {
			return cycle
		}
	}
	return 0
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

var errNotJSON = errors.New("arguments are not one JSON value")

// canonical returns arguments in one form: members by name, no white space, and numbers that are
// equal written alike. No arguments and null are the empty object, as some models leave out what
// others send empty.
func canonical(args []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	switch err := d.Decode(&v); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errNotJSON, err)
	default:
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errNotJSON
		}
	}
	if v == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(plain(v)) // sorts members
}

// plain puts the numbers of a decoded value in one form.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = plain(member)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		return number(v)
	}
	return v
}

// number writes equal numbers alike. An integer that a float64 cannot tell from its neighbours
// stays as it is: two long ids are two calls.
func number(n json.Number) json.Number {
	text := n.String()
	if digits := strings.TrimPrefix(text, "-"); len(digits) > 15 &&
		!strings.ContainsAny(digits, ".eE") {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return n // past all bounds
	}
	if f == 0 {
		return "0" // not -0
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
