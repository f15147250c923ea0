package summarizer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// State says whether a summarizer or a model can be asked.
type State string

// The states. A name without a mark is healthy.
const (
	StateHealthy State = "healthy"
	// With a reason: quota, until reset; capacity, for capacityTTL
	StateTerminal State = "terminal"
	StateSticky   State = "sticky_retry" // may be asked once per turn
)

// The reasons for which a name is not available, as snapshots and skips report them.
const (
	ReasonQuota    = "quota"
	ReasonCapacity = "capacity"
	ReasonRetry    = "retry_once_per_turn"
)

// capacityTTL is the time for which a name without capacity is not asked. The Gemini CLI uses the
// same time.
const capacityTTL = 30 * time.Second

// Mark is the state of one name.
type Mark struct {
	State    State
	Reason   string    // of terminal: ReasonQuota or ReasonCapacity
	At       time.Time // of terminal: when it was marked
	Consumed bool      // of sticky_retry: it was asked in this turn
	Attempts int       // of sticky_retry: number of tries when it is asked, at least 1
}

// Health records which names cannot be asked. It is a state machine without a clock or a file: the
// caller passes the current time, and a result holds for that time. In the zero Health every name
// is healthy.
//
//	any state    ── mark quota, capacity ──▶  terminal
//	not terminal ── mark retry ────────────▶  sticky_retry
//	sticky_retry ── consume ───────────────▶  sticky_retry, consumed
//	any state    ── healthy ───────────────▶  healthy
//
// A terminal name stays so until it is marked healthy or reset, but a lack of capacity ends by
// itself after capacityTTL. A consumed name is not available until the turn is reset, and marking a
// retry again leaves it consumed.
type Health struct {
	marks map[string]Mark
}

// Normal returns the form of a name that Health uses: without surrounding white space and without
// the prefix "models/" that some APIs use.
func Normal(name string) string {
	return strings.TrimPrefix(strings.TrimSpace(name), "models/")
}

func (h *Health) set(name string, m Mark) {
	if h.marks == nil {
		h.marks = map[string]Mark{}
	}
	h.marks[Normal(name)] = m
}

// MarkTerminal records that a name cannot be asked. reason is ReasonQuota or ReasonCapacity.
func (h *Health) MarkTerminal(name, reason string, now time.Time) {
	h.set(name, Mark{State: StateTerminal, Reason: reason, At: now.UTC()})
}

// MarkRetryOncePerTurn records that a name may be asked once per turn, with the given number of
// tries. It does not change a terminal name.
func (h *Health) MarkRetryOncePerTurn(name string, attempts int, now time.Time) {
	m := h.Snapshot(name, now).Mark
	if m.State == StateTerminal {
		return
	}
	h.set(name, Mark{State: StateSticky, Consumed: m.Consumed, Attempts: max(attempts, 1)})
}

// Consume records that a name in the state sticky_retry was asked in this turn. It does nothing in
// other states.
func (h *Health) Consume(name string) {
	if m, ok := h.marks[Normal(name)]; ok && m.State == StateSticky {
		m.Consumed = true
		h.set(name, m)
	}
}

// MarkHealthy removes the mark of a name.
func (h *Health) MarkHealthy(name string) { delete(h.marks, Normal(name)) }

// ResetTurn begins a turn: the given names in the state sticky_retry may be asked again. Without
// arguments it resets all names.
func (h *Health) ResetTurn(names ...string) {
	for name, m := range h.marks {
		if m.Consumed &&
			(len(names) == 0 ||
				slices.ContainsFunc(names, func(n string) bool { return Normal(n) == name })) {
			m.Consumed = false
			h.marks[name] = m
		}
	}
}

// Reset removes all marks.
func (h *Health) Reset() { h.marks = nil }

// Snapshot is the state of one name at one time.
type Snapshot struct {
	Name string
	Mark
	Available bool
	Until     time.Time // when it becomes available by itself; else zero
}

// Why returns the reason for which the name is not available, or "".
func (s Snapshot) Why() string {
	switch {
	case s.Available:
		return ""
	case s.State == StateSticky:
		return ReasonRetry
	}
	return s.Reason
}

// Snapshot says whether a name can be asked at a time. A mark of missing capacity holds for
// capacityTTL. A mark from the future, which a clock that was set back can leave, does not hold.
func (h *Health) Snapshot(name string, now time.Time) Snapshot {
	name = Normal(name)
	m, ok := h.marks[name]
	s := Snapshot{Name: name, Mark: m}
	switch {
	case !ok:
		s.State, s.Available = StateHealthy, true
	case m.State == StateSticky:
		s.Available = !m.Consumed
	case m.Reason == ReasonCapacity:
		if s.Until = m.At.Add(capacityTTL); now.Before(m.At) || !now.Before(s.Until) {
			return Snapshot{Name: name, Mark: Mark{State: StateHealthy}, Available: true}
		}
	}
	return s
}

// Names returns the names with a mark, sorted.
func (h *Health) Names() []string { return slices.Sorted(maps.Keys(h.marks)) }

