package summarizer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// State is what is known of whether somebody can be asked.
type State string

// The states. Who is not in a Health is healthy.
const (
	StateHealthy  State = "healthy"
	StateTerminal State = "terminal"     // with a reason: quota, until it is reset; capacity, for CapacityTTL
	StateSticky   State = "sticky_retry" // may be asked once a turn
)

// Why somebody is not asked, as snapshots and skips tell it.
const (
	ReasonQuota    = "quota"
	ReasonCapacity = "capacity"
	ReasonRetry    = "retry_once_per_turn"
)

// CapacityTTL is for how long somebody without capacity is left alone. As in the Gemini CLI.
const CapacityTTL = 30 * time.Second

// Mark is what a Health knows of one name.
type Mark struct {
	State    State
	Reason   string    // of terminal: ReasonQuota or ReasonCapacity
	At       time.Time // of terminal: when it was marked
	Consumed bool      // of sticky_retry: it was asked in this turn
	Attempts int       // of sticky_retry: how often it may be tried when it is asked; 1 or more
}

// Health is who cannot be asked, by name. It is a state machine without a clock or a file: now is handed in, and what a method returns holds for
// that moment. The zero Health knows nothing bad of anybody.
//
//	              mark quota, mark capacity
//	any state  ──────────────────────────────▶  terminal    until healthy or reset; capacity ends by itself after CapacityTTL
//	not terminal ──── mark retry ────────────▶  sticky_retry (one that is there keeps whether it is consumed)
//	sticky_retry ──── consume ───────────────▶  sticky_retry, consumed: not available until the turn is reset
//	any state  ────── healthy ───────────────▶  healthy
type Health struct {
	marks map[string]Mark
}

// Normal returns a name as Health knows it: without white space around it and without the "models/" that some APIs put in front.
func Normal(name string) string {
	return strings.TrimPrefix(strings.TrimSpace(name), "models/")
}

func (h *Health) set(name string, m Mark) {
	if h.marks == nil {
		h.marks = map[string]Mark{}
	}
	h.marks[Normal(name)] = m
}

// MarkTerminal says that a name cannot be asked: reason is ReasonQuota or ReasonCapacity.
func (h *Health) MarkTerminal(name, reason string, now time.Time) {
	h.set(name, Mark{State: StateTerminal, Reason: reason, At: now.UTC()})
}

// MarkRetryOncePerTurn says that a name may be asked once a turn, and tried so many times then. One that is terminal stays so.
func (h *Health) MarkRetryOncePerTurn(name string, attempts int, now time.Time) {
	m := h.Snapshot(name, now).Mark
	if m.State == StateTerminal {
		return
	}
	h.set(name, Mark{State: StateSticky, Consumed: m.Consumed, Attempts: max(attempts, 1)})
}

// Consume says that a name that may be asked once a turn was asked. It does nothing in other states.
func (h *Health) Consume(name string) {
	if m, ok := h.marks[Normal(name)]; ok && m.State == StateSticky {
		m.Consumed = true
		h.set(name, m)
	}
}

// MarkHealthy forgets what was known of a name.
func (h *Health) MarkHealthy(name string) { delete(h.marks, Normal(name)) }

// ResetTurn begins a turn: names that may be asked once a turn may be asked again. Without names it means all.
func (h *Health) ResetTurn(names ...string) {
	for name, m := range h.marks {
		if m.Consumed && (len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return Normal(n) == name })) {
			m.Consumed = false
			h.marks[name] = m
		}
	}
}

// Reset forgets everything.
func (h *Health) Reset() { h.marks = nil }

// Snapshot is what is known of one name at one moment.
type Snapshot struct {
	Name string
	Mark
	Available bool
	Until     time.Time // when it is available again, where time alone makes it so; else zero
}

// Why returns the reason for which a name is not available, or "".
func (s Snapshot) Why() string {
	switch {
	case s.Available:
		return ""
	case s.State == StateSticky:
		return ReasonRetry
	}
	return s.Reason
}

// Snapshot says whether a name can be asked at a moment. A mark of a lack of capacity holds from its time on for CapacityTTL; one from the
// future, which a clock that was set back leaves, does not hold.
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
		if s.Until = m.At.Add(CapacityTTL); now.Before(m.At) || !now.Before(s.Until) {
			return Snapshot{Name: name, Mark: Mark{State: StateHealthy}, Available: true}
		}
	}
	return s
}

// Names returns the names of which something is known, sorted.
func (h *Health) Names() []string { return slices.Sorted(maps.Keys(h.marks)) }

// Skip is somebody who was not chosen, and why.
type Skip struct {
	Name   string
	Reason string
}

// Selection is what SelectFirstAvailable found.
type Selection struct {
	Name     string // "" where nobody is available
	Attempts int    // of one that may be asked once a turn; 0 for any other
	Skipped  []Skip // those before it, in order
}

// SelectFirstAvailable returns the first of names that can be asked.
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

// CheckName refuses names that no model has: they are kept in a file, and shown.
func CheckName(name string) error {
	name = Normal(name)
	switch {
	case name == "":
		return fmt.Errorf("empty name")
	case len(name) > maxName:
		return fmt.Errorf("name has more than %d bytes: %.40q", maxName, name)
	case oneLine(name, maxName) != name:
		return fmt.Errorf("name has characters that no name has: %.40q", name)
	}
	return nil
}

const maxName = 200
