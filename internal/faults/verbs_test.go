package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/summarizer"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// verb is a command that changes something, as a row of the table.
type verb struct {
	name string
	prep func(*world) error // makes what the command needs beside the template; runs unwatched
	do   func(*world) error

	spread  bool // starts from a store with each object in a pack of its own
	carried bool // starts from a store whose log carries its objects
	many    bool // records several operations, so a part of its work can be there
	// files are the files beside the store that the command changes, relative to the root. Each
	// must have its old or its new content.
	files  []string
	hint   bool     // a power cut may lose its work in these files
	clear  []string // those of files that a user must remove before a second run
	sweeps bool     // its next run removes what it left beside the store
	needs  bool     // the store has faults before, which the command mends
	makes  bool     // there is no store before
	ends   bool     // there is no store after
}

// verbs returns the commands that change something. All tests use this table, so a new command
// needs only a new row.
func verbs() []verb {
	return []verb{
		{name: "append",
			do: on(func(s *session.Store) error {
				return say(s, "talk", main, "user", "one more about the parser")
			})},
		{name: "append to a new session",
			do: on(func(s *session.Store) error { return say(s, "fresh", main, "user", "hello") })},
		{name: "append a batch", do: on(func(s *session.Store) error {
			var batch []conversation.Message
			for i := range 80 {
				batch = append(batch,
					conversation.Message{Role: "user", Text: fmt.Sprint("line ", i)})
			}
			_, _, err := s.Conversation.Append(bg, "talk", main, batch,
				conversation.AppendOptions{NoGraduation: true})
			return err
		})},
		{name: "append a long message", do: on(func(s *session.Store) error {
			return say(s, "talk", main, "user", strings.Repeat("a long line of a log\n", 20_000))
		})},
		{name: "append an amendment", do: on(func(s *session.Store) error {
			id, err := resolve(s, "talk~1")
			if err == nil {
				_, _, err = s.Conversation.Append(bg, "talk", main,
					[]conversation.Message{{Role: "user", Text: "in other words", Amends: id}},
					conversation.AppendOptions{})
			}
			return err
		})},
		{name: "append, linked to a parent", do: on(func(s *session.Store) error {
			_, _, err := s.Conversation.Append(bg, "child", main, says("user", "look"),
				conversation.AppendOptions{Parent: &history.Parent{Session: "edits", Call: "c1"}})
			return err
		})},
		{name: "graduate", many: true,
			do: on(func(s *session.Store) error {
				_, err := s.Conversation.Graduate(bg, "late", main)
				return err
			})},
		{name: "compact", many: true, do: on(func(s *session.Store) error {
			_, err := s.Compaction.Compact(bg,
				compaction.CompactOptions{Branches: []history.BranchName{
					{Session: "talk", Branch: main}, {Session: "late", Branch: main},
				}})
			return err
		})},
		{name: "compact with a helper", many: true, do: on(func(s *session.Store) error {
			_, err := s.Compaction.Compact(bg,
				compaction.CompactOptions{
					Branches:   []history.BranchName{{Session: "late", Branch: main}},
					Summarizer: helper{},
				})
			return err
		})},
		{name: "compact flat", many: true, do: on(func(s *session.Store) error {
			_, err := s.Compaction.Compact(bg,
				compaction.CompactOptions{
					Branches: []history.BranchName{{Session: "talk", Branch: main}},
					Strategy: clusters.Flat,
				})
			return err
		})},
		{name: "compact --commit", many: true, do: on(commitAnswers)},
		{name: "compact --redo", many: true, do: on(func(s *session.Store) error {
			id, err := oldestCluster(s)
			if err == nil {
				_, err = s.Compaction.RedoSummary(bg, id,
					compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
						Branch: main}}})
			}
			return err
		})},
		{name: "evict", prep: on(func(s *session.Store) error {
			_, err := s.Compaction.Compact(bg, compaction.CompactOptions{})
			return err
		}),
			do: on(func(s *session.Store) error {
				id, err := newestCluster(s)
				if err == nil {
					_, err = s.Summaries.Evict(bg, id)
				}
				return err
			})},
		{name: "rewind", do: on(rewind)},
		{name: "undo",
			do: on(func(s *session.Store) error {
				_, err := s.Conversation.Undo(bg, "talk")
				return err
			})},
		{name: "undo a replacement",
			do: on(func(s *session.Store) error {
				_, err := s.Conversation.Undo(bg, "edits")
				return err
			})},
		{name: "redo",
			prep: on(func(s *session.Store) error {
				_, err := s.Conversation.Undo(bg, "talk")
				return err
			}),
			do: on(func(s *session.Store) error {
				_, err := s.Conversation.Redo(bg, "talk")
				return err
			})},
		{name: "redo a rewind", prep: on(func(s *session.Store) error {
			if err := rewind(s); err != nil {
				return err
			}
			_, err := s.Conversation.Undo(bg, "talk")
			return err
		}),
			do: on(func(s *session.Store) error {
				_, err := s.Conversation.Redo(bg, "talk")
				return err
			})},
		{name: "session rm",
			do: on(func(s *session.Store) error {
				_, err := s.Conversation.RemoveSession(bg, "talk")
				return err
			})},
		{name: "session use",
			do: on(func(s *session.Store) error { return s.Conversation.Use(bg, "told") })},
		{name: "session follow",
			do: on(func(s *session.Store) error {
				return s.Conversation.FollowTo(bg,
					func(*refs.View) (string, error) { return "told", nil })
			})},
		{name: "session state", do: on(func(s *session.Store) error {
			set := func(key, value string) state.Change {
				return state.Change{Pair: state.Pair{Key: key,
					Value: json.RawMessage(value)}}
			}
			_, err := s.State.Set(bg,
				state.Names{Session: "talk", App: "shop", User: "ada"},
				[]state.Change{set("app:a", "1"), set("user:b", "2"), set("c", "3")})
			return err
		})},
		{name: "session link", do: on(func(s *session.Store) error {
			_, err := s.Conversation.Link(bg, "late", history.Parent{Session: "talk", Call: "c"},
				true)
			return err
		})},
		{name: "session rename", do: on(func(s *session.Store) error {
			_, _, err := s.Conversation.SetAbout(bg, "talk",
				func(about *history.About) { about.Title, about.Pinned = "the parser", true })
			return err
		})},
		{name: "session model", do: on(func(s *session.Store) error {
			_, err := s.Conversation.SetModel(bg, "talk", main, "gemini-2.5-flash")
			return err
		})},
		{name: "import gemini-cli", many: true, do: on(importGemini)},
		{name: "import jsonl", many: true,
			do: on(func(s *session.Store) error { return importLines(s, "lines") })},
		{name: "import adk-events", many: true, do: on(importADK)},
		{name: "import union-find-json", many: true, do: on(importForest)},
		{name: "import --all", many: true, do: on(func(s *session.Store) error {
			if err := importGemini(s); err != nil {
				return err
			}
			for _, name := range []string{"one", "two"} {
				if err := importLines(s, name); err != nil {
					return err
				}
			}
			_, err := s.Importer.LinkChildren(bg,
				[]importer.Child{{Session: "one",
					Parent: history.Parent{Session: "edits", Call: "c1"}}})
			return err
		})},
		{name: "push", do: on(push)},
		{name: "pull", do: on(pull)},
		{name: "branch fork", do: on(func(s *session.Store) error {
			_, err := s.Conversation.Fork(bg, "talk", main, []string{"left", "right"},
				conversation.ForkOptions{})
			return err
		})},
		{name: "branch fork --at", do: on(func(s *session.Store) error {
			at, err := resolve(s, "talk~9")
			if err == nil {
				_, err = s.Conversation.Fork(bg, "talk", main, []string{"other"},
					conversation.ForkOptions{At: at})
			}
			return err
		})},
		{name: "branch join", do: on(func(s *session.Store) error {
			_, err := s.Conversation.Join(bg, "forked", main, []string{"a", "b"},
				conversation.JoinOptions{})
			return err
		})},
		{name: "epoch observe",
			do: on(func(s *session.Store) error { return observe(s, "talk", "Tuesday") })},
		{name: "epoch observe again",
			do: on(func(s *session.Store) error { return observe(s, "told", "Tuesday") })},
		{name: "mask apply",
			do: on(func(s *session.Store) error {
				_, err := s.Edits.ApplyMasks(bg, "edits", main, nil)
				return err
			})},
		{name: "offload", do: on(func(s *session.Store) error {
			_, _, err := s.Conversation.Offload(bg, "edits", main,
				conversation.Output{Tool: "cat", Call: "x", Text: strings.Repeat("long output ",
					500)})
			return err
		})},
		{name: "replace", do: on(func(s *session.Store) error {
			return replace(s, "edits", func(in view.Input) ([]format.Target, []format.ID) {
				return []format.Target{{Entry: in.Tail[len(in.Tail)-1].ID,
					Part: format.WholeEntry}}, nil
			}, "in short")
		})},
		{name: "replace a cluster", do: on(func(s *session.Store) error {
			return replace(s, "edits",
				func(in view.Input) ([]format.Target, []format.ID) {
					return nil, []format.ID{in.Clusters[0].ID}
				}, "in short")
		})},
		{name: "loop check --record", do: on(checkLoop)},
		{name: "update-ref", do: on(func(s *session.Store) error {
			id, err := resolve(s, "talk~2")
			if err == nil {
				err = s.State.UpdateRef(bg, state.UserRefs+"here", id, &format.ID{})
			}
			return err
		})},
		{name: "update-ref of a session", do: on(func(s *session.Store) error {
			id, err := resolve(s, "talk~2")
			if err == nil {
				_, err = s.Conversation.EndAt(bg, "talk", main, id, conversation.RewindOptions{})
			}
			return err
		})},
		{name: "hook, a turn", many: true, do: hook("AfterAgent")},
		{name: "hook, the end of a session", many: true, do: hook("SessionEnd")},
		{name: "forget", do: on(func(s *session.Store) error {
			id, err := resolve(s, "talk~3")
			if err == nil {
				_, err = forget.Run(bg, s.Opened, forget.Options{IDs: []format.ID{id}})
			}
			return err
		})},
		{name: "forget what the log carries", carried: true, do: on(func(s *session.Store) error {
			_, err := forget.Run(bg, s.Opened, forget.Options{Text: "database"})
			return err
		})},
		{name: "append that ends in a checkpoint", carried: true, prep: on(fillLog),
			do: on(func(s *session.Store) error {
				return say(s, "talk", main, "user", "the last before the checkpoint")
			})},
		{name: "append that merges packs", prep: on(manyPacks),
			do: on(func(s *session.Store) error {
				if err := say(s, "talk", main, "user", "the last before the merge"); err != nil {
					return err
				}
				return s.Store.Locked(bg, func(t *store.Tx) error { return t.UnloadLog() })
			})},
		{name: "forget by a text", spread: true, do: on(func(s *session.Store) error {
			_, err := forget.Run(bg, s.Opened, forget.Options{Text: "lexer"})
			return err
		})},
		{name: "gc of the log", carried: true, prep: leaveGarbage,
			do: on(func(s *session.Store) error {
				_, err := gc.Run(bg, s.Opened, gc.Options{})
				return err
			})},
		{name: "gc", spread: true, prep: leaveGarbage,
			do: on(func(s *session.Store) error {
				_, err := gc.Run(bg, s.Opened, gc.Options{})
				return err
			})},
		{name: "gc of a dense log", carried: true, prep: on(longLog),
			do: on(func(s *session.Store) error {
				s.Config.Log.Keep = 1000 * 24 * time.Hour
				_, err := gc.Run(bg, s.Opened, gc.Options{LogFrom: 1})
				return err
			})},
		{name: "gc of packs", prep: leavePacks, do: on(func(s *session.Store) error {
			_, err := gc.Run(bg, s.Opened, gc.Options{Best: true})
			return err
		})},
		{name: "rebuild", spread: true, needs: true, prep: on(loseDerived),
			do: on(func(s *session.Store) error {
				_, err := repair.Rebuild(bg, s.Opened, repair.RebuildOptions{})
				return err
			})},
		{name: "bundle", files: []string{"copy.ctx"}, clear: []string{"copy.ctx"}, sweeps: true,
			do: func(w *world) error {
				return w.with(func(s *session.Store) error {
					_, err := bundle.Write(bg, s.Opened, w.path("copy.ctx"), nil)
					return err
				})
			}},
		{name: "unbundle", makes: true, prep: bundleAway, do: func(w *world) error {
			_, err := bundle.Unpack(bg, w.env(), w.path("copy.ctx"), w.project())
			return err
		}},
		{name: "init", makes: true,
			prep: func(w *world) error {
				return os.RemoveAll(filepath.Join(w.project(), ".gemini"))
			}, do: func(w *world) error {
				r, _, err := repo.Init(w.env(), w.project())
				if err != nil {
					return err
				}
				return r.Close()
			}},
		{name: "destroy", ends: true,
			do: on(func(s *session.Store) error { return store.Destroy(bg, s.Opened) })},
		{name: "install", files: []string{agentSettings, agentSettings + ".before-ctx"},
			prep: writeSettings, do: install},
		{name: "install where nothing was set",
			files: []string{agentSettings, agentSettings + ".before-ctx"}, do: install},
		{name: "uninstall", files: []string{agentSettings, agentSettings + ".before-ctx"},
			do: uninstall, prep: func(w *world) error {
				return errors.Join(writeSettings(w), install(w))
			}},
		{name: "uninstall where nothing was set",
			files: []string{agentSettings, agentSettings + ".before-ctx"}, prep: install,
			do: uninstall},
		{name: "avail mark", hint: true,
			files: []string{project + "/.gemini/context/cache/avail.json"},
			do: func(w *world) error {
				file := &summarizer.HealthFile{Path: summarizer.HealthPath(w.dir()), FS: w.fs}
				return file.Update(func(h *summarizer.Health) {
					h.MarkTerminal("gemini", "quota", w.now)
				})
			}},
	}
}

