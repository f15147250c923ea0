package bundle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// The files of a bundle that are not files of a store: what it is, first, and the digest of all
// before it, last.
const (
	bundleHead = "ctx-bundle"
	bundleSum  = "ctx-bundle.sum"
)

// bundleVersion is the version of the form that Bundle writes and Unbundle reads.
const bundleVersion = 1

// The largest files of each sort that a bundle may hold beside objects.
const (
	maxSmall = 1 << 20   // format, config.toml, .gitignore, key, the head and the sum
	maxRefs  = 512 << 20 // a checkpoint: a million refs
)

// bundleLimit says how large a file of a name may be; ok is false for a name that has no place in
// a store. It is the one check of names: nothing of another form, and so no path that leads
// elsewhere, gets in.
func bundleLimit(name string) (limit int64, ok bool) {
	switch name {
	case "format", "config.toml", ".gitignore", "key", store.NewKeyName:
		return maxSmall, true
	case "refs/checkpoint", "refs/base":
		return maxRefs, true
	}
	if n, found := strings.CutPrefix(name, "refs/log-"); found {
		return fsck.MaxSegment, isPlainNumber(n)
	}
	if n, found := strings.CutPrefix(name, "log/torn-"); found {
		return fsck.MaxSegment, isPlainNumber(n)
	}
	return objects.FileLimit(name)
}

func isPlainNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// head is the text of the first file: which store it is, and how far its log goes at least.
func bundleHeadText(store string, number uint64) []byte {
	return fmt.Appendf(nil, "ctx-bundle %d\nstore %s\noperation %d\n", bundleVersion, store, number)
}

// parseBundleHead reads what bundleHeadText wrote. *format.VersionError for a bundle of another
// version.
func parseBundleHead(b []byte) (store string, number uint64, err error) {
	bad := fmt.Errorf("not a bundle: %.40q", b)
	lines := strings.Split(string(b), "\n")
	v, ok := strings.CutPrefix(lines[0], "ctx-bundle ")
	if !ok || len(v) > 3 || !isPlainNumber(v) {
		return "", 0, bad
	}
	if version, _ := strconv.Atoi(v); version != bundleVersion {
		return "", 0, &format.VersionError{What: "bundle", Got: version, Known: bundleVersion}
	}
	if len(lines) != 4 {
		return "", 0, bad
	}
	store, okStore := strings.CutPrefix(lines[1], "store ")
	n, okNumber := strings.CutPrefix(lines[2], "operation ")
	if !okStore || !okNumber || !format.IsStoreID(store) || !isPlainNumber(n) {
		return "", 0, bad
	}
	number, err = strconv.ParseUint(n, 10, 64)
	if err != nil || string(bundleHeadText(store, number)) != string(b) {
		return "", 0, bad
	}
	return store, number, nil
}
