package bundle

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// tarBlock is a header of an archive, made by hand: no library writes what a hostile bundle has.
func tarBlock(name string, kind byte, size int64) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000600\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "00000000000\x00        ")
	b[156] = kind
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

func padded(b []byte) []byte { return append(b, make([]byte, (512-len(b)%512)%512)...) }

// paxRecord is one line of an extended header, which counts itself.
func paxRecord(key, value string) string {
	for n := len(key) + len(value) + 3; ; n++ {
		if line := fmt.Sprintf("%d %s=%s\n", n, key, value); len(line) == n {
			return line
		}
	}
}

// TestBundleWithHoles: a file with holes in a bundle of a few kilobytes would be a gigabyte when
// it is unpacked.
func TestBundleWithHoles(t *testing.T) {
	const huge = 1 << 30
	name := "objects/pack/pack-" + strings.Repeat("ab", 32) + ".pack"
	pax := paxRecord("GNU.sparse.major", "1") + paxRecord("GNU.sparse.minor", "0") +
		paxRecord("GNU.sparse.name", name) + paxRecord("GNU.sparse.realsize", fmt.Sprint(huge))
	var b bytes.Buffer
	s := kit.Create(t)
	whole := filepath.Join(durabletest.TempDir(t), "whole")
	storetest.Must[Report](t)(Write(context.Background(), s.Opened, whole, nil))
	head := storetest.Must[[]byte](t)(os.ReadFile(whole))[:1024] // the first file says what follows
	b.Write(head)
	b.Write(tarBlock("pax", 'x', int64(len(pax))))
	b.Write(padded([]byte(pax)))
	b.Write(tarBlock("sparse", '0', 512))
	b.Write(padded([]byte("1\n" + fmt.Sprint(huge) + "\n0\n")))
	b.Write(make([]byte, 1024))
	file := filepath.Join(durabletest.TempDir(t), "holes")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	project := durabletest.TempDir(t)
	_, err := Unpack(context.Background(), storetest.Env(project, nil), file, project)
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Fatalf("%v", err)
	}
	if left := kit.Files(t, project); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
