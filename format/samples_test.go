package format_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// One small conversation with an object of every kind. The examples in docs/format show the same
// one.
const (
	sampleSession = "9f77ed91-4c41-4a3c-9d53-0c2f4b8f0a11"
	sampleStore   = "5a6f9c1e0b7d4832a1c4e6f80b9d2e37"
	question      = "Where do the temporary files go?"
	answer        = "Into tmp/. The next holder of the lock sweeps them."
)

var sampleTime = time.Date(2026, 11, 21, 0, 42, 9, 328e6, time.UTC)

// stored returns a body with a nonce whose bytes all have the same value, so that a dump shows
// where the text starts.
func stored(nonce byte, text string) []byte {
	return []byte(strings.Repeat(string(rune(nonce)), format.NonceLen) + text)
}

func idOf(header []byte, err error) format.ID {
	if err != nil {
		panic(err)
	}
	return format.Sum(header)
}

func nonceBody(nonce byte, text string) *format.Body {
	b := format.SumBody(stored(nonce, text), format.MediaText)
	return &b
}

func sampleQuestion() *format.Entry {
	return &format.Entry{
		Seq: 1, Session: sampleSession, Kind: format.KindMessage, Role: "user",
		Author: "Ada Lovelace", Time: sampleTime,
		Invocation: "i-1", Body: nonceBody(1, question),
		Source: &format.Source{Agent: "gemini-cli", Session: sampleSession, Message: "m-1",
			Digest: "0f1e2d3c4b5a6978"},
	}
}

func sampleAnswer() *format.Entry {
	return &format.Entry{
		Parents: []format.ID{idOf(sampleQuestion().Encode())},
		Seq:     2, Session: sampleSession, Kind: format.KindMessage, Role: "model",
		Author: "gemini-2.5-flash",
		Time:   sampleTime.Add(1672 * time.Millisecond), Invocation: "i-1",
		Calls: []format.Call{{ID: "call-1", Tool: "read_file"}}, Tokens: 431,
		Body: nonceBody(2, answer),
	}
}

func storyEntries() []*format.Entry {
	q, a := idOf(sampleQuestion().Encode()), idOf(sampleAnswer().Encode())
	base := format.Entry{Parents: []format.ID{a}, Seq: 2, Session: sampleSession,
		Time: sampleTime.Add(time.Minute)}
	step := func(kind string, change func(*format.Entry)) *format.Entry {
		e := base
		e.Kind = kind
		change(&e)
		return &e
	}
	return []*format.Entry{
		sampleQuestion(),
		sampleAnswer(),
		step(format.KindAmend,
			func(e *format.Entry) { e.Role, e.Amends, e.Body = "model", a, nonceBody(3, "x") }),
		step(format.KindNote,
			func(e *format.Entry) {
				e.Role, e.Body, e.Results = "tool", nonceBody(4, ""), []string{"call-1"}
			}),
		step(format.KindFork,
			func(e *format.Entry) { e.Children = []string{"left", "right side"} }),
		step(format.KindJoin,
			func(e *format.Entry) { e.Parents, e.Children = []format.ID{a, q}, []string{"left"} }),
		step(format.KindRewind, func(e *format.Entry) { e.Parents, e.Left = []format.ID{q}, a }),
		step(format.KindMask, func(e *format.Entry) { e.Body = nonceBody(5, "[]") }),
		step(format.KindReplace, func(e *format.Entry) { e.Body = nonceBody(6, "[]") }),
		step(format.KindEpoch, func(e *format.Entry) { e.Epoch = idOf(sampleEpoch().Encode()) }),
		step(format.KindMask,
			func(e *format.Entry) { e.Body = jsonBody(10, format.MediaMask, sampleMask().Encode) }),
		step(format.KindReplace,
			func(e *format.Entry) {
				e.Body = jsonBody(11, format.MediaReplace, sampleReplacement().Encode)
			}),
	}
}

func jsonBody(nonce byte, media string, encode func() ([]byte, error)) *format.Body {
	text, err := encode()
	if err != nil {
		panic(err)
	}
	b := format.SumBody(stored(nonce, string(text)), media)
	return &b
}

func sampleMask() *format.Mask {
	return &format.Mask{Parts: []format.MaskedPart{{
		Entry: idOf(sampleAnswer().Encode()), Call: "call-1", Tool: "read_file",
		Text: "<tool_output_masked>\nInto tmp/ …\n</tool_output_masked>",
	}}}
}

func sampleReplacement() *format.Replacement {
	return &format.Replacement{
		Targets: []format.Target{
			{Entry: idOf(sampleQuestion().Encode()), Part: format.WholeEntry},
			{Entry: idOf(sampleAnswer().Encode())},
		},
		Text: "Temporary files go into tmp/.",
	}
}

