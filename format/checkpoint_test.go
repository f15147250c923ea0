package format_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// resum changes the lines of a checkpoint and gives it a matching checksum.
func resum(b []byte, old, new string) []byte {
	lines := string(b[:strings.LastIndex(string(b), "sum ")])
	if !strings.Contains(lines, old) {
		panic("nothing to change: " + old)
	}
	return summed([]byte(strings.Replace(lines, old, new, 1)))
}

// summed appends the checksum line to a checkpoint's other lines.
func summed(lines []byte) []byte {
	return fmt.Appendf(nil, "%ssum %x\n", lines, sha256.Sum256(lines))
}

func TestCheckpointRefuses(t *testing.T) {
	good := codecOf(t, "checkpoint").samples[0]
	tests := []struct{ old, new, want string }{
		{"checkpoint 1", "checkpoints 1", "was expected"},
		{"checkpoint 1", "checkpoint 2", "version 2"},
		{"store ", "store 0", "not a store id"},
		{"operation 1 ", "operation 0 ", "do not agree"},
		{"operation 1 ", "operation 01 ", "not a number"},
		{"operation 1 ", "operation 1 x", "not an id"},
		{"log 1 354", "log 1", "1 fields"},
		{"log 1 354", "log 1 0354", "not a number"},
		{"ref HEAD name ", "ref HEAD names ", "not a ref value"},
		{"ref HEAD name ", "head ", "unknown or misplaced line"},
		{"ref HEAD name ", "ref HEAD name x", ""},
		{"ref HEAD ", "ref z ", "ascending"},
		{"ref HEAD ", "ref forests/main ", "ascending"},
		{"ref HEAD ", "ref /HEAD ", "name is empty"},
		{"ref HEAD ", "ref a//b ", "name is empty"},
		{"ref HEAD ", "ref ../b ", "name is"},
		{"ref HEAD ", "ref a%2Fb ", "bad name"},
		{"ref HEAD ", "ref %41 ", "bad name"},
		{"ref HEAD ", "ref %0A ", "starts or ends with a space"},
		{"ref HEAD ", "ref a%0Ab ", "control"},
		{" 2 ", " 0 ", "through is not past frontier"},
		{"ref user", "\nref user", "unknown or misplaced line"},
	}
	for _, tt := range tests {
		_, err := format.DecodeCheckpoint(resum(good, tt.old, tt.new))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q for %q: %v", tt.new, tt.old, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%q for %q: got error %v, want %q", tt.new, tt.old, err, tt.want)
		}
	}
}

func TestCheckpointDamage(t *testing.T) {
	good := codecOf(t, "checkpoint").samples[0]
	for i := range good {
		for bit := range 8 {
			d := append([]byte{}, good...)
			d[i] ^= 1 << bit
			if _, err := format.DecodeCheckpoint(d); err == nil {
				t.Fatalf("bit %d of byte %d flipped, and accepted", bit, i)
			}
		}
	}
}

func TestCheckpointVersion(t *testing.T) {
	_, err := format.DecodeCheckpoint(resum(codecOf(t, "checkpoint").samples[0], "checkpoint 1",
		"checkpoint 2"))
	var v *format.VersionError
	if !errors.As(err, &v) || v.Got != 2 {
		t.Errorf("got %v, want a VersionError", err)
	}
}

func TestCheckpointEncodeRefuses(t *testing.T) {
	tests := map[string]func(*format.Checkpoint){
		"store id":            func(c *format.Checkpoint) { c.Store = "x" },
		"digest without one":  func(c *format.Checkpoint) { c.Number = 0 },
		"operation without":   func(c *format.Checkpoint) { c.Digest = format.ID{} },
		"ref without a value": func(c *format.Checkpoint) { c.Refs[0].Value = format.Value{} },
		"ref without a name":  func(c *format.Checkpoint) { c.Refs[0].Name = "" },
		"order": func(c *format.Checkpoint) {
			c.Refs[0], c.Refs[1] = c.Refs[1], c.Refs[0]
		},
		"bad value": func(c *format.Checkpoint) { c.Refs[0].Value.Through = 1 },
	}
	for name, change := range tests {
		c := sampleCheckpoint()
		change(c)
		if _, err := c.Encode(); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
}
