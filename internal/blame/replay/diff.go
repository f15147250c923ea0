package replay

import (
	"slices"
	"strings"
)

// Pairs returns for each element of b the index of its partner in a, or -1. Partners are equal, and
// stand in the same order in both. Elements that occur once in each are matched first, since a line
// that is everywhere says nothing about a place.
func Pairs(a, b []string) []int {
	ids := map[string]int{}
	number := func(list []string) []int {
		out := make([]int, len(list))
		for i, s := range list {
			id, ok := ids[s]
			if !ok {
				id = len(ids)
				ids[s] = id
			}
			out[i] = id
		}
		return out
	}
	m := &matcher{a: number(a), b: number(b), partner: slices.Repeat([]int{-1}, len(b))}
	m.count = make([][2]int, len(ids))
	m.place = make([]int, len(ids))
	m.match(0, len(a), 0, len(b))
	return m.partner
}

type matcher struct {
	a, b    []int
	partner []int
	count   [][2]int // how often an element is in the range of a, and in that of b
	place   []int    // the last place of an element in the range of a
}

// match finds the partners of b[b0:b1] in a[a0:a1].
func (m *matcher) match(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		m.partner[b0] = a0
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
		m.partner[b1] = a1
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	anchors := m.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		m.longest(a0, a1, b0, b1)
		return
	}
	for _, at := range anchors {
		m.partner[at[1]] = at[0]
		m.match(a0, at[0], b0, at[1])
		a0, b0 = at[0]+1, at[1]+1
	}
	m.match(a0, a1, b0, b1)
}

// anchors returns the longest row of elements that occur once in each range, in the same order in
// both, as places in a and b.
func (m *matcher) anchors(a0, a1, b0, b1 int) [][2]int {
	for i := a0; i < a1; i++ {
		m.count[m.a[i]] = [2]int{}
	}
	for i := b0; i < b1; i++ {
		m.count[m.b[i]] = [2]int{}
	}
	for i := a0; i < a1; i++ {
		m.count[m.a[i]][0]++
		m.place[m.a[i]] = i
	}
	for i := b0; i < b1; i++ {
		m.count[m.b[i]][1]++
	}
	var once [][2]int
	for i := b0; i < b1; i++ {
		if m.count[m.b[i]] == [2]int{1, 1} {
			once = append(once, [2]int{m.place[m.b[i]], i})
		}
	}
	return rising(once)
}

// rising returns the longest part of a list whose first numbers rise.
func rising(list [][2]int) [][2]int {
	var ends []int // the index of the end of the best row of each length
	before := make([]int, len(list))
	for i, at := range list {
		n, _ := slices.BinarySearchFunc(ends, at[0],
			func(end, place int) int { return list[end][0] - place })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	row := make([][2]int, len(ends))
	for i, n := ends[len(ends)-1], len(ends)-1; n >= 0; i, n = before[i], n-1 {
		row[n] = list[i]
	}
	return row
}

// maxTable is the largest table that longest makes. Longer ranges of lines that all occur several
// times have no partners.
const maxTable = 4 << 20

// longest matches the longest common subsequence of two ranges.
func (m *matcher) longest(a0, a1, b0, b1 int) {
	n, k := a1-a0, b1-b0
	if (n+1)*(k+1) > maxTable {
		return
	}
	table := make([]int32, (n+1)*(k+1))
	at := func(i, j int) *int32 { return &table[i*(k+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := k - 1; j >= 0; j-- {
			if m.a[a0+i] == m.b[b0+j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < n && j < k; {
		switch {
		case m.a[a0+i] == m.b[b0+j]:
			m.partner[b0+j] = a0 + i
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
}

// squeezed returns a line without white space.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\v', '\f':
			return -1
		}
		return r
	}, s)
}

// Letters counts the letters and digits of a line, which git counts too before it takes lines for
// moved ones. All bytes of other alphabets count.
func Letters(s string) int {
	n := 0
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			n++
		}
	}
	return n
}
