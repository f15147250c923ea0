package eval

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
)

// Report is the result of a run. It is the same in every run and on every platform.
type Report struct {
	V        int        `json:"v"`
	Version  string     `json:"version"` // of ctx
	Seed     uint64     `json:"seed"`
	Settings []string   `json:"settings"` // "key=value", by key
	Sets     []measured `json:"sets"`
}

// measured is the result for one set. A part that was not measured is empty.
type measured struct {
	Set           string `json:"set"`
	Conversations int    `json:"conversations"`
	Messages      int    `json:"messages"`
	Tokens        int    `json:"tokens"` // of the messages' texts
	Facts         int    `json:"facts"`
	// without evidence in the messages that were not rewound
	Unused     int          `json:"facts_unused"`
	Clustering []Clustering `json:"clustering,omitempty"`
	Retention  []Retention  `json:"facts_kept,omitempty"`
	// with a rendering for each question
	Asked    []Retention `json:"facts_kept_with_query,omitempty"`
	Reach    []Reach     `json:"reach,omitempty"`
	Cases    []Cases     `json:"cases,omitempty"`
	Recovery *Recovery   `json:"recovery,omitempty"`
}

// WriteText writes the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ctx %s, seed %d\nsettings: %s\n", r.Version, r.Seed,
		strings.Join(r.Settings, " "))
	for _, s := range r.Sets {
		s.text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *measured) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n== %s: %d conversations, %d messages, %d tokens, %d facts", s.Set,
		s.Conversations, s.Messages, s.Tokens, s.Facts)
	if s.Unused > 0 {
		fmt.Fprintf(b, ", %d of them without evidence", s.Unused)
	}
	b.WriteByte('\n')
	set := reflect.ValueOf(*s)
	for i := range set.NumField() {
		var rows []reflect.Value
		switch part := set.Field(i); {
		case part.Kind() == reflect.Slice:
			for _, row := range part.Seq2() {
				rows = append(rows, row)
			}
		case part.Kind() == reflect.Pointer && !part.IsNil():
			rows = append(rows, part.Elem())
		}
		if len(rows) > 0 {
			writeTable(b, heading(set.Type().Field(i)), rows)
		}
	}
}

// heading returns the name of a field in JSON, as words.
func heading(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.ReplaceAll(name, "_", " ")
}

// writeTable writes an empty line, and structs as rows below the names of their fields. The title
// stands above the first field if that is a string, and else in front. A nil is a dash.
func writeTable(b *strings.Builder, title string, rows []reflect.Value) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fields, named := reflect.VisibleFields(rows[0].Type()), 0
	if fields[0].Type.Kind() == reflect.String {
		named = 1
	}
	head := []string{title}
	for _, f := range fields[named:] {
		head = append(head, heading(f))
	}
	fmt.Fprintf(t, "\n%s\n", strings.Join(head, "\t"))
	for _, row := range rows {
		cells := make([]string, 1-named, 1+len(fields))
		for i := range fields {
			switch v := row.Field(i); {
			case v.Kind() == reflect.Pointer && v.IsNil():
				cells = append(cells, "-")
			default:
				cells = append(cells, fmt.Sprint(reflect.Indirect(v)))
			}
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush() // to a builder
}