func sampleMembers() []format.ID {
	return []format.ID{idOf(sampleQuestion().Encode()), idOf(sampleAnswer().Encode())}
}

func sampleNode() *format.Node {
	nodes, err := format.Nodes(sampleMembers())
	if err != nil {
		panic(err)
	}
	return nodes[0]
}

// sampleTree is the root over 257 members: the question 256 times, then the answer.
func sampleTree() *format.Node {
	m := sampleMembers()
	run := make([]format.ID, 257)
	for i := range run {
		run[i] = m[0]
	}
	run[256] = m[1]
	nodes, err := format.Nodes(run)
	if err != nil {
		panic(err)
	}
	return nodes[2]
}

func sampleSummary() *format.Summary {
	node := idOf(sampleNode().Encode())
	return &format.Summary{
		Node: node, Generation: 1, Summarizer: "extractive", Version: "1",
		Inputs: []format.Input{{ID: node}},
		Body:   *nonceBody(7, answer),
	}
}

// sampleLater is an interim summary that a model made of another summary and of a node.
func sampleLater() *format.Summary {
	node := idOf(sampleTree().Encode())
	return &format.Summary{
		Node: node, Generation: 2, Interim: true, Summarizer: "gemini", Version: "2.5-flash",
		Prompt: format.Sum([]byte("prompt")),
		Inputs: []format.Input{{Summary: true, ID: idOf(sampleSummary().Encode())},
			{ID: idOf(sampleNode().Encode())}},
		Body: *nonceBody(8, "tmp/ is swept."),
	}
}

func sampleTombstone() *format.Tombstone {
	return &format.Tombstone{
		Cluster: 0, Node: idOf(sampleNode().Encode()), Count: 2, Arrival: 2,
		Summary: idOf(sampleSummary().Encode()),
		Body:    *nonceBody(9, "temporary files, tmp/"),
	}
}

func samplePage() *format.Page {
	return &format.Page{Slots: []format.Slot{{Place: 0, Eviction: 3, Count: 1,
		ID: idOf(sampleTombstone().Encode())}}}
}

func samplePages() *format.Page {
	return &format.Page{Level: 1, Slots: []format.Slot{
		{Place: 0, Eviction: 3, Count: 1, ID: idOf(samplePage().Encode())},
		{Place: 2, Eviction: 700, Count: 256, ID: format.Sum([]byte("a page"))},
	}}
}

func sampleForest() *format.Forest {
	return &format.Forest{
		Name: "main", Opened: 3, Arrivals: 300, Evicted: 4,
		Clusters: []format.Cluster{
			{Number: 1, Node: idOf(sampleNode().Encode()), Count: 2, Arrival: 7},
			{Number: 2, Node: idOf(sampleTree().Encode()), Count: 257, Arrival: 300,
				Covers: []format.Cover{
					{Summary: idOf(sampleSummary().Encode()), Count: 2},
					{Summary: idOf(sampleLater().Encode()), Offset: 2, Count: 200, Interim: true},
				}},
		},
		Tombs: idOf(samplePage().Encode()), TombCount: 1,
	}
}

func sampleBlob() []byte { return []byte("2026-11-21\n") }

func blobHeader() ([]byte, error) {
	return format.EncodeBlob(format.SumBody(sampleBlob(), format.MediaText))
}

// blobOf returns the id of the blob of a text.
func blobOf(text, media string) format.ID {
	return idOf(format.EncodeBlob(format.SumBody([]byte(text), media)))
}

// sampleEpoch is an update: the branch's name has been removed, the date is unchanged.
func sampleEpoch() *format.Epoch {
	date, today := blobOf(`"2026-11-21"`, format.MediaParts), idOf(blobHeader())
	body := format.SumBody([]byte(epochText), format.MediaText)
	return &format.Epoch{
		Step: format.EpochUpdate,
		Initial: []format.Told{
			{Key: "core/branch", Value: blobOf(`"main"`, format.MediaParts),
				Text: blobOf("On branch main.", format.MediaText)},
			{Key: "core/date", Value: date, Text: today},
		},
		Current: []format.Belief{
			{Key: "core/branch"},
			{Key: "core/date", Value: date, First: today,
				Gone: blobOf("The date is not known any more.", format.MediaText)},
		},
		Body: &body,
	}
}

// sampleFold is the fold of sampleEpoch.
func sampleFold() *format.Epoch {
	e := sampleEpoch()
	return &format.Epoch{Step: format.EpochFold, Initial: e.Initial[1:], Current: e.Current[1:]}
}

const epochText = "The branch is not known any more."