// Skip is a name that was not chosen, with the reason.
type Skip struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Selection is the result of SelectFirstAvailable.
type Selection struct {
	Name     string // "" if no name is available
	Attempts int    // of a name in the state sticky_retry; else 0
	Skipped  []Skip // the names before it, in order
}

// SelectFirstAvailable returns the first name that can be asked.
func (h *Health) SelectFirstAvailable(names []string, now time.Time) Selection {
	var out Selection
	for _, name := range names {
		s := h.Snapshot(name, now)
		if s.Available {
			out.Name, out.Attempts = s.Name, s.Attempts
			break
		}
		out.Skipped = append(out.Skipped, Skip{s.Name, s.Why()})
	}
	return out
}

// CheckName returns an error for a name that cannot be that of a model. Names are stored in a file
// and shown to people.
func CheckName(name string) error {
	name = Normal(name)
	switch {
	case name == "":
		return fmt.Errorf("empty name")
	case len(name) > maxName:
		return fmt.Errorf("name has more than %d bytes: %.40q", maxName, name)
	case child.OneLine(name, maxName) != name:
		return fmt.Errorf("name has invalid characters: %.40q", name)
	}
	return nil
}

const maxName = 200

// HealthFile stores a Health for the next process, in cache/avail.json of the store. Losing the
// file is harmless: then every name is healthy, and one that is not is asked once too often. The
// file is therefore not synced, a damaged file or one of another version counts as missing, and
// concurrent changes need no lock: the later rename wins, and the other change is lost.
type HealthFile struct {
	Path string
	FS   *durable.FS // nil for the real file system
}

// HealthPath returns the path of a store's health file.
func HealthPath(store string) string { return filepath.Join(store, "cache", "avail.json") }

// ScopedHealthPath returns the path of a scope's own health file. The name of the scope is hashed,
// because it may contain characters that file names may not.
func ScopedHealthPath(store, scope string) string {
	sum := sha256.Sum256([]byte(scope))
	return filepath.Join(store, "cache", "avail-"+hex.EncodeToString(sum[:12])+".json")
}

const (
	healthVersion = 1
	maxHealth     = 1 << 20
	maxMarks      = 1000 // names; no chain is as long, but a script may misbehave
)

type healthDoc struct {
	V     int       `json:"v"`
	Marks []markDoc `json:"marks"` // sorted by name
}

type markDoc struct {
	Name     string `json:"name"`
	State    State  `json:"state"`
	Reason   string `json:"reason,omitempty"`
	At       string `json:"at,omitempty"`
	Consumed bool   `json:"consumed,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
}

// Load returns the stored health.
func (f *HealthFile) Load() *Health {
	b, err := durable.ReadAtMost(f.Path, maxHealth)
	if err == nil {
		var h *Health
		if h, err = decodeHealth(b); err == nil {
			return h
		}
	}
	return &Health{}
}

// Update changes the stored health. It writes the file only if the health differs afterwards.
func (f *HealthFile) Update(change func(*Health)) error {
	h := f.Load()
	before, err := encodeHealth(h)
	if err != nil {
		return err
	}
	change(h)
	after, err := encodeHealth(h)
	if err != nil || string(after) == string(before) {
		return err
	}
	err = f.FS.WriteFile(f.Path, after, 0o600, false)
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.FS.MkdirAll(filepath.Dir(f.Path)); err == nil {
			err = f.FS.WriteFile(f.Path, after, 0o600, false)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot keep who is available: %w", err)
	}
	return nil
}

func encodeHealth(h *Health) ([]byte, error) {
	doc := healthDoc{V: healthVersion, Marks: []markDoc{}}
	for _, name := range h.Names() {
		m := h.marks[name]
		d := markDoc{Name: name, State: m.State, Reason: m.Reason, Consumed: m.Consumed,
			Attempts: m.Attempts}
		if m.State == StateTerminal {
			d.At = format.FormatTime(m.At)
		}
		doc.Marks = append(doc.Marks, d)
	}
	if n := len(doc.Marks); n > maxMarks {
		return nil, fmt.Errorf("%d names are known, %d is the most: reset them", n, maxMarks)
	}
	return encodeLine(doc)
}

func decodeHealth(b []byte) (*Health, error) {
	var doc healthDoc
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	if doc.V != healthVersion || len(doc.Marks) > maxMarks {
		return nil, fmt.Errorf("unknown version: %d", doc.V)
	}
	h := &Health{}
	for _, d := range doc.Marks {
		m, err := d.mark()
		if err != nil {
			return nil, err
		}
		h.set(d.Name, m)
	}
	return h, nil
}

func (d markDoc) mark() (Mark, error) {
	if err := CheckName(d.Name); err != nil {
		return Mark{}, err
	}
	var at time.Time
	switch {
	case d.State == StateSticky && d.Attempts > 0:
		return Mark{State: StateSticky, Consumed: d.Consumed, Attempts: d.Attempts}, nil
	case d.State != StateTerminal || d.Reason != ReasonQuota && d.Reason != ReasonCapacity:
		return Mark{}, fmt.Errorf("unknown state: %.40q", d.State)
	}
	at, err := format.ParseTime(d.At)
	return Mark{State: StateTerminal, Reason: d.Reason, At: at}, err
}
