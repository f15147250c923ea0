package epoch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// canonical returns the form in which a JSON value is compared and stored: no white
// space, members by name in UTF-16 order, strings without needless escapes, and numbers as RFC 8785
// writes them. One point differs from RFC 8785: a number with more digits than a double holds keeps
// all of them, so that two ids of 19 digits stay two. CanonicalizeRawInts and CanonicalizeRawFloats
// of jsontext cannot do that, so numbers are written here.
//
// It fails if b is not one JSON value in UTF-8, if an object has two members of one name, if a
// string has half of a surrogate pair, and if a number has an exponent of more than four digits.
func canonical(b []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(b))
	if err := v.Format(jsontext.ReorderRawObjects(true)); err != nil {
		var syntax *jsontext.SyntacticError
		if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax) {
			return nil, fmt.Errorf("name twice in an object: %.80q", syntax.JSONPointer.LastToken())
		}
		return nil, errors.New("not one JSON value in UTF-8")
	}
	return jsonvalue.Rewrite(v, canonicalScalar)
}

// canonicalScalar writes equal numbers alike, and leaves strings and literals as they are.
func canonicalScalar(scalar []byte) ([]byte, error) {
	if scalar[0] != '-' && (scalar[0] < '0' || scalar[0] > '9') {
		return scalar, nil
	}
	return canonicalNumber(string(scalar))
}

// maxExponent is the farthest that the first digit of a number may be from the decimal point.
const maxExponent = 9999

func canonicalNumber(text string) ([]byte, error) {
	abs, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(abs), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e, err := strconv.Atoi(cmp.Or(strings.TrimPrefix(exponent, "+"), "0"))
	digits := strings.TrimLeft(whole+fraction, "0")
	point := len(digits) - len(fraction) + e // the value is 0.digits × 10^point
	digits = strings.TrimRight(digits, "0")
	switch {
	case err == nil && digits == "" && -maxExponent <= e && e <= maxExponent:
		return []byte("0"), nil // minus zero is the same
	case err != nil || digits == "" || point > maxExponent || point < -maxExponent:
		return nil, fmt.Errorf("number out of range: %.40q", text)
	case negative:
		return []byte("-" + plainNumber(digits, point)), nil
	}
	return []byte(plainNumber(digits, point)), nil
}

// plainNumber writes the number 0.digits × 10^point, as ECMAScript does.
func plainNumber(digits string, point int) string {
	n := len(digits)
	switch {
	case n <= point && point <= 21:
		return digits + strings.Repeat("0", point-n)
	case 0 < point && point <= 21:
		return digits[:point] + "." + digits[point:]
	case -6 < point && point <= 0:
		return "0." + strings.Repeat("0", -point) + digits
	case n == 1:
		return fmt.Sprintf("%se%+d", digits, point-1)
	}
	return fmt.Sprintf("%s.%se%+d", digits[:1], digits[1:], point-1)
}