func resolve(s *session.Store, rev string) (format.ID, error) {
	v, err := s.Refs.Read()
	if err != nil {
		return format.ID{}, err
	}
	return s.Clusters.Resolve(v, rev)
}

func rewind(s *session.Store) error {
	target, err := resolve(s, "talk~9")
	if err == nil {
		_, err = s.Conversation.Rewind(bg, "talk", main, target, conversation.RewindOptions{})
	}
	return err
}

// helper is a summarizer with a small limit.
type helper struct{}

func (helper) Limit() int { return 200 }
func (helper) Summarize(_ context.Context, ask summarize.Request) (summarize.Response, error) {
	return told(strings.Repeat("word ", ask.Tokens*4/5)), nil
}

func commitAnswers(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	var answers []summaries.Answer
	err = s.Compaction.Claims(bg, v, 0, func(c compaction.Claim) error {
		answers = append(answers, summaries.Answer{Claim: c.ID, Response: told("w")})
		return nil
	})
	if err == nil {
		_, err = s.Compaction.Commit(bg, answers)
	}
	return err
}

func clustersOf(s *session.Store) ([]clusters.ClusterInfo, error) {
	v, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	list, err := s.Recall.Clusters(v)
	if err == nil && len(list) == 0 {
		err = errors.New("no clusters")
	}
	return list, err
}

