// A claim asks a worker for a text, which `ctx compact` makes a summary and `ctx replace` a
// replacement. The worker returns the text with the id of the claim. A claim reserves nothing: its
// id alone proves what the worker has read. This file reads and writes the ids; claim.go compares a
// claim with the present cluster. Begin with Run, Replacement and Marker.

package summaries

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// markLen is the number of hexadecimal digits of a mark. A mark detects changes, it is no proof
// against forgery: 64 bits are enough.
const markLen = 16

// Marker computes the mark of a claim: a digest of everything that was read besides the messages in
// their first version. The zero Marker is ready.
type Marker struct{ digest hash.Hash }

// Add adds a line to what the mark is a digest of.
func (m *Marker) Add(line string, args ...any) {
	if m.digest == nil {
		m.digest = sha256.New()
	}
	fmt.Fprintf(m.digest, line+"\n", args...)
}

// String returns the mark, or "" if nothing was added.
func (m *Marker) String() string {
	if m.digest == nil {
		return ""
	}
	return hex.EncodeToString(m.digest.Sum(nil))[:markLen]
}

func isMark(s string) bool { return len(s) == markLen && strings.Trim(s, "0123456789abcdef") == "" }

// Run names a run of members of a cluster. Its id is NODE for the first members of a cluster in
// their first version, else NODE.CLUSTER.OFFSET.COUNT[.MARK]; with Replaces it is
// cluster.NODE[.MARK] and the run begins the cluster.
type Run struct {
	Node                   format.ID // over the members
	Placed                 bool      // Cluster, Offset and Count are known
	Cluster, Offset, Count uint64
	Mark                   string // "" or a mark
	Replaces               bool   // the text takes the place of the summaries of the run
}

// The first words of the ids of replacements.
const (
	clusterPrefix = "cluster."
	entriesPrefix = "entries."
)

func (r Run) String() string {
	s := r.Node.String()
	if r.Replaces {
		s = clusterPrefix + s
	}
	if r.Placed {
		s += fmt.Sprintf(".%d.%d.%d", r.Cluster, r.Offset, r.Count)
	}
	if r.Mark != "" {
		s += "." + r.Mark
	}
	return s
}

func badID(s string) error {
	return fmt.Errorf("%w: not the id of a claim: %q", history.ErrInput, history.Clip(s))
}

// ParseSummary reads the id of a claim of `ctx compact`. It returns ErrInput for anything that
// Run.String does not write.
func ParseSummary(s string) (Run, error) {
	r, ok := parseRun(s)
	if !ok || r.Replaces {
		return Run{}, badID(s)
	}
	return r, nil
}

// CheckSummary returns the error of ParseSummary.
func CheckSummary(s string) error {
	_, err := ParseSummary(s)
	return err
}

func parseRun(s string) (r Run, ok bool) {
	s, r.Replaces = strings.CutPrefix(s, clusterPrefix)
	fields := strings.Split(s, ".")
	var err error
	if r.Node, err = format.ParseID(fields[0]); err != nil {
		return r, false
	}
	fields = fields[1:]
	places := []*uint64{&r.Cluster, &r.Offset, &r.Count}
	if r.Placed = !r.Replaces && len(fields) > 0; r.Placed {
		if len(fields) < len(places) {
			return r, false
		}
		for i, p := range places {
			*p, err = strconv.ParseUint(fields[i], 10, 63)
			if err != nil || strconv.FormatUint(*p, 10) != fields[i] {
				return r, false
			}
		}
		fields = fields[len(places):]
	}
	if len(fields) > 0 {
		r.Mark = fields[0]
	}
	return r, len(fields) <= 1 && (len(fields) == 0 || isMark(r.Mark)) && (!r.Placed || r.Count > 0)
}

// Target is a message or a part of one in the state in which the worker has seen it.
type Target struct {
	format.Target
	Mark string // of its version and masks; "" for a message in its first version
}

// Replacement names what a text replaces: targets of a branch, or a run. The id of targets is
// entries.ID[_PART][~MARK],….SESSION/BRANCH, with both names encoded.
type Replacement struct {
	Run             *Run // nil for targets
	Session, Branch string
	Targets         []Target
}

// MaxTargets is the largest number of targets of a claim.
const MaxTargets = 4096

