package main

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// lanes draws a history, newest entry first, as `git log --graph` does: a lane is a line downwards
// to an entry that is still to come.
type lanes struct {
	to []format.ID
}

// add draws an entry that stands on parents. before are the rows that lead to it, mark is the row
// of the entry itself, and after are the rows that lead away from it. Each entry is added before
// its parents, and once.
func (l *lanes) add(
	id format.ID, parents []format.ID,
) (before []string, mark string, after []string) {
	col := slices.Index(l.to, id)
	if col < 0 {
		l.to = append(l.to, id)
		col = len(l.to) - 1
	}
	for i := len(l.to) - 1; i > col; i-- {
		if l.to[i] == id {
			before = append(before, l.merge(i, col))
		}
	}
	row := l.bars(len(l.to))
	row[2*col] = '*'
	mark = trimmed(row)
	if len(parents) == 0 {
		if row := l.close(col); row != "" {
			after = append(after, row)
		}
		return before, mark, after
	}
	l.to[col] = parents[0]
	for i, p := range parents[1:] {
		after = append(after, l.open(col+1+i, p))
	}
	return before, mark, after
}

// pass goes through an entry that is not drawn. It has one parent at most.
func (l *lanes) pass(id format.ID, parents []format.ID) {
	for i := range l.to {
		if l.to[i] == id && len(parents) > 0 {
			l.to[i] = parents[0]
		}
	}
	if len(parents) == 0 {
		l.to = slices.DeleteFunc(l.to, func(to format.ID) bool { return to == id })
	}
}

// merge leads lane i into lane col, left of it, and ends it.
func (l *lanes) merge(i, col int) string {
	row := l.bars(len(l.to))
	row[2*i], row[2*i-1] = ' ', '/'
	for at := 2*col + 1; at < 2*i-2; at += 2 {
		row[at] = '_'
	}
	for k := i + 1; k < len(l.to); k++ {
		row[2*k], row[2*k-1] = ' ', '/'
	}
	l.to = slices.Delete(l.to, i, i+1)
	return trimmed(row)
}

// open begins a lane at place i, from the lane left of it.
func (l *lanes) open(i int, to format.ID) string {
	row := l.bars(len(l.to) + 1)
	for k := i; k <= len(l.to); k++ {
		row[2*k], row[2*k-1] = ' ', '\\'
	}
	l.to = slices.Insert(l.to, i, to)
	return trimmed(row)
}

// close ends a lane that leads nowhere.
func (l *lanes) close(col int) string {
	row := l.bars(len(l.to))
	row[2*col] = ' '
	for k := col + 1; k < len(l.to); k++ {
		row[2*k], row[2*k-1] = ' ', '/'
	}
	l.to = slices.Delete(l.to, col, col+1)
	if col == len(l.to) {
		return "" // nothing is right of it: no row is needed
	}
	return trimmed(row)
}

// bars returns a row with n lanes.
func (l *lanes) bars(n int) []byte { return []byte(strings.Repeat("| ", n)) }

func trimmed(row []byte) string { return strings.TrimRight(string(row), " ") }