func newestCluster(s *session.Store) (format.ID, error) {
	list, err := clustersOf(s)
	if err != nil {
		return format.ID{}, err
	}
	return list[0].ID, nil
}

// oldestCluster returns a tombstone if there is one, so that the command has more to do.
func oldestCluster(s *session.Store) (format.ID, error) {
	list, err := clustersOf(s)
	if err != nil {
		return format.ID{}, err
	}
	return list[len(list)-1].ID, nil
}

func importGemini(s *session.Store) error {
	_, err := s.Importer.ImportTranscript(
		bg, func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return geminicli.ReadAs("", strings.NewReader(geminiTalk), emit)
		}, "")
	return err
}

func importLines(s *session.Store, name string) error {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `{"session":%q,"id":"m%d","role":%q,"text":"%s line %d"}`+"\n", name, i,
			[]string{"user", "model"}[i%2], name, i)
	}
	done, err := s.Importer.ImportTranscript(
		bg, func(emit func(transcript.Step) error) (transcript.Stats, error) {
			return shape.ReadJSONL(strings.NewReader(b.String()), emit)
		}, "")
	if err == nil && done.Messages+done.Known < 12 {
		err = fmt.Errorf("not all lines are read: %+v", done)
	}
	return err
}

func importADK(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := s.Exporter.ADK(bg, v, "told", main, &b,
		exporter.ADKOptions{WriteOptions: adk.WriteOptions{Agent: "agent"}}); err != nil {
		return err
	}
	_, err = s.Importer.ImportADK(bg, &b, "events", adk.Detect)
	return err
}

