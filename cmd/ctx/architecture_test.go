package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestArchitecturePage compares the picture of docs/architecture.md with the layers: it names every
// package once, and each above those that it imports.
func TestArchitecturePage(t *testing.T) {
	b, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(string(b), "\n```\n")
	picture, _, found := strings.Cut(picture, "\n```\n")
	if !found {
		t.Fatal("docs/architecture.md has no picture")
	}
	place := map[string]int{}
	inOrder := true
	unordered := map[string]bool{}
	for i, line := range strings.Split(picture, "\n") {
		if strings.HasPrefix(line, "#") {
			inOrder = line != "# for tests alone"
			continue
		}
		pkg, rest, _ := strings.Cut(line, " ")
		switch {
		case pkg == "":
			continue
		case strings.TrimSpace(rest) == "":
			t.Errorf("the picture does not say what %s is for", pkg)
		}
		if _, twice := place[pkg]; twice {
			t.Errorf("the picture names %s twice", pkg)
		}
		if _, known := layers[pkg]; !known {
			t.Errorf("the picture names %s, which is not in the layers", pkg)
		}
		place[pkg], unordered[pkg] = i, !inOrder
	}
	for _, pkg := range slices.Sorted(maps.Keys(layers)) {
		if _, named := place[pkg]; !named {
			t.Errorf("the picture does not name %s", pkg)
			continue
		}
		for below := range strings.FieldsSeq(layers[pkg]) {
			if below != "*" && !unordered[pkg] && place[below] <= place[pkg] {
				t.Errorf("the picture has %s above %s, which imports it", below, pkg)
			}
		}
	}
}