func sampleAbsent() *format.Absent {
	return &format.Absent{Object: idOf(sampleQuestion().Encode()), Reason: format.ReasonForgotten,
		Time: sampleTime.Add(time.Hour)}
}

// sampleLost is the record that the question is lost, with its header.
func sampleLost() *format.Absent {
	id := idOf(sampleQuestion().Encode())
	header, err := (&format.Entry{Seq: 1, Session: sampleQuestion().Session,
		Kind: format.KindMessage, Role: "system", Time: sampleTime,
		Body: &format.Body{Digest: id, Size: format.NonceLen, Media: format.MediaText}}).Encode()
	if err != nil {
		panic(err)
	}
	return &format.Absent{Object: id, Reason: format.ReasonLost, Time: sampleTime.Add(time.Hour),
		Header: header}
}

// sampleForgotten is the record of the operation that forgot the question. Its digests are made up.
func sampleForgotten() *format.Forgotten {
	id := func(b byte) format.ID { return format.ID(bytes.Repeat([]byte{b}, 32)) }
	return &format.Forgotten{
		Operation: 2, Time: sampleTime.Add(time.Hour),
		Objects: []format.ID{idOf(sampleQuestion().Encode())},
		Sources: []format.ID{id(0x51)},
		Texts:   []format.Trace{{Size: 32, Roll: 0x1f2e3d4c5b6a7988, Digest: id(0x52)}},
		Phrases: []format.Trace{{Size: 15, Roll: 0x0123456789abcdef, Digest: id(0x53)}},
	}
}

func sampleSessionValue() format.Value {
	return format.Value{
		Kind: format.SessionValue, ID: idOf(sampleAnswer().Encode()), Frontier: 2,
		Pin: idOf(sampleForest().Encode()), Through: 1,
	}
}

func sampleCheckpoint() *format.Checkpoint {
	_, digest, err := sampleOperation().Encode()
	if err != nil {
		panic(err)
	}
	return &format.Checkpoint{
		Store: sampleStore, Number: 1, Digest: digest, Segment: 1, Offset: 354,
		Refs: []format.Ref{
			{Name: "HEAD", Value: format.Value{Kind: format.NameValue, Name: sampleSession}},
			{Name: "forests/main",
				Value: format.Value{Kind: format.ObjectValue, ID: idOf(sampleForest().Encode())}},
			{Name: "sessions/" + sampleSession + "/main", Value: sampleSessionValue()},
			{Name: "user/café notes",
				Value: format.Value{Kind: format.ObjectValue, ID: idOf(sampleQuestion().Encode())}},
		},
	}
}

func emptyCheckpoint() *format.Checkpoint {
	return &format.Checkpoint{Store: sampleStore, Segment: 1, Offset: 45}
}

// sampleOperation is the first append to a store.
func sampleOperation() *format.Operation {
	m := sampleMembers()
	return &format.Operation{
		Number: 1, Time: sampleTime, Verb: "append", Session: sampleSession,
		Effects: format.Effects{Extends: true, Undo: format.UndoTakes},
		Refs: []format.RefUpdate{
			{Name: "HEAD", New: format.Value{Kind: format.NameValue, Name: sampleSession}},
			{Name: "sessions/" + sampleSession + "/main",
				New: format.Value{Kind: format.SessionValue, ID: m[1], Frontier: 1}},
		},
		Forests: []format.ForestUpdate{{Name: "main",
			Decisions: []format.Decision{{Kind: format.DecideJoin, ID: m[0]}}}},
	}
}

// fullOperation has every kind of value and of decision.
func fullOperation() *format.Operation {
	m := sampleMembers()
	_, before, err := sampleOperation().Encode()
	if err != nil {
		panic(err)
	}
	sum, tomb := idOf(sampleSummary().Encode()), idOf(sampleTombstone().Encode())
	return &format.Operation{
		Number: 2, Before: before, Time: sampleTime.Add(time.Second), Verb: "undo", About: 1,
		Effects: format.Effects{Moves: true, Restores: true, Undo: format.UndoIsUndo},
		Refs: []format.RefUpdate{
			{Name: "HEAD", Old: format.Value{Kind: format.NameValue, Name: sampleSession}},
			{Name: "sessions/s/main", Old: sampleSessionValue(),
				New: format.Value{Kind: format.SessionValue, ID: m[0]}},
			{Name: "user/x", New: format.Value{Kind: format.ObjectValue, ID: m[0]}},
		},
		Forests: []format.ForestUpdate{
			{Name: "flat",
				Decisions: []format.Decision{{Kind: format.DecideDrop, Cluster: 300, ID: sum}}},
			{Name: "main", Decisions: []format.Decision{
				{Kind: format.DecideRetract, ID: m[1], Offset: 1},
				{Kind: format.DecideRestore, ID: m[1], Offset: 1},
				{Kind: format.DecideSettle, ID: sum, Count: 2},
				{Kind: format.DecideSettle, Cluster: 1, ID: sum, Offset: 2, Count: 5,
					Interim: true},
				{Kind: format.DecideEvict, ID: tomb},
				{Kind: format.DecideJoin, Cluster: 2, ID: m[0]},
			}},
		},
	}
}