func importForest(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	doc, err := s.ForestFile.Export(v, v.Number)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := forestfile.Encode(&b, doc); err != nil {
		return err
	}
	_, err = s.ForestFile.Import(bg, &b, "brought")
	return err
}

// checkLoop does what `ctx loop check -s late --record` does.
func checkLoop(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	d, err := s.Conversation.Loop(v, "late", main)
	if err != nil {
		return err
	}
	for i := range 6 {
		if err := d.Call(fmt.Sprint("l", i), "read_file", []byte(`{"path":"a"}`)); err != nil {
			return err
		}
	}
	m, err := s.Conversation.LoopNotice(d.Verdict())
	if err != nil {
		return err
	}
	if _, _, err := s.Conversation.Append(bg, "late", main, []conversation.Message{m},
		conversation.AppendOptions{}); err != nil {
		return err
	}
	return s.Conversation.SaveLoop("late", main, d)
}

// hook is a call of the hook by an agent. A hook never fails towards the agent; here its noted
// problem is the error.
func hook(event string) func(*world) error {
	return func(w *world) error {
		return w.with(func(s *session.Store) error {
			before, err := hooks.Troubles(s.Dir)
			if err != nil {
				return err
			}
			in, err := json.Marshal(map[string]string{"hook_event_name": event,
				"session_id":      "5d1c0e6e-0000-4000-8000-000000000001",
				"transcript_path": w.path("chat.jsonl")})
			if err != nil {
				return err
			}
			agent := geminiCLI()
			hooks.Run(bg, s, agent, hooks.Hear(agent, bytes.NewReader(in)))
			noted, err := hooks.Troubles(s.Dir)
			if err == nil && len(noted) > len(before) {
				err = errors.New(noted[len(noted)-1].Problem)
			}
			return err
		})
	}
}

