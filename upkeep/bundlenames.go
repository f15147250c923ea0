package upkeep

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// The files of a bundle that are not files of a store: what it is, first, and the digest of all before it, last.
const (
	bundleHead = "ctx-bundle"
	bundleSum  = "ctx-bundle.sum"
)

// bundleVersion is the version of the form that Bundle writes and Unbundle reads.
const bundleVersion = 1

// The largest files of each sort that a bundle may hold; a pack is bounded by the disk alone.
const (
	maxSmall      = 1 << 20                                      // format, config.toml, .gitignore, key, the head and the sum
	maxRefs       = 512 << 20                                    // a checkpoint: a million refs
	maxSegment    = refs.SegmentSize + format.MaxPayload + 1<<20 // the last record of a segment may be as long as a record can be
	maxLooseFile  = format.MaxHeader + 1 + format.MaxBody
	maxBundlePack = 1 << 40
)

// bundleLimit says how large a file of a name may be; ok is false for a name that has no place in a store. It is the one check of names:
// nothing of another form, and so no path that leads elsewhere, gets in.
func bundleLimit(name string) (limit int64, ok bool) {
	switch name {
	case "format", "config.toml", ".gitignore", "key", session.NewKeyName:
		return maxSmall, true
	case "refs/checkpoint", "refs/base":
		return maxRefs, true
	}
	if n, found := strings.CutPrefix(name, "refs/log-"); found {
		return maxSegment, isPlainNumber(n)
	}
	if n, found := strings.CutPrefix(name, "log/torn-"); found {
		return maxSegment, isPlainNumber(n)
	}
	if rest, found := strings.CutPrefix(name, "objects/pack/pack-"); found {
		hex, isPack := strings.CutSuffix(rest, ".pack")
		if !isPack {
			hex, isPack = strings.CutSuffix(rest, ".idx")
		}
		_, err := format.ParseID(hex)
		return maxBundlePack, isPack && err == nil
	}
	if rest, found := strings.CutPrefix(name, "objects/"); found {
		return maxLooseFile, isFanned(rest)
	}
	if n, found := strings.CutPrefix(name, "absent/forget-"); found {
		return session.MaxForgetFile, isPlainNumber(n)
	}
	if rest, found := strings.CutPrefix(name, "absent/"); found {
		return maxAbsentFile, isFanned(rest)
	}
	return 0, false
}

func isPlainNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// isFanned accepts xx/yyyy…, the digits of an id.
func isFanned(s string) bool {
	xx, rest, ok := strings.Cut(s, "/")
	_, err := format.ParseID(xx + rest)
	return ok && len(xx) == 2 && err == nil
}

// head is the text of the first file: which store it is, and how far its log goes at least.
func bundleHeadText(store string, number uint64) []byte {
	return fmt.Appendf(nil, "ctx-bundle %d\nstore %s\noperation %d\n", bundleVersion, store, number)
}

// parseBundleHead reads what bundleHeadText wrote. *format.VersionError for a bundle of another version.
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
