package importer_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func readClaude(in string) transcript.Read {
	return func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return claudecode.ReadAs("", strings.NewReader(in), emit)
	}
}

func readCodex(in string) transcript.Read {
	return func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return codex.Read(strings.NewReader(in), emit)
	}
}

func begin(t *testing.T, s *session.Store) *importer.Imports {
	t.Helper()
	return storetest.Must[*importer.Imports](t)(s.Importer.BeginImports("build 1"))
}

// importFile imports a file in a run.
func importFile(
	t *testing.T, s *session.Store, r *importer.Imports, f importer.File, read transcript.Read,
) importer.ImportedTranscript {
	t.Helper()
	done := storetest.Must[importer.ImportedTranscript](t)(
		s.Importer.ImportTranscript(context.Background(), read, f.As))
	r.Imported(f, &done, true)
	return done
}

// importOnce is a run over one file.
func importOnce(
	t *testing.T, s *session.Store, f importer.File, read transcript.Read,
) importer.ImportedTranscript {
	t.Helper()
	r := begin(t, s)
	done := importFile(t, s, r, f, read)
	storetest.Must[int](t)(s.Importer.LinkChildren(context.Background(), done.Children))
	for _, name := range done.Changed {
		if _, err := s.Conversation.GraduateAndAdopt(context.Background(), name,
			history.MainBranch); err != nil {
			t.Fatal(err)
		}
	}
	r.Remember()
	return done
}

var someFile = importer.File{Path: "/a/s.jsonl", Agent: "claude-code", Size: 100,
	Time: 5, Ends: "ab"}

