package brief

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// listed makes items of a list of the model of strings.
func listed(heading string, items ...string) (list []digest.Fact) {
	for _, text := range items {
		list = append(list, digest.Fact{Kind: digest.Said, Key: digest.Item, Heading: heading,
			Text: text})
	}
	return list
}

// TestLists checks that a list is told as a whole, or by the names of its items, or that an item
// says of how many it is.
func TestLists(t *testing.T) {
	asked, end := prompt("Mend the gauges of the port"), prompt("Go on with the harbour")
	long := strings.Repeat(" and the sluice of the upper basin", 8)
	telling := "The `readTide` gauge counts each wave of the channel twice"
	for _, c := range []struct {
		name string
		list []digest.Fact
		room int
		want string
	}{
		{"short", listed("Findings", "1. Tide", "2. "+telling, "3. Wind"), 600,
			"noted: Findings: 1. Tide; 2. " + telling + "; 3. Wind"},
		{"with bullets", listed("Findings", "Tide", telling, "Wind"), 600,
			"noted: Findings: Tide; " + telling + "; Wind"},
		{"short by the names of its items", listed("Findings", "1. `tide.go`: the tide"+long,
			"2. `wave.go`: "+telling, "3. `wind.go`: the wind"+long), 400,
			"noted: Findings: 1. `tide.go`; 2. `wave.go`: " + telling + "; 3. `wind.go`"},
		{"one of many", listed("Findings", "1. Tide"+long, "2. "+telling, "3. Wind"+long), 400,
			"noted: Findings: 2 of 3: " + telling},
		{"a later sentence of an item", listed("Findings", "1. Tide"+long, telling, "2. Wind"+long), 700,
			"noted: Findings: 1 of 2: Tide" + long + "; " + telling},
		{"a number that is none of a list", listed("Findings", telling, "12 gauges"+long), 400,
			"noted: Findings: " + telling},
	} {
		t.Run(c.name, func(t *testing.T) {
			contains(t, choose(of(one(asked), c.list, one(end)), c.room), c.want)
		})
	}
	t.Run("a step of a plan", func(t *testing.T) {
		plan := slices.Concat(one(digest.Fact{Kind: digest.Said, Key: digest.Plan,
			Text: "is to carry out the plan of the gauges"}),
			listed("Step 1", "Tide", telling, "Wind"))
		got := choose(of(plan, one(end)), 400)
		contains(t, got, telling)
		lacks(t, got, "Wind")
	})
	t.Run("equal items of two lists", func(t *testing.T) {
		var list [][]digest.Fact
		for n := range 2 {
			list = append(list, listed(fmt.Sprint("Tides ", n), "1. Wind", "2. "+telling))
		}
		contains(t, choose(of(one(asked), list[0], list[1], one(end)), endless),
			"noted: Tides 0: 1. Wind; 2. "+telling, "noted: Tides 1: 1. Wind; 2. "+telling)
	})
}
