package format_test

import (
	"bytes"
	"errors"
	"testing"
)

var errDigest = errors.New("digest or length changed on the way")

func TestSamplesRoundTrip(t *testing.T) {
	for _, c := range codecs(t) {
		for i, b := range c.samples {
			again, err := c.again(b)
			if err != nil {
				t.Errorf("%s %d: %v", c.name, i, err)
			} else if !bytes.Equal(again, b) {
				t.Errorf("%s %d: got %q, want %q", c.name, i, again, b)
			}
		}
	}
}

// TestDamageNeverPrintsOtherwise changes every sample in every place. Bytes that are still accepted
// must encode to the same bytes again.
func TestDamageNeverPrintsOtherwise(t *testing.T) {
	for _, c := range codecs(t) {
		accepted := 0
		for i, b := range c.samples {
			for _, d := range damaged(b) {
				again, err := c.again(d)
				if err != nil || bytes.Equal(d, b) {
					continue
				}
				accepted++
				if !bytes.Equal(again, d) {
					t.Fatalf("%s %d: %q was accepted and prints as %q", c.name, i, d, again)
				}
			}
		}
		t.Logf("%s: %d damaged samples are well-formed", c.name, accepted)
	}
}

// damaged returns copies of b with one byte changed, left out or doubled, and with one line left
// out, doubled, or swapped with the next line.
func damaged(b []byte) [][]byte {
	var out [][]byte
	places := min(len(b), 700)
	for i := range places {
		for _, x := range []byte{1, 0x20, 0x80} {
			d := bytes.Clone(b)
			d[i] ^= x
			out = append(out, d)
		}
		out = append(out, append(bytes.Clone(b[:i]), b[i+1:]...))
		out = append(out, append(bytes.Clone(b[:i+1]), b[i:]...))
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	for i := range lines {
		out = append(out, bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil))
		out = append(out, bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil))
		if i > 0 {
			swapped := append([][]byte{}, lines...)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			out = append(out, bytes.Join(swapped, nil))
		}
	}
	return out
}

func TestCutInsideALineIsRefused(t *testing.T) {
	for _, c := range codecs(t) {
		for i, b := range c.samples {
			for n := range b {
				if n > 0 && b[n-1] == '\n' && c.name != "operation" {
					continue // a kind that ends in a list may lose whole lines at its end
				}
				if _, err := c.again(b[:n]); err == nil {
					t.Errorf("%s %d: the first %d of %d bytes were accepted", c.name, i, n, len(b))
				}
			}
		}
	}
}