// leaveGarbage leaves objects that nothing names after the log that names them is dropped.
func leaveGarbage(w *world) error {
	return w.with(func(s *session.Store) error {
		if _, err := s.Conversation.RemoveSession(bg, "told"); err != nil {
			return err
		}
		return say(s, "late", main, "user", "go on")
	})
}

// longLog closes a segment of the log, which the next gc makes dense, and begins another.
func longLog(s *session.Store) error {
	if err := s.Store.Locked(bg, func(t *store.Tx) error { return t.CloseLog() }); err != nil {
		return err
	}
	return say(s, "late", main, "user", "go on")
}

// leavePacks leaves two packs, and garbage in one of them.
func leavePacks(w *world) error {
	old := *w
	old.now = today
	if err := old.with(func(s *session.Store) error {
		_, err := gc.Run(bg, s.Opened, gc.Options{})
		return err
	}); err != nil {
		return err
	}
	return w.with(func(s *session.Store) error {
		var batch []conversation.Message
		for i := range 80 {
			batch = append(batch,
				conversation.Message{Role: "user", Text: fmt.Sprint("packed ", i)})
		}
		if _, _, err := s.Conversation.Append(bg, "packed", main, batch,
			conversation.AppendOptions{NoGraduation: true}); err != nil {
			return err
		}
		if _, err := s.Conversation.RemoveSession(bg, "told"); err != nil {
			return err
		}
		return say(s, "late", main, "user", "go on")
	})
}

