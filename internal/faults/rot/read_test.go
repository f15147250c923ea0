package rot

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Answer is the answer of a store to a question.
type Answer struct {
	Text string
	Err  error
}

// Answers holds the answers of a store by question.
type Answers map[string]Answer

// Questions returns the questions, sorted.
func (a Answers) Questions() []string { return slices.Sorted(maps.Keys(a)) }

// Read opens the store in dir and asks it everything: refs and log, every session in every way,
// clusters, every object, and a few searches. It returns an error if the store cannot be opened or
// its refs cannot be read.
func Read(dir string) (Answers, error) { return ReadObjects(dir, nil) }

// ReadObjects is Read for a store with known object ids. With nil it uses the ids that the store
// lists.
func ReadObjects(dir string, ids []format.ID) (Answers, error) {
	s, err := Open(dir, nil, Later)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	v, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	r := &reading{s: s, v: v, got: Answers{}}
	if ids == nil {
		if ids, err = IDs(s); err != nil {
			return nil, err
		}
	}
	r.log()
	for _, name := range v.Names("sessions/") {
		name, branch, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
		r.branch(name, branch)
	}
	r.clusters()
	r.objects(ids)
	r.searches()
	return r.got, nil
}

// IDs lists the distinct ids of a store's objects, sorted.
func IDs(s *session.Store) ([]format.ID, error) {
	var ids []format.ID
	err := s.Objects.Contents(
		func(at objects.Place, _ format.Raw) error { ids = append(ids, at.ID); return nil },
		func(_ string, err error) error { return err })
	slices.SortFunc(ids, format.ID.Compare)
	return slices.Compact(ids), err
}

type reading struct {
	s   *session.Store
	v   *refs.View
	got Answers
}

func (r *reading) ask(question string, answer func(b *strings.Builder) error) {
	var b strings.Builder
	err := answer(&b)
	r.got[question] = Answer{b.String(), err}
}

// show prints an entry. It prints a replacement as its stored body.
func (r *reading) show(b *strings.Builder, shown *history.Shown) {
	text := shown.Text
	if body := shown.Entry.Body; body != nil && body.Media == format.MediaReplace &&
		shown.Gone == "" {
		raw, err := r.s.Objects.Get(shown.ID)
		if err != nil {
			text = err.Error()
		} else {
			text = string(raw.Body[format.NonceLen:])
		}
	}
	fmt.Fprintf(b, "%v %v %s %s %d %q %s gone %q masked %v\n", shown.ID, shown.Version,
		shown.Entry.Kind, shown.Entry.Role, shown.Entry.Seq, text, shown.Parts,
		shown.Gone, shown.Masked)
}

func (r *reading) log() {
	r.ask("refs", func(b *strings.Builder) error {
		for _, name := range r.v.Names("") {
			fmt.Fprintln(b, name, r.v.Get(name))
		}
		return nil
	})
	r.ask("operations", func(b *strings.Builder) error {
		return r.s.Refs.Backward(r.v, func(rec refs.Record) bool {
			fmt.Fprintln(b, rec.Op.Number, rec.Digest, rec.Op.Verb, rec.Op.Session,
				rec.Op.RefNames())
			return true
		})
	})
	r.ask("sessions", func(b *strings.Builder) error {
		list, err := r.s.Recall.Sessions(r.v)
		for _, s := range list {
			fmt.Fprintf(b, "%s %v %+v %+v\n", s.Name, s.Head, s.Branches, s.Parent != nil)
		}
		return err
	})
}

