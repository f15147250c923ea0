package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// A pipe is read whole and in order, whatever the sizes of its pieces.
func TestInterruptibleReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want bytes.Buffer
	for i := range 50_000 {
		want.WriteByte(byte(i * 7 % 251))
		want.WriteByte(byte(i >> 8))
	}
	go func() {
		for b := want.Bytes(); len(b) > 0; {
			n := min(len(b), 1+len(b)%7919)
			_, _ = w.Write(b[:n])
			b = b[n:]
		}
		_ = w.Close()
	}()
	got, err := io.ReadAll(interruptible(context.Background(), func() {}, r))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d bytes, %v; %d were written", len(got), err, want.Len())
	}
}

// A read that waits ends when its context does.
func TestInterruptibleEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	c, cancel := context.WithCancel(context.Background())
	in := interruptible(c, func() {}, r)
	cancel()
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Revisions come one by one, with or without a last line end, and a line that is too long is an
// error, not two.
func TestReadRev(t *testing.T) {
	for _, c := range []struct {
		in   string
		nul  bool
		want []string
		bad  bool
	}{
		{"a\nb\n", false, []string{"a", "b"}, false},
		{"a\r\nb", false, []string{"a", "b"}, false},
		{"a\nb\x00c\x00", true, []string{"a\nb", "c"}, false},
		{"", false, nil, false},
		{"\n", false, []string{""}, false},
		{"a\n" + strings.Repeat("x", maxRev+1), false, []string{"a"}, true},
	} {
		in := bufio.NewReaderSize(strings.NewReader(c.in), maxRev)
		var got []string
		rev, err := readRev(in, c.nul)
		for ; err == nil; rev, err = readRev(in, c.nul) {
			got = append(got, rev)
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) ||
			errors.Is(err, io.EOF) == c.bad {
			t.Errorf("%.20q: %q, %v", c.in, got, err)
		}
	}
}
