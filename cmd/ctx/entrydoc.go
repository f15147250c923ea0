package main

import (
	"time"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// entryDoc is an entry as log, show and expand print it with --json.
type entryDoc = document.Entry

func docOf(s *session.Shown) entryDoc { return document.EntryOf(s) }

func orNull(s string) *string { return document.OrNull(s) }

// idText is an id in JSON: nil for the zero one.
func idText(id format.ID) *string { return document.IDText(id) }

// timeText is a time in all output: RFC 3339, UTC, milliseconds.
func timeText(t time.Time) string { return document.TimeText(t) }
