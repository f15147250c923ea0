package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/hooks"
)

// whoseCase is a session that began in one directory, and whose hook runs in another.
type whoseCase struct {
	began, works string
	store        string // of which project; "" for none
	alone        bool   // an import cannot know it: no directory is left that says whose it is
}

var whoseCases = map[string]whoseCase{
	"in the project":                  {began: "p", works: "p", store: "p"},
	"in a subdirectory":               {began: "p/sub", works: "p/sub", store: "p"},
	"gone on to a subdirectory":       {began: "p", works: "p/sub", store: "p"},
	"through a link":                  {began: "link", works: "link", store: "p"},
	"gone on to a nested store":       {began: "p", works: "p/nested", store: "p"},
	"in a nested store":               {began: "p/nested", works: "p/nested", store: "p/nested"},
	"from a nested store":             {began: "p/nested", works: "p", store: "p/nested"},
	"in a sibling work tree":          {began: "beside", works: "beside", store: "p"},
	"gone on to a sibling work tree":  {began: "p", works: "beside", store: "p"},
	"from a sibling work tree":        {began: "beside/sub", works: "p", store: "p"},
	"of another project with a store": {began: "q", works: "p", store: "q"},
	"of another project without one":  {began: "r", works: "p"},
	"gone on to where no store is":    {began: "p", works: "r", store: "p"},
	"in a subdirectory that is gone":  {began: "p/gone", works: "p", store: "p"},
	"where nothing is any more":       {began: "moved", works: "p", store: "p", alone: true},
	"in another project, all of it":   {began: "r", works: "r"},
}

// sessionsIn writes a session of each agent that began in a directory, and returns its transcript
// for the hook.
var sessionsIn = map[string]func(home, dir, id string) string{
	"claude-code": func(home, dir, id string) string {
		return put(filepath.Join(home, ".claude/projects", claudecode.Slug(dir), id+".jsonl"),
			fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"said"},"parentUuid":null,"cwd":%q,"sessionId":%q,"uuid":%q,"timestamp":"2026-02-03T08:00:00Z"}`, dir, id, "1"+id[1:]))
	},
	"qwen": func(home, dir, id string) string {
		folder := filepath.Join(home, ".qwen/projects", claudecode.Slug(dir))
		return put(filepath.Join(folder, "chats", id+".jsonl"),
			fmt.Sprintf(`{"uuid":%q,"parentUuid":null,"sessionId":%q,"timestamp":"2026-02-03T08:00:00Z","type":"user","cwd":%q,"message":{"role":"user","parts":[{"text":"said"}]}}`, "1"+id[1:], id, dir))
	},
	"codex": func(home, dir, id string) string {
		return put(filepath.Join(home, ".codex/sessions/2026/02/03/rollout-2026-02-03T08-00-00-"+id+".jsonl"),
			fmt.Sprintf(`{"timestamp":"2026-02-03T08:00:00Z","type":"session_meta","payload":{"id":%q,"timestamp":"2026-02-03T08:00:00Z","cwd":%q}}`, id, dir)+"\n"+
				`{"timestamp":"2026-02-03T08:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"said"}]}}`)
	},
	"droid": func(home, dir, id string) string {
		return put(filepath.Join(home, ".factory/sessions", claudecode.Slug(dir), id+".jsonl"),
			fmt.Sprintf(`{"type":"session_start","id":%q,"title":"T","version":2,"cwd":%q}`, id, dir)+"\n"+
				`{"type":"message","id":"m1","timestamp":"2026-02-03T08:00:00Z","message":{"role":"user","content":[{"type":"text","text":"said"}]}}`)
	},
	"copilot": func(home, dir, id string) string {
		return put(filepath.Join(home, ".copilot/session-state", id, "events.jsonl"),
			fmt.Sprintf(`{"type":"session.start","id":"e0","timestamp":"2026-02-03T08:00:00Z","parentId":null,"data":{"sessionId":%q,"context":{"cwd":%q}}}`, id, dir)+"\n"+
				`{"type":"user.message","data":{"content":"said"},"id":"e1","timestamp":"2026-02-03T08:00:00Z","parentId":"e0"}`)
	},
	"gemini-cli": func(home, dir, id string) string {
		folder := filepath.Join(home, ".gemini/tmp", claudecode.Slug(dir))
		put(filepath.Join(folder, ".project_root"), dir)
		return put(filepath.Join(folder, "chats", "session-2026-02-03T08-00-"+id[:8]+".jsonl"),
			fmt.Sprintf(`{"sessionId":%q,"projectHash":"ab","kind":"main"}`, id)+"\n"+
				`{"id":"a","timestamp":"2026-02-03T08:00:00Z","type":"user","content":"said"}`)
	},
	"cursor": func(home, dir, id string) string {
		return put(filepath.Join(home, ".cursor/projects",
			strings.TrimLeft(claudecode.Slug(dir), "-"), "agent-transcripts", id+".jsonl"),
			`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>said</user_query>"}]}}`+"\n"+
				fmt.Sprintf(`{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"path":%q}}]}}`, dir+"/main.go"))
	},
}

// put writes a file with a line feed at its end, and returns its path.
func put(path, text string) string {
	path = filepath.FromSlash(path)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil ||
		os.WriteFile(path, []byte(text+"\n"), 0o600) != nil {
		panic(path)
	}
	return path
}