func (r *reading) branch(name, branch string) {
	ref := history.RefName(name, branch)
	tip := r.v.Get(ref).ID
	print := func(b *strings.Builder) func(*history.Shown) error {
		return func(shown *history.Shown) error { r.show(b, shown); return nil }
	}
	r.ask("log "+ref, func(b *strings.Builder) error {
		list, err := r.s.Recall.Log(tip, recall.LogOptions{All: true})
		for _, shown := range list {
			r.show(b, shown)
		}
		return err
	})
	r.ask("masked log "+ref, func(b *strings.Builder) error {
		return r.s.Recall.LogEach(tip, recall.LogOptions{Masked: true}, print(b))
	})
	for _, o := range []view.Options{{Format: view.JSON}, {Format: view.Text, Budget: 300}} {
		r.ask(fmt.Sprintf("render %s as %s within %d", ref, o.Format,
			o.Budget), func(b *strings.Builder) error {
			in, err := r.s.Recall.RenderInput(r.v, name, branch, o)
			if err != nil {
				return err
			}
			out, err := view.Render(in, o)
			b.Write(out.Bytes)
			return err
		})
	}
	r.ask("epoch "+ref, func(b *strings.Builder) error {
		shown, err := r.s.Recall.EpochAt(tip)
		fmt.Fprintf(b, "%+v\n", shown)
		for _, k := range slices.Concat(shown.Initial, shown.Current) {
			if k.Missing && err == nil {
				// The command reports this after it has printed the rest
				err = fmt.Errorf("the value or the text of %s: %w", k.Key, objects.ErrNotFound)
			}
		}
		return err
	})
	r.ask("visible "+ref, func(b *strings.Builder) error {
		reader, err := r.s.Clusters.NewViewer(r.v, name, branch)
		if err != nil {
			return err
		}
		return r.s.Clusters.Each(reader, true, print(b))
	})
	r.ask("tokens "+ref, func(b *strings.Builder) error {
		list, err := r.s.History.Tokens(r.v, name)
		fmt.Fprintln(b, list)
		return err
	})
	r.ask("state "+ref, func(b *strings.Builder) error {
		list, err := r.s.State.Get(r.v,
			state.Names{Session: name, App: "shop", User: "ada"})
		for _, v := range list {
			fmt.Fprintf(b, "%s %s\n", v.Key, v.Value)
		}
		return err
	})
}

func (r *reading) clusters() {
	var list []clusters.ClusterInfo
	r.ask("clusters", func(b *strings.Builder) (err error) {
		list, err = r.s.Recall.Clusters(r.v)
		for _, c := range list {
			first, firstErr := c.First.Encode()
			last, lastErr := c.Last.Encode()
			err = errors.Join(err, firstErr, lastErr)
			fmt.Fprintf(b, "%d %v %v %d %+v %v %q %d %s %s\n", c.Number, c.ID, c.Tombstone, c.Count,
				c.Covers, c.Dirty, c.Line, c.Arrival, first, last)
		}
		return err
	})
	for _, c := range list {
		r.ask(fmt.Sprint("expand ", c.Number), func(b *strings.Builder) error {
			return r.s.Recall.Expand(r.v, c.ID, recall.ExpandOptions{},
				func(shown *history.Shown) error { r.show(b, shown); return nil })
		})
	}
}

func (r *reading) objects(ids []format.ID) {
	for n, id := range ids {
		r.ask("object "+id.String(), func(b *strings.Builder) error {
			raw, err := r.s.Objects.Get(id)
			if err == nil || raw.Header != nil {
				b.Write(bytes.Join([][]byte{raw.Header, raw.Body}, []byte("\n")))
			}
			return err
		})
		r.ask("header "+id.String(), func(b *strings.Builder) error {
			header, err := r.s.Objects.Header(id)
			b.Write(header)
			return err
		})
		if n%5 > 0 {
			continue // the others take the same path
		}
		r.ask("prefix "+id.String(), func(b *strings.Builder) error {
			found, err := r.s.Clusters.Resolve(r.v, id.String()[:12])
			fmt.Fprint(b, found)
			return err
		})
	}
}

func (r *reading) searches() {
	for _, words := range []string{"postgres migration", "camera lens", "elsewhere",
		"nothing of the kind"} {
		r.ask("search "+words, func(b *strings.Builder) error {
			hits, err := r.s.Recall.Search(r.v,
				find.SearchQuery{Text: words, Limit: 8, Clusters: true, Rewound: true})
			for _, h := range hits {
				fmt.Fprintf(b, "%v %.6f %s %q %v\n", h.ID, h.Score, h.Session, h.Text, h.Rewound)
			}
			return err
		})
	}
}
