package format

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlock: a payload of a block says how many bytes its frame unpacks to, within bounds.
func TestBlock(t *testing.T) {
	for _, plain := range []int{1, 309, MaxRecord} {
		payload := BlockPayload(plain, []byte("frame"))
		n, frame, err := CutBlock(payload)
		if n != plain || string(frame) != "frame" || err != nil {
			t.Errorf("%d bytes: %d, %q, %v", plain, n, frame, err)
		}
		if record := AppendRecord(nil, payload); !BeginsDense(record) ||
			RecordLength(record) != len(record) {
			t.Errorf("%d bytes: the record is none of a dense segment", plain)
		}
	}
	for _, payload := range [][]byte{nil, {DensePayload}, BlockPayload(0, nil),
		BlockPayload(MaxRecord+1, nil)} {
		if _, _, err := CutBlock(payload); err == nil {
			t.Errorf("%x is a block", payload)
		}
	}
	var version *VersionError
	if _, _, err := CutBlock([]byte{5, 1}); !errors.As(err, &version) {
		t.Errorf("a block of form 5: %v", err)
	}
	if err := CheckEarly(AppendRecord(nil, []byte{3, 1})); !errors.As(err, &version) ||
		!version.Early || CheckEarly(AppendRecord(nil, []byte{4, 1})) != nil {
		t.Errorf("a block of form 3: %v", err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "format", "dense-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := hex.EncodeToString(BlockPayload(309, nil)); !strings.Contains(string(page),
		"`"+want+"`") {
		t.Errorf("the page does not have the example %s", want)
	}
}