// statingOperation removes the session that sampleOperation began. It states its effects, as every
// operation does that this version commits.
func statingOperation() *format.Operation {
	begun := sampleOperation()
	_, before, err := begun.Encode()
	if err != nil {
		panic(err)
	}
	op := &format.Operation{
		Number: 2, Before: before, Time: sampleTime.Add(time.Second), Verb: "session-rm",
		Session: begun.Session,
		Effects: format.Effects{Removes: true, Undo: format.UndoTakes},
		Forests: []format.ForestUpdate{{Name: "main", Decisions: []format.Decision{
			{Kind: format.DecideRetract, ID: begun.Forests[0].Decisions[0].ID},
		}}},
	}
	for _, u := range begun.Refs {
		op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: u.New})
	}
	return op
}

func emptyOperation() *format.Operation {
	return &format.Operation{Number: 1, Time: time.UnixMilli(0).UTC(), Verb: "init",
		Effects: format.Effects{Undo: format.UndoPasses}}
}

// carryingOperation is sampleOperation with the objects that it made: the question, and the node
// over it, which has no body.
func carryingOperation() *format.Operation {
	op := sampleOperation()
	op.Objects = []format.Raw{
		{Header: bytesOf(sampleQuestion().Encode()),
			Body: stored(1, "Where do the temporary files go?")},
		{Header: bytesOf(sampleNode().Encode())},
	}
	return op
}

// codec is one kind of bytes: its samples, and the function again, which decodes bytes and encodes
// the result.
type codec struct {
	name    string
	samples [][]byte
	again   func([]byte) ([]byte, error)
}

// codecs returns the codecs of whole files and headers.
func codecs(tb testing.TB) []codec {
	tb.Helper()
	record := func(op *format.Operation) []byte {
		b, _, err := op.Encode()
		return bytesOf(b, err)
	}
	var entries [][]byte
	for _, e := range storyEntries() {
		entries = append(entries, bytesOf(e.Encode()))
	}
	return []codec{
		{"entry", entries, againEntry},
		{"blob", [][]byte{bytesOf(blobHeader())}, againBlob},
		{"node", [][]byte{bytesOf(sampleNode().Encode()), bytesOf(sampleTree().Encode())},
			againNode},
		{"summary", [][]byte{bytesOf(sampleSummary().Encode()), bytesOf(sampleLater().Encode())},
			againSummary},
		{"tombstone", [][]byte{bytesOf(sampleTombstone().Encode())}, againTombstone},
		{"page", [][]byte{bytesOf(samplePage().Encode()), bytesOf(samplePages().Encode())},
			againPage},
		{"forest",
			[][]byte{bytesOf(sampleForest().Encode()),
				bytesOf((&format.Forest{Name: "flat"}).Encode())}, againForest},
		{"epoch", [][]byte{bytesOf(sampleEpoch().Encode()), bytesOf(sampleFold().Encode())},
			againEpoch},
		{"mask", [][]byte{bytesOf(sampleMask().Encode())}, againMask},
		{"replace", [][]byte{bytesOf(sampleReplacement().Encode())}, againReplace},
		{"absent", [][]byte{bytesOf(sampleAbsent().Encode()), bytesOf(sampleLost().Encode())},
			againAbsent},
		{"forgotten", [][]byte{bytesOf(sampleForgotten().Encode())}, againForgotten},
		{"operation",
			[][]byte{record(sampleOperation()), record(fullOperation()), record(emptyOperation()),
				record(carryingOperation()), record(statingOperation())}, againOperation},
		{"checkpoint",
			[][]byte{bytesOf(sampleCheckpoint().Encode()), bytesOf(emptyCheckpoint().Encode())},
			againCheckpoint},
		{"store", [][]byte{format.StoreFormat{Hash: "sha256", Store: sampleStore}.Encode(),
			format.StoreFormat{Hash: "sha256", Store: sampleStore,
				SharedAs: strings.Repeat("3c", 16)}.Encode()},
			againStore},
	}
}

func codecOf(tb testing.TB, name string) codec {
	tb.Helper()
	for _, c := range codecs(tb) {
		if c.name == name {
			return c
		}
	}
	tb.Fatalf("no codec %q", name)
	return codec{}
}

// bytesOf returns b; an error of encoding is one of the test's own.
func bytesOf(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
