package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// replaceClaim is the name of what somebody is to write a text for, taken apart: entries and parts of a branch, or a cluster. Like every claim it
// reserves nothing; its name alone proves what was claimed, and each mark what was read of it.
type replaceClaim struct {
	session, branch string
	targets         []claimedTarget

	cluster bool      // over the members of node, and nothing else of this
	node    format.ID // of a beginning of a cluster
	mark    string    // of the cluster
}

// claimedTarget is a target as it was seen.
type claimedTarget struct {
	format.Target
	mark string // of its version and masks; "" for a message as it was said first
}

// maxTargets is how many entries and parts a claim may have.
const maxTargets = 4096

// The words that the names of claims begin with.
const (
	claimEntries = "entries"
	claimCluster = "cluster"
)

// String is the claim's name: `entries.ID[_PART][~MARK],….SESSION/BRANCH`, or `cluster.NODE[.MARK]`.
func (c *replaceClaim) String() string {
	if c.cluster {
		s := claimCluster + "." + c.node.String()
		if c.mark != "" {
			s += "." + c.mark
		}
		return s
	}
	list := make([]string, len(c.targets))
	for i, t := range c.targets {
		list[i] = t.Entry.String()
		if t.Part != format.WholeEntry {
			list[i] += "_" + strconv.Itoa(t.Part)
		}
		if t.mark != "" {
			list[i] += "~" + t.mark
		}
	}
	// Both were checked when the branch was found.
	session, _ := format.EncodeName(c.session)
	branch, _ := format.EncodeName(c.branch)
	return claimEntries + "." + strings.Join(list, ",") + "." + session + "/" + branch
}

// parseReplaceClaim reads what String writes, and nothing else.
func parseReplaceClaim(s string) (*replaceClaim, error) {
	bad := fmt.Errorf("%w: not the id of a claim: %q", ErrInput, clip(s))
	c := &replaceClaim{}
	kind, rest, _ := strings.Cut(s, ".")
	head, tail, more := strings.Cut(rest, ".")
	switch kind {
	case claimCluster:
		node, err := format.ParseID(head)
		if err != nil || more && !isMark(tail) {
			return nil, bad
		}
		c.cluster, c.node, c.mark = true, node, tail
	case claimEntries:
		session, branch, ok := strings.Cut(tail, "/")
		if !ok || strings.Count(head, ",") >= maxTargets {
			return nil, bad
		}
		var errs [2]error
		c.session, errs[0] = format.DecodeName(session)
		c.branch, errs[1] = format.DecodeName(branch)
		if errs[0] != nil || errs[1] != nil || format.CheckName(c.session) != nil || format.CheckName(c.branch) != nil {
			return nil, bad
		}
		for one := range strings.SplitSeq(head, ",") {
			t, ok := parseClaimed(one)
			if !ok {
				return nil, bad
			}
			c.targets = append(c.targets, t)
		}
		if checkTargets(plainTargets(c.targets)) != nil {
			return nil, bad
		}
	default:
		return nil, bad
	}
	if c.String() != s {
		return nil, bad
	}
	return c, nil
}

func parseClaimed(s string) (t claimedTarget, ok bool) {
	t.Part = format.WholeEntry
	s, mark, marked := strings.Cut(s, "~")
	if marked && !isMark(mark) {
		return t, false
	}
	t.mark = mark
	id, part, hasPart := strings.Cut(s, "_")
	if hasPart {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return t, false
		}
		t.Part = n
	}
	var err error
	t.Entry, err = format.ParseID(id)
	return t, err == nil
}

func isMark(s string) bool { return len(s) == markLen && isHex(s) }

func plainTargets(list []claimedTarget) []format.Target {
	out := make([]format.Target, len(list))
	for i, t := range list {
		out[i] = t.Target
	}
	return out
}

// checkTargets returns ErrInput for targets of which one is there twice, or is a part of another.
func checkTargets(list []format.Target) error {
	whole, seen := map[format.ID]bool{}, map[format.Target]bool{}
	for _, t := range list {
		if seen[t] {
			return fmt.Errorf("%w: %v twice", ErrInput, t)
		}
		seen[t] = true
		whole[t.Entry] = whole[t.Entry] || t.Part == format.WholeEntry
	}
	for _, t := range list {
		if t.Part != format.WholeEntry && whole[t.Entry] {
			return fmt.Errorf("%w: %v, and all of it", ErrInput, t)
		}
	}
	return nil
}

// CheckReplaceClaim returns ErrInput for what cannot be the name of a claim of BeginReplace.
func CheckReplaceClaim(s string) error {
	_, err := parseReplaceClaim(s)
	return err
}

// targetMark is the mark of a message or a part of it as it is shown: "" where these are the words as they were said first.
func targetMark(t format.Target, version format.ID, es *edits) string {
	h := sha256.New()
	plain := true
	if version != t.Entry {
		plain = false
		fmt.Fprintf(h, "version %v\n", version)
	}
	short := es.masks[t.Entry]
	for _, part := range slices.Sorted(maps.Keys(short)) {
		if t.Part == format.WholeEntry || t.Part == part {
			plain = false
			fmt.Fprintf(h, "mask %d %x\n", part, sha256.Sum256([]byte(short[part])))
		}
	}
	for _, r := range es.list {
		for _, have := range r.Targets {
			if have.Entry == t.Entry && have.Part != format.WholeEntry && (t.Part == format.WholeEntry || t.Part == have.Part) {
				plain = false
				fmt.Fprintf(h, "replaced %d %v\n", have.Part, r.id)
			}
		}
	}
	if plain {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))[:markLen]
}
