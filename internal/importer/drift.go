package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Drift says how many records of a kind that ctx does not know the transcripts of an agent have.
// The records are kept, but not understood.
type Drift struct {
	Agent   string `json:"agent"`
	Version string `json:"version"` // of the agent; "" if the transcripts do not name it
	Kind    string `json:"kind"`
	Records int    `json:"records"`
}

// String says it in a sentence.
func (d Drift) String() string {
	agent, what := d.Agent, "records of kind `"+d.Kind+"` are"
	if d.Version != "" {
		agent += " " + d.Version
	}
	if d.Records == 1 {
		what = "record of kind `" + d.Kind + "` is"
	}
	return fmt.Sprintf("%s: %d %s kept, but not understood", agent, d.Records, what)
}

// maxNamedKinds is how many kinds are named in one line.
const maxNamedKinds = 6

// DriftText says all of a list that is not empty in one line.
func DriftText(list []Drift) string {
	if len(list) == 1 {
		return list[0].String()
	}
	var named []string
	records := 0
	for _, d := range list {
		records += d.Records
		named = append(named, strings.TrimSpace(d.Agent+" "+d.Version)+
			fmt.Sprintf(" `%s` %d", d.Kind, d.Records))
	}
	if more := len(named) - maxNamedKinds; more > 0 {
		named = append(named[:maxNamedKinds], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d records of %d kinds are kept, but not understood: %s", records,
		len(list), strings.Join(named, ", "))
}

// Drifted is what one transcript has of unknown kinds.
type Drifted struct {
	Name    string         `json:"name"` // of the transcript: its path, or else its session
	Agent   string         `json:"agent"`
	Version string         `json:"version"`
	Kinds   map[string]int `json:"kinds"`
}

// maxDrifted is how many transcripts with unknown kinds are remembered: the newest.
const maxDrifted = 256

// maxKinds is how many kinds of one transcript are remembered.
const maxKinds = 64

// DriftOf returns what a transcript of an agent has of unknown kinds. path is "" for one that comes
// from no file.
func DriftOf(agent, path string, of *ImportedTranscript) Drifted {
	d := Drifted{Name: cmp.Or(path, of.Session), Agent: agent, Version: cleanKind(of.Stats.Version),
		Kinds: map[string]int{}}
	for _, kind := range slices.Sorted(maps.Keys(of.Stats.Kept)) {
		if len(d.Kinds) < maxKinds {
			d.Kinds[cleanKind(kind)] += of.Stats.Kept[kind]
		}
	}
	return d
}

// cleanKind returns a word of a transcript without secrets, as a name.
func cleanKind(s string) string {
	b, _, err := sanitize.Text([]byte(s))
	if err != nil {
		return "(a text that cannot be sanitized)"
	}
	return transcript.Fit(string(b))
}

// NoteDrift remembers what transcripts have of unknown kinds, in the place of what they had before.
// The cache has it: an import that reads the transcripts again finds it again.
func (s *Reader) NoteDrift(list ...Drifted) error {
	was := s.drifted()
	now := slices.Clone(was)
	for _, d := range list {
		i := slices.IndexFunc(now,
			func(o Drifted) bool { return o.Name == d.Name && o.Agent == d.Agent })
		switch {
		case i >= 0 && maps.Equal(now[i].Kinds, d.Kinds) && now[i].Version == d.Version:
			continue
		case i >= 0:
			now = slices.Delete(now, i, i+1)
		}
		if len(d.Kinds) > 0 {
			now = append(now, d)
		}
	}
	if slices.EqualFunc(was, now, func(a, b Drifted) bool {
		return a.Name == b.Name && a.Version == b.Version && maps.Equal(a.Kinds, b.Kinds)
	}) {
		return nil
	}
	return s.Cache.PutJSON(cache.DriftName, cache.Stamp{}, now[max(0, len(now)-maxDrifted):])
}

// AddDrift is NoteDrift for the end of a transcript, which is read on: its records are more of what
// the transcript had before.
func (s *Reader) AddDrift(d Drifted) error {
	if len(d.Kinds) == 0 {
		return nil
	}
	for _, was := range s.drifted() {
		if was.Name == d.Name && was.Agent == d.Agent {
			d.Version = cmp.Or(d.Version, was.Version)
			for kind, n := range was.Kinds {
				d.Kinds[kind] += n
			}
		}
	}
	return s.NoteDrift(d)
}

func (s *Reader) drifted() (list []Drifted) {
	if !s.Cache.GetJSON(cache.DriftName, &list) {
		return nil
	}
	return list
}

// Drifts returns what is known of unknown kinds, by agent, version and kind.
func (s *Reader) Drifts() []Drift {
	sums := map[Drift]int{}
	for _, d := range s.drifted() {
		for kind, n := range d.Kinds {
			sums[Drift{Agent: d.Agent, Version: d.Version, Kind: kind}] += n
		}
	}
	list := make([]Drift, 0, len(sums))
	for d, n := range sums {
		d.Records = n
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Drift) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Kind, b.Kind))
	})
	return list
}