// A file is left unread only while all that its import depends on is the same.
func TestUnchanged(t *testing.T) {
	ctx := context.Background()
	in := claudeRecord("a", "") + claudeRecord("b", "a") + claudeRecord("c", "b")
	cacheFile := func(t *testing.T, s *session.Store) string {
		list, err := filepath.Glob(filepath.Join(s.Dir, "cache", "import-*"))
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	same := func(f *importer.File) {}
	nothing := func(*testing.T, *session.Store) {}
	for _, c := range []struct {
		name   string
		file   func(*importer.File)
		change func(*testing.T, *session.Store)
		unread bool
	}{
		{"nothing", same, nothing, true},
		{"another session", same,
			func(t *testing.T, s *session.Store) { storetest.Say(t, s, "other", "user", "hello") },
			true},
		{"the path", func(f *importer.File) { f.Path = "/b/s.jsonl" }, nothing, false},
		{"the agent", func(f *importer.File) { f.Agent = "codex" }, nothing, false},
		{"the session asked for", func(f *importer.File) { f.As = "named" }, nothing, false},
		{"the size", func(f *importer.File) { f.Size++ }, nothing, false},
		{"the time", func(f *importer.File) { f.Time++ }, nothing, false},
		{"the ends", func(f *importer.File) { f.Ends = "ba" }, nothing, false},
		{"a message", same,
			func(t *testing.T, s *session.Store) { storetest.Say(t, s, "s", "user", "hello") },
			false},
		{"a rewind", same, func(t *testing.T, s *session.Store) {
			tip := storetest.View(t, s).Get(history.RefName("s", history.MainBranch)).ID
			e, err := s.History.Header(tip)
			if err != nil {
				t.Fatal(err)
			}
			storetest.Must[conversation.Rewound](t)(
				s.Conversation.Rewind(ctx, "s", history.MainBranch, history.FirstParent(e),
					conversation.RewindOptions{}))
		}, false},
		{"an undo", same, func(t *testing.T, s *session.Store) {
			storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "s"))
		}, false},
		{"an undo and a redo", same, func(t *testing.T, s *session.Store) {
			storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "s"))
			storetest.Must[conversation.Undone](t)(s.Conversation.Redo(ctx, "s"))
		}, true},
		{"a branch", same, func(t *testing.T, s *session.Store) {
			storetest.Must[conversation.Forked](t)(s.Conversation.Fork(ctx, "s", history.MainBranch,
				[]string{"side"}, conversation.ForkOptions{}))
		}, false},
		{"a pattern of secrets", same,
			func(t *testing.T, s *session.Store) {
				s.Config.Sanitize.Extra = []string{"walrus-[0-9]+"}
			}, false},
		{"the id of the store", same,
			func(t *testing.T, s *session.Store) { s.History.ID = strings.Repeat("0", 32) }, false},
		{"a damaged file", same, func(t *testing.T, s *session.Store) {
			path := cacheFile(t, s)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a removed file", same, func(t *testing.T, s *session.Store) {
			if err := os.Remove(cacheFile(t, s)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"an unfinished forget", same, func(t *testing.T, s *session.Store) {
			if err := os.MkdirAll(filepath.Join(s.Dir, "absent"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.Dir, "absent", "unfinished"), []byte("x"),
				0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storetest.Create(t)
			first := importOnce(t, s, someFile, readClaude(in))
			c.change(t, s)
			f := someFile
			c.file(&f)
			got, unread := begin(t, s).Unchanged(f)
			if unread != c.unread {
				t.Fatalf("left unread: %v, want %v", unread, c.unread)
			}
			if want := first.Messages + first.Notes; unread &&
				(got.Known != want || got.Messages != 0 || got.Session != "s") {
				t.Errorf("%+v, want %d known", got, want)
			}
		})
	}
}

// The build and the key of the store are part of what a file was read with.
func TestUnchangedElsewhere(t *testing.T) {
	s := storetest.Create(t)
	importOnce(t, s, someFile, readClaude(claudeRecord("a", "")))
	r := storetest.Must[*importer.Imports](t)(s.Importer.BeginImports("build 2"))
	if _, unread := r.Unchanged(someFile); unread {
		t.Error("another build left the file unread")
	}
	if _, unread := begin(t, s).Unchanged(someFile); !unread {
		t.Error("the same build read the file")
	}
	key := make([]byte, 32)
	rand.Read(key)
	if err := os.WriteFile(filepath.Join(s.Dir, "key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	again := storetest.Reopen(t, filepath.Dir(filepath.Dir(s.Dir)), nil)
	if _, unread := begin(t, again).Unchanged(someFile); unread {
		t.Error("a file was left unread under another key")
	}
}

// The report of a file that is left unread is that of reading it.
func TestUnchangedReport(t *testing.T) {
	parent, first, second := rollouts()
	testdata := func(path string) string {
		b, err := os.ReadFile(filepath.Join("..", "agent", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	secret := strings.ReplaceAll(claudeRecord("a", ""), "says a",
		`says \u0007 ghp_`+strings.Repeat("a1B2", 9))
	lines := `{"role":"user","text":"hello \u0007"}` + "\n" + `{"role":"model","text":"hi"}` + "\n"
	readPlain := func(in string) transcript.Read {
		return func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return shape.ReadJSONL(strings.NewReader(in), emit)
		}
	}
	goesBack := claudeRecord("a", "") + claudeRecord("b", "a") + claudeRecord("c", "b") +
		claudeRecord("d", "a")
	for name, reads := range map[string][]transcript.Read{
		"Claude Code":          {readClaude(testdata("claudecode/testdata/session.jsonl"))},
		"Codex":                {readCodex(testdata("codex/testdata/rollout.jsonl"))},
		"a thread and helpers": {readCodex(parent), readCodex(first), readCodex(second)},
		"a secret":             {readClaude(secret)},
		"a rewind":             {readClaude(goesBack)},
		"a line again":         {readClaude(goesBack + claudeRecord("e", "c"))},
		"nothing":              {readClaude("")},
		"a torn tail":          {readClaude(claudeRecord("a", "") + `{"uuid":`)},
		"JSON lines":           {readPlain(lines)},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Create(t)
			unread := 0
			for range 3 {
				for i, read := range reads {
					f := someFile
					f.Path, f.As = string(rune('a'+i)),
						map[bool]string{true: "lines"}[name == "JSON lines"]
					was, skipped := begin(t, s).Unchanged(f)
					got := importOnce(t, s, f, read)
					if !skipped {
						continue
					}
					unread++
					was.Children, got.Children = nil, nil
					was.Stats.Home, got.Stats.Home, was.Stats.Spawned, got.Stats.Spawned = nil, nil,
						nil, nil
					was.Stats.Session, was.Stats.Parent = got.Stats.Session, got.Stats.Parent
					if a, b := fieldsOf(was), fieldsOf(got); !reflect.DeepEqual(a, b) {
						t.Errorf("left unread: %+v\nread:        %+v", a, b)
					}
				}
			}
			if unread < len(reads) {
				t.Errorf("%d of %d files were left unread in two more runs", unread, len(reads))
			}
		})
	}
}

// fieldsOf returns the exported fields of a report, with nil for what is empty.
func fieldsOf(done importer.ImportedTranscript) map[string]any {
	out := map[string]any{}
	for v, i := reflect.ValueOf(done), 0; i < v.NumField(); i++ {
		if f := v.Type().Field(i); f.IsExported() {
			out[f.Name] = v.Field(i).Interface()
		}
	}
	if len(done.Redacted) == 0 {
		tally := done.Tally
		tally.Redacted = nil
		out["Tally"] = tally
	}
	return out
}

// A file is not remembered if somebody else moves its session during the run, or another file of
// the run goes to the same session.
func TestUnchangedMeanwhile(t *testing.T) {
	short := claudeRecord("a", "") + claudeRecord("b", "a")
	longer := short + claudeRecord("c", "b")
	other := someFile
	other.Path = "/a/t.jsonl"
	for name, meanwhile := range map[string]func(*testing.T, *session.Store, *importer.Imports){
		"another process": func(t *testing.T, s *session.Store, _ *importer.Imports) {
			there := storetest.Reopen(t, filepath.Dir(filepath.Dir(s.Dir)), nil)
			storetest.Must[conversation.Undone](t)(
				there.Conversation.Undo(context.Background(), "s"))
		},
		"another file": func(t *testing.T, s *session.Store, r *importer.Imports) {
			importFile(t, s, r, other, readClaude(longer))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Create(t)
			r := begin(t, s)
			importFile(t, s, r, someFile, readClaude(short))
			meanwhile(t, s, r)
			r.Remember()
			if _, unread := begin(t, s).Unchanged(someFile); unread {
				t.Error("the file is left unread")
			}
		})
	}
}

// A rollout that begins with a copy of another session depends on that session.
func TestUnchangedCopies(t *testing.T) {
	parent, first, _ := rollouts()
	child := someFile
	child.Path = "/a/child.jsonl"
	s := storetest.Create(t)
	importOnce(t, s, child, readCodex(first))
	if _, unread := begin(t, s).Unchanged(child); !unread {
		t.Error("the child of an unknown session is read again")
	}
	importOnce(t, s, someFile, readCodex(parent))
	if _, unread := begin(t, s).Unchanged(child); unread {
		t.Error("the child is left unread after its parent has come")
	}
	importOnce(t, s, child, readCodex(first))
	if _, unread := begin(t, s).Unchanged(child); !unread {
		t.Error("the child is read again")
	}
	storetest.Say(t, s, "p", "user", "one more")
	if _, unread := begin(t, s).Unchanged(child); unread {
		t.Error("the child is left unread after its parent has grown")
	}
}

// Of the forks of a session that the store does not have, the first of a run stands in for it, also
// where that one is left unread.
func TestUnchangedForks(t *testing.T) {
	parent, first, second := rollouts()
	lines := strings.SplitAfter(strings.TrimSpace(parent), "\n")
	more := lines[len(lines)-1]
	for name, order := range map[string][2]string{"by name": {"a", "b"}, "against it": {"b", "a"}} {
		t.Run(name, func(t *testing.T) {
			in := map[string]string{"a": first, "b": second}
			dir := storetest.Create(t)
			// run imports the files in order, each as in a process of its own, and says which are read.
			run := func() (read []string, messages int) {
				s := storetest.Reopen(t, filepath.Dir(filepath.Dir(dir.Dir)), nil)
				r := begin(t, s)
				var children []importer.Child
				for _, name := range order {
					f := importer.File{Path: name, Agent: codex.Agent, Size: int64(len(in[name]))}
					then := func(done importer.ImportedTranscript) error {
						children, messages = append(children, done.Children...),
							messages+done.Messages
						return nil
					}
					r.Unchanged(f)
					if storetest.Must[bool](t)(r.PassOver(f, then)) {
						continue
					}
					read = append(read, name)
					err := r.Import(context.Background(),
						importer.ReadAhead(context.Background(), readCodex(in[name])), "",
						func(done importer.ImportedTranscript, err error) error {
							if err != nil {
								return err
							}
							r.Imported(f, &done, true)
							return then(done)
						})
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := r.Flush(); err != nil {
					t.Fatal(err)
				}
				storetest.Must[int](t)(s.Importer.LinkChildren(context.Background(), children))
				r.Remember()
				return read, messages
			}
			if read, messages := run(); len(read) != 2 || messages != 6 {
				t.Fatalf("read %v, %d messages", read, messages)
			}
			run() // links may have changed which session stands in
			if read, messages := run(); len(read) > 0 || messages > 0 {
				t.Errorf("read again: %v, %d messages", read, messages)
			}
			in[order[1]] += more
			if read, messages := run(); !slices.Equal(read, order[1:]) || messages != 1 {
				t.Errorf("a longer fork: read %v, %d messages", read, messages)
			}
		})
	}
}