// loseDerived removes the caches and every pack of one object that rebuild can make again.
func loseDerived(s *session.Store) error {
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		return err
	}
	names, err := s.Objects.PackNames(objects.IndexExt)
	if err != nil {
		return err
	}
	lost := 0
	for _, pack := range names {
		c, err := s.Objects.PackContents(pack)
		if err != nil {
			return err
		}
		b, err := s.Objects.Header(c.IDs[0])
		if err != nil {
			return err
		}
		_, node := format.DecodeNode(b)
		_, page := format.DecodePage(b)
		_, forest := format.DecodeForest(b)
		if len(c.IDs) > 1 || node != nil && page != nil && forest != nil {
			continue
		}
		lost++
		if err := errors.Join(os.Remove(s.Objects.IndexPath(pack)),
			os.Remove(s.Objects.PackPath(pack))); err != nil {
			return err
		}
	}
	if lost < 10 {
		return fmt.Errorf("only %d objects were lost", lost)
	}
	return nil
}

// fillLog brings the log to where the next operation but one is a checkpoint.
func fillLog(s *session.Store) error {
	for {
		v, err := s.Refs.Read()
		if err != nil || len(v.Since) == refs.CheckpointEvery-1 {
			return err
		}
		if err := say(s, "filler", main, "user", "fill"); err != nil {
			return err
		}
	}
}

// manyPacks leaves so many small packs that the next one takes them in.
func manyPacks(s *session.Store) error {
	for range 16 {
		if err := say(s, "filler", main, "user", "fill"); err != nil {
			return err
		}
		if err := s.Store.Locked(bg, func(t *store.Tx) error { return t.UnloadLog() }); err != nil {
			return err
		}
	}
	return nil
}

// bundleAway replaces a store by a bundle of it.
func bundleAway(w *world) error {
	err := w.with(func(s *session.Store) error {
		_, err := bundle.Write(bg, s.Opened, w.path("copy.ctx"), nil)
		return err
	})
	return errors.Join(err, os.RemoveAll(filepath.Join(w.project(), ".gemini")))
}

const agentSettings = project + "/.gemini/settings.json"

func writeSettings(w *world) error {
	return os.WriteFile(w.path(agentSettings),
		[]byte("{\n  // what the user set\n  \"theme\": \"dark\"\n}\n"), 0o600)
}

func geminiCLI() *hooks.Agent {
	agent, _ := hooks.AgentNamed(hooks.GeminiCLI)
	return &agent
}

func install(w *world) error {
	c, err := geminiCLI().PlanInstall(w.path(agentSettings), "ctx", false)
	if err != nil {
		return err
	}
	return c.Apply(w.fs)
}

func uninstall(w *world) error {
	c, err := geminiCLI().PlanUninstall(w.path(agentSettings))
	if err != nil {
		return err
	}
	return c.Apply(w.fs)
}
