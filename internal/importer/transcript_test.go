package importer_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func claudeRecord(id, parent string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(
		`{"parentUuid":%s,"sessionId":"s","type":"user","message":{"role":"user","content":"says %s"},"uuid":%q,"timestamp":"2026-02-03T08:00:00.000Z"}`+"\n", up, id, id)
}

func importClaude(t testing.TB, s *session.Store, in, as string) importer.ImportedTranscript {
	t.Helper()
	return storetest.Must[importer.ImportedTranscript](t)(
		s.Importer.ImportTranscript(
			context.Background(), func(emit func(transcript.Step) error) (transcript.Stats, error) {
				return claudecode.ReadAs("", strings.NewReader(in), emit)
			}, as))
}

func spokenIn(t testing.TB, s *session.Store, session string) (list []string) {
	t.Helper()
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), session,
		history.MainBranch))
	for _, shown := range storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(tip.ID, recall.LogOptions{})) {
		list = append(list, strings.TrimPrefix(shown.Text, "says "))
	}
	return list
}

// TestRedactedCopy: a copy of which words were taken out amends nothing, and one with other words
// does.
func TestRedactedCopy(t *testing.T) {
	const said = "the key is Abc123 for blue and Def456 for red"
	for copied, amends := range map[string]int{
		said: 0,
		"the key is REDACTED for blue and REDACTED for red": 0,
		"the key is Abc123 for blue and REDACTED for red":   0,
		"REDACTED":                                                      0,
		"the key is REDACTED":                                           0,
		"the key is REDACTED for red":                                   0,
		"the key is REDACTED for green":                                 1,
		"a key is REDACTED":                                             1,
		"the key is REDACTED for red REDACTED":                          1,
		"the key is removed for blue and Def456 for red":                1,
		"the key is REDACTED for red and REDACTED for blue and red":     1,
		"the key is [REDACTED:x] for blue and [REDACTED:x] for red":     1,
		"the key is Abc123 for blue and Def456 for red and REDACTED":    1,
		"the key is Abc123 for blue and Def456 for red and white, too.": 1,
	} {
		record := func(text string) string {
			return strings.Replace(claudeRecord("a", ""), "says a", text, 1)
		}
		s := storetest.Create(t)
		importClaude(t, s, record(said), "")
		if done := importClaude(t, s, record(copied), ""); done.Amended != amends {
			t.Errorf("%q: %+v", copied, done.Tally)
		}
		if done := importClaude(t, s, record(said), ""); done.Amended != 0 && amends == 0 {
			t.Errorf("%q, again as it was: %+v", copied, done.Tally)
		}
	}
}

// A person goes back in Claude Code, and back again to what had left: the branch is the chain of
// the newest record, whether the transcript is read at once, record by record, or again and again,
// and nothing is there twice.
func TestTranscriptTree(t *testing.T) {
	tree := [][2]string{{"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "a"}, {"e", "c"},
		{"f", "d"}, {"g", "e"}}
	chains := []string{"a", "a b", "a b c", "a d", "a b c e", "a d f", "a b c e g"}
	whole := ""
	grown := storetest.Create(t)
	for i, r := range tree {
		whole += claudeRecord(r[0], r[1])
		importClaude(t, grown, whole, "")
		if got := strings.Join(spokenIn(t, grown, "s"), " "); got != chains[i] {
			t.Fatalf("after %s: %q, want %q", r[0], got, chains[i])
		}
		before := storetest.View(t, grown).Number
		again := importClaude(t, grown, whole, "")
		if again.Messages+again.Amended+again.Rewinds+again.Returned != 0 ||
			storetest.View(t, grown).Number != before {
			t.Fatalf("after %s, again: %+v", r[0], again)
		}
	}
	once := storetest.Create(t)
	done := importClaude(t, once, whole, "")
	if got := strings.Join(spokenIn(t, once, "s"), " "); got != "a b c e g" || done.Messages != 7 ||
		done.Returned != 0 || done.Rewinds != 1 {
		t.Errorf("%q %+v", got, done)
	}
	storetest.Check(t, once)
	storetest.Check(t, grown)
	// Out, and into a third store.
	var b bytes.Buffer
	w := claudecode.NewWriter(&b,
		transcript.WriteOptions{Session: "s", Home: once.Exporter.TranscriptHome("s")})
	storetest.Must[transcript.Written](t)(once.Exporter.Transcript(context.Background(),
		storetest.View(t, once), "s", history.MainBranch, 0, false,
		transcript.Origin{}, w, nil))
	third := storetest.Create(t)
	importClaude(t, third, b.String(), "")
	if got := spokenIn(t, third, "s"); !slices.Equal(got, spokenIn(t, once, "s")) {
		t.Errorf("%q", got)
	}
	// And what goes home is known there.
	if back := importClaude(t, once, b.String(), ""); back.Known != 5 || back.Messages != 0 ||
		back.Session != "s" {
		t.Errorf("%+v", back)
	}
}

// What the store's own owner rewound stays away when the transcript is imported again.
func TestTranscriptAfterRewind(t *testing.T) {
	s := storetest.Create(t)
	in := claudeRecord("a", "") + claudeRecord("b", "a") + claudeRecord("c", "b")
	importClaude(t, s, in, "work")
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "work",
		history.MainBranch))
	list := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, recall.LogOptions{}))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "work",
		history.MainBranch, list[1].ID, conversation.RewindOptions{}))
	importClaude(t, s, in+claudeRecord("d", "c"), "work")
	if got := strings.Join(spokenIn(t, s, "work"), " "); got != "a d" {
		t.Errorf("%q", got)
	}
	storetest.Check(t, s)
}
