package main

import (
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
)

// entryDoc is the JSON document of an entry.
type entryDoc = document.Entry

func docOf(s *history.Shown) entryDoc { return document.EntryOf(s) }

func orNull[T comparable](value T) *T { return document.OrNull(value) }

// idText returns the digits of an id, and nil for the zero id.
func idText(id format.ID) *string { return document.IDText(id) }

// timeText formats a time for all output: RFC 3339, UTC, milliseconds.
func timeText(t time.Time) string { return document.TimeText(t) }