func (c *Replacement) String() string {
	if c.Run != nil {
		return c.Run.String()
	}
	list := make([]string, len(c.Targets))
	for i, t := range c.Targets {
		list[i] = t.Entry.String()
		if t.Part != format.WholeEntry {
			list[i] += "_" + strconv.Itoa(t.Part)
		}
		if t.Mark != "" {
			list[i] += "~" + t.Mark
		}
	}
	// The store and ParseReplacement refuse names that EncodeName refuses.
	session, _ := format.EncodeName(c.Session)
	branch, _ := format.EncodeName(c.Branch)
	return entriesPrefix + strings.Join(list, ",") + "." + session + "/" + branch
}

// Plain returns the targets without marks.
func (c *Replacement) Plain() []format.Target {
	out := make([]format.Target, len(c.Targets))
	for i, t := range c.Targets {
		out[i] = t.Target
	}
	return out
}

// ParseReplacement reads the id of a claim of `ctx replace`. It returns ErrInput for anything that
// Replacement.String does not write.
func ParseReplacement(s string) (*Replacement, error) {
	if run, ok := parseRun(s); ok && run.Replaces {
		return &Replacement{Run: &run}, nil
	}
	c, ok := parseTargets(s)
	if !ok || CheckTargets(c.Plain()) != nil || c.String() != s {
		return nil, badID(s)
	}
	return c, nil
}

// CheckReplacement returns the error of ParseReplacement.
func CheckReplacement(s string) error {
	_, err := ParseReplacement(s)
	return err
}

func parseTargets(s string) (c *Replacement, ok bool) {
	rest, isEntries := strings.CutPrefix(s, entriesPrefix)
	list, names, _ := strings.Cut(rest, ".")
	session, branch, hasBranch := strings.Cut(names, "/")
	if !isEntries || !hasBranch || strings.Count(list, ",") >= MaxTargets {
		return nil, false
	}
	c = &Replacement{}
	for _, name := range []struct {
		to   *string
		from string
	}{{&c.Session, session}, {&c.Branch, branch}} {
		var err error
		if *name.to, err = format.DecodeName(name.from); err != nil ||
			format.CheckName(*name.to) != nil {
			return nil, false
		}
	}
	for field := range strings.SplitSeq(list, ",") {
		t, ok := parseTarget(field)
		if !ok {
			return nil, false
		}
		c.Targets = append(c.Targets, t)
	}
	return c, true
}

func parseTarget(s string) (t Target, ok bool) {
	s, mark, marked := strings.Cut(s, "~")
	id, part, hasPart := strings.Cut(s, "_")
	entry, err := format.ParseID(id)
	t = Target{Target: format.Target{Entry: entry, Part: format.WholeEntry}, Mark: mark}
	if err != nil || marked && !isMark(mark) {
		return t, false
	}
	if hasPart {
		t.Part, err = strconv.Atoi(part)
	}
	return t, err == nil && (!hasPart || t.Part >= 0)
}

// ParseTarget reads a target as format.Target.String writes it: ID, or ID.PART.
func ParseTarget(s string) (t format.Target, err error) {
	entry, part, isPart := strings.Cut(s, ".")
	t.Part = format.WholeEntry
	if t.Entry, err = format.ParseID(entry); err == nil && isPart {
		t.Part, err = strconv.Atoi(part)
	}
	if err != nil || t.String() != s {
		return t, fmt.Errorf("%w: neither ID nor ID.PART: %q", history.ErrInput, history.Clip(s))
	}
	return t, nil
}

// CheckTargets returns ErrInput if a target occurs twice, or a part occurs together with its whole
// message.
func CheckTargets(list []format.Target) error {
	seen := map[format.Target]bool{}
	for _, t := range list {
		if seen[t] {
			return fmt.Errorf("%w: %v twice", history.ErrInput, t)
		}
		seen[t] = true
	}
	i := slices.IndexFunc(list, func(t format.Target) bool {
		return t.Part != format.WholeEntry &&
			seen[format.Target{Entry: t.Entry, Part: format.WholeEntry}]
	})
	if i >= 0 {
		return fmt.Errorf("%w: %v, and all of it", history.ErrInput, list[i])
	}
	return nil
}
