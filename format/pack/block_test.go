package pack

import (
	"bytes"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func TestSmoke(t *testing.T) {
	var key Key
	key[0] = 1
	body := func(lines, text string) Object {
		n := newNonces(key).of([]byte(lines))
		b := append(append([]byte{}, n...), text...)
		h := []byte(lines)
		h = append(h, (&format.Body{}).Media...)
		sum := format.Sum(b)
		h = append(h, "body sha256:"+sum.String()+" "+itoa(len(b))+" text/plain\n"...)
		return Object{ID: format.Sum(h), Header: h, Body: b}
	}
	a := body("entry 1\nseq 1\nsession x y\ntime 2026-11-21T00:42:09.328Z\n", "hello")
	b := body("entry 1\nparent "+a.ID.String()+"\nseq 2\nsession x y\ntime 2026-11-21T00:42:09.329Z\ninterim\n", "hello2")
	c := body("strange 1\nx \x01\n", "z")
	raw, d := Encode([]Object{a, b, c}, key, nil)
	t.Logf("%q", raw)
	got, err := Decode(raw, 3, d, key, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range []Object{a, b, c} {
		if !bytes.Equal(o.Header, got[i].Header) || !bytes.Equal(o.Body, got[i].Body) {
			t.Errorf("%q %q", got[i].Header, got[i].Body)
		}
	}
}
func itoa(n int) string { return string(appendN(nil, n)) }
func appendN(b []byte, n int) []byte {
	if n >= 10 {
		b = appendN(b, n/10)
	}
	return append(b, byte('0'+n%10))
}
