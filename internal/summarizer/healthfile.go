package summarizer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

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
	if err != nil {
		return &Health{}
	}
	h, err := decodeHealth(b)
	if err != nil {
		return &Health{}
	}
	return h
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
