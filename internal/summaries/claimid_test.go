package summaries_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

func TestClaimNames(t *testing.T) {
	node := format.Sum([]byte("node"))
	members := make([]format.ID, 3)
	for _, c := range []summaries.Claim{
		{Node: node, Members: members},
		{Node: node, Members: members, Cluster: 4, Offset: 256},
		{Node: node, Members: members, Cluster: 4, Mark: "0123456789abcdef"},
		{Node: node, Members: members, Cluster: 4, Offset: 7, Mark: "0123456789abcdef"},
	} {
		n, err := summaries.ParseSummary(c.ID())
		if err != nil || n.Node != node || n.Offset != c.Offset || n.Mark != c.Mark ||
			n.Placed && (n.Cluster != c.Cluster || n.Count != 3) {
			t.Errorf("%s: %+v, %v", c.ID(), n, err)
		}
	}
	for _, bad := range []string{
		"", "claim", node.String()[:63], node.String() + ".", node.String() + ".1",
		node.String() + ".1.2", node.String() + ".1.2.0", node.String() + ".1.2.03",
		node.String() + ".-1.2.3", node.String() + ".1.2.3.", node.String() + ".1.2.3.xyz",
		node.String() + ".1.2.3.0123456789abcdef.4",
		node.String() + ".1.2.99999999999999999999",
	} {
		if _, err := summaries.ParseSummary(bad); !errors.Is(err, history.ErrInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzParseClaim(f *testing.F) {
	node := format.Sum([]byte("node")).String()
	for _, s := range []string{node, node + ".0.0.6.0123456789abcdef", node + ".1.256.3", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := summaries.ParseSummary(s)
		if err != nil {
			return
		}
		if n.String() != s {
			t.Errorf("%q is %q", s, n)
		}
	})
}

func TestSplit(t *testing.T) {
	// A letter a reading: e an entry of 40 tokens, s one of next to nothing, 1 to 4 a summary
	// of that generation with 40 tokens.
	readings := func(s string) (list []summaries.Reading) {
		for i, c := range s {
			r := summaries.Reading{From: uint64(i), To: uint64(i + 1), Tokens: 39}
			switch {
			case c == 's':
				r.Tokens = 0
			case c != 'e':
				r.Generation, r.Cover = uint64(c-'0'), &format.Cover{}
			}
			list = append(list, r)
		}
		return list
	}
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"eeee", 80, "ee ee"},
		{"eeeee", 80, "ee ee e"},
		{"1ee2e", 80, "ee e"},
		{"1111", 80, "11 11"},
		{"11112", 80, "11 11"},
		{"2111", 80, "11"},
		{"2121", 160, "2121"},
		{"3s1", 70, "s1"},
		{"3s1s1", 90, "s1s1"},
		{"eseses", 82, "eses es"},
		{"111", 40, ""},
		{"ee", 20, "e e"},
		{"4e", 40, "e"},
		{"", 40, ""},
	} {
		var got []string
		for _, run := range summaries.Split(readings(tt.in), tt.limit) {
			got = append(got, tt.in[run[0].From:run[len(run)-1].To])
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("split(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}