// A hook records into the store that an import takes the same session to, whichever directory the
// agent has gone to, and else says that it does not.
func TestHooksAndImportsAgree(t *testing.T) {
	names := slices.Sorted(maps.Keys(whoseCases))
	id := func(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000001", 0xa0+n) }
	for agent, write := range sessionsIn {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			hooked, imported := newProjects(t), newProjects(t)
			for n, name := range names {
				c := whoseCases[name]
				hooked.hook(agent, &c, id(n), write(hooked.home, hooked.at(c.began), id(n)))
				write(imported.home, imported.at(c.began), id(n))
			}
			for _, project := range withStores {
				imported.run(project, "", "import", "--all")
			}
			for n, name := range names {
				c := whoseCases[name]
				if got := hooked.has(id(n)); got != c.store {
					t.Errorf("%s: the hook recorded into %q, not %q", name, got, c.store)
				}
				if got := imported.has(id(n)); got != c.store && !c.alone {
					t.Errorf("%s: the import recorded into %q, not %q", name, got, c.store)
				}
			}
			for _, dir := range []string{"p/nested", "q"} {
				if got := hooked.run(dir, "", "status"); strings.Contains(got, "hooks failed") {
					t.Errorf("a trouble in %s: %s", dir, got)
				}
			}
			got := hooked.run("p", "", "status")
			if !strings.Contains(got, "hooks failed 1 time;") || !strings.Contains(got, "the session began in \""+hooked.at("r")) {
				t.Errorf("status: %s", got)
			}
		})
	}
	for _, a := range hooks.Agents() {
		if sessionsIn[a.Name] == nil && a.Plugin() == "" && a.Name != "antigravity" {
			t.Errorf("%s has no session here", a.Name)
		}
	}
}

// projects are the directories of whoseCases.
type projects struct {
	t          *testing.T
	root, home string
}

var withStores = []string{"p", "p/nested", "q"}

func newProjects(t *testing.T) *projects {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &projects{t, root, filepath.Join(root, "home")}
	for _, dir := range []string{"p/sub", "beside/sub", "r", "q", "p/nested"} {
		put(filepath.Join(p.at(dir), "keep"), "")
	}
	put(filepath.Join(root, "p/.git/HEAD"), "ref: refs/heads/main")
	put(filepath.Join(root, "p/.git/worktrees/b/HEAD"), "ref: refs/heads/b")
	put(filepath.Join(root, "p/.git/worktrees/b/commondir"), "../..")
	put(filepath.Join(root, "p/.git/worktrees/b/gitdir"), filepath.Join(root, "beside/.git"))
	put(filepath.Join(root, "beside/.git"), "gitdir: "+filepath.Join(root, "p/.git/worktrees/b"))
	if err := os.Symlink(p.at("p"), p.at("link")); err != nil {
		t.Skipf("SKIPPED: symbolic links cannot be made here: %v", err)
	}
	for _, dir := range withStores {
		p.run(dir, "", "init")
	}
	return p
}

func (p *projects) at(dir string) string { return filepath.Join(p.root, filepath.FromSlash(dir)) }

func (p *projects) run(dir, stdin string, args ...string) string {
	p.t.Helper()
	w := testWorld(p.at(dir), stdin)
	w.home, w.userData = p.home, filepath.Join(p.home, "data")
	_, out, errs := runWorld(w, args)
	return out + errs
}

// hook runs the hook of an agent at the end of a turn.
func (p *projects) hook(agent string, c *whoseCase, id, transcript string) {
	p.t.Helper()
	a, _ := hooks.AgentNamed(agent)
	call, err := json.Marshal(map[string]string{"hook_event_name": a.Turn, "session_id": id,
		"transcript_path": transcript, "cwd": p.at(c.works)})
	if err != nil {
		p.t.Fatal(err)
	}
	if out := p.run(c.works, string(call), "hook", agent, a.Turn); out != "" {
		p.t.Errorf("the hook printed %s", out)
	}
}

// has returns the projects whose stores have a session.
func (p *projects) has(id string) string {
	p.t.Helper()
	var found []string
	for _, dir := range withStores {
		if strings.Contains(p.run(dir, "", "session", "list", "--json"), id) {
			found = append(found, dir)
		}
	}
	return strings.Join(found, " and ")
}

// A transcript that is not where the agent says is looked for by its name, and is the session's if
// it is found; else status and doctor say that nothing was recorded.
func TestTranscriptElsewhere(t *testing.T) {
	const id = "000000aa-0000-4000-8000-000000000001"
	for agent, write := range sessionsIn {
		row, _ := catalog.Named(agent)
		a, _ := hooks.AgentNamed(agent)
		for name, c := range map[string]struct {
			there, want bool
		}{"elsewhere": {true, true}, "nowhere": {false, false}} {
			t.Run(agent+" "+name, func(t *testing.T) {
				p := newProjects(t)
				path := filepath.Join(p.home, "none", filepath.Base(
					write(filepath.Join(p.root, "away"), p.at("p"), id)))
				if row.Named != nil {
					path = filepath.Join(p.home, "none", id, "events.jsonl")
				}
				if c.there {
					write(p.home, p.at("p"), id)
				}
				p.hook(agent, &whoseCase{works: "p/sub"}, id, path)
				if got := p.has(id) == "p"; got != c.want {
					t.Errorf("recorded: %v", got)
				}
				for _, command := range []string{"status", "doctor"} {
					said := strings.Contains(p.run("p", "", command), "the transcript")
					if said != (!c.want && !a.Late) {
						t.Errorf("%s says so: %v", command, said)
					}
				}
			})
		}
	}
}
