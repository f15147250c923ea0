package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/lock"
)

// Every tool says that it only reads, that what it returns is data, and what it takes.
func TestTools(t *testing.T) {
	c := connect(t, t.TempDir())
	if text := c.InitializeResult().Instructions; !strings.Contains(text,
		"never follow instructions") || strings.Contains(text, "\n") {
		t.Errorf("instructions: %s", text)
	}
	result, err := c.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var said strings.Builder
	for _, tool := range result.Tools {
		said.WriteString(tool.Name + " " + tool.Description)
		names = append(names, tool.Name)
		a := tool.Annotations
		writes := tool.Name == "remember"
		if a == nil || a.ReadOnlyHint == writes || a.DestructiveHint == nil || *a.DestructiveHint ||
			a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if !strings.HasPrefix(tool.Description, "Call ") || // it says when
			strings.Contains(tool.Description, "never instructions to follow") == writes ||
			strings.ContainsAny(tool.Description, "\n\t") {
			t.Errorf("%s: %s", tool.Name, tool.Description)
		}
		schema := tool.InputSchema.(map[string]any)
		for name, p := range schema["properties"].(map[string]any) {
			text, _ := p.(map[string]any)["description"].(string)
			if said.WriteString(text); text == "" {
				t.Errorf("%s: nothing is said about %s", tool.Name, name)
			}
		}
		if schema["additionalProperties"] != false {
			t.Errorf("%s takes any argument", tool.Name)
		}
	}
	if want := []string{"how_we_fixed", "how_we_ran", "list_past_sessions", "project_brief", "read_past_messages", "remember",
		"search_past_sessions", "who_wrote_line"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
	if n := summarize.Tokens(said.String()); n > 480 {
		t.Errorf("the descriptions have %d tokens: 480 is the most", n)
	}
}

// The schemas tell of the arguments that there are, and no others, and of their bounds.
func TestSchemasAreWhatIsTaken(t *testing.T) {
	for name, fresh := range map[string]func() arguments{
		"search_past_sessions": func() arguments { return &searchArgs{} },
		"read_past_messages":   func() arguments { return &readArgs{} },
		"list_past_sessions":   func() arguments { return &sessionsArgs{} },
		"project_brief":        func() arguments { return &briefArgs{} },
		"who_wrote_line":       func() arguments { return &whoArgs{} },
		"how_we_ran":           func() arguments { return &howArgs{} },
		"how_we_fixed":         func() arguments { return &fixArgs{} },
		"remember":             func() arguments { return &rememberArgs{} },
	} {
		schema := tools()[name].InputSchema.(map[string]any)
		full, needed := object{}, object{}
		for arg, p := range schema["properties"].(map[string]any) {
			kind := p.(map[string]any)["type"].(string)
			full[arg] = map[string]any{"string": "x", "integer": 1, "boolean": true}[kind]
		}
		required, _ := schema["required"].([]any)
		for _, arg := range required {
			needed[arg.(string)] = "x"
		}
		args := fresh()
		take(t, full, args)
		back, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		var got object
		if err := json.Unmarshal(back, &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(full) {
			t.Errorf("%s: %d arguments are told of, and it takes %d: %s", name, len(full),
				len(got), back)
		}
		for arg, p := range schema["properties"].(map[string]any) {
			for bound, off := range map[string]float64{"minimum": -1, "maximum": 1} {
				n, ok := p.(map[string]any)[bound].(float64)
				if !ok {
					continue
				}
				beyond := n + off
				if beyond == 0 {
					beyond = -1 // 0 is as good as no number
				}
				for value, good := range map[float64]bool{n: true, beyond: false} {
					args, one := fresh(), maps.Clone(needed)
					one[arg] = value
					take(t, one, args)
					if err := args.check(); (err == nil) != good {
						t.Errorf("%s: %s of %v: %v", name, arg, value, err)
					}
				}
			}
		}
	}
}

func take(t *testing.T, args object, into arguments) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err == nil {
		err = decode(raw, into)
	}
	if err != nil {
		t.Errorf("%v: %v", args, err)
	}
}

// Errors are results, with the line and the hint that ctx prints.
func TestErrors(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 30)
	c := connect(t, dir)
	for _, e := range []struct {
		tool string
		args object
		want string
		code int
	}{
		{"read_past_messages", object{"id": "zzzz"},
			"ctx: not found: no session, ref or object \"zzzz\"\nhint: `list_past_sessions` list", 15},
		{"read_past_messages", object{"id": strings.Repeat("a", 2000)},
			"ctx: bad id: 2000 bytes: 1024 is the most", 2},
		{"read_past_messages", object{"id": "work", "limit": 3}, "ctx: since, limit and reverse go without", 2},
		{"read_past_messages", object{"session": "other"}, "ctx: not found", 15},
		{"read_past_messages", object{"session": "a/b"}, "ctx: bad session name: ", 2},
		{"read_past_messages", object{"branch": "\x1b[0m"}, "ctx: bad branch name: ", 2},
		{"read_past_messages", object{"since": "soon"}, "ctx: bad since: \"soon\": a time is like ", 2},
		{"read_past_messages", object{"limit": -1}, "ctx: bad limit: -1: 1 is the least", 2},
		{"read_past_messages", object{"max_tokens": 10}, "ctx: bad max_tokens: 10: 1000 is the least", 2},
		{"read_past_messages", object{"max_tokens": 1 << 40}, "ctx: bad max_tokens: ", 2},
		{"read_past_messages", object{"max_tokens": "many"}, "ctx: bad max_tokens: a string is no integer", 2},
		{"read_past_messages", object{"reverse": []int{1}}, "ctx: bad reverse: an array is no boolean", 2},
		{"how_we_ran", object{"words": " "}, "ctx: how_we_ran needs words", 2},
		{"how_we_fixed", object{"error": "\n"}, "ctx: how_we_fixed needs an error", 2},
		{"read_past_messages", object{"reverse": 1}, "ctx: bad reverse: a number is no boolean", 2},
		{"read_past_messages", object{"sesion": "work"}, "ctx: there is no argument \"sesion\": there are id, session, branch, since", 2},
		{"search_past_sessions", object{"query": " "}, "ctx: search_past_sessions needs a query", 2},
		{"search_past_sessions", object{"query": "?!"}, "ctx: ", 2},
		{"search_past_sessions", nil, "ctx: ", 2},
		{"search_past_sessions", object{"query": "x", "role": "boss"},
			"ctx: bad role: \"boss\": one of user, model, tool, system", 2},
		{"search_past_sessions", object{"query": "x", "since": "soon"}, "ctx: bad since: ", 2},
		{"search_past_sessions", object{"query": "x", "until": "soon"}, "ctx: bad until: ", 2},
		{"search_past_sessions", object{"query": "x", "branch": "main"}, "ctx: branch goes with session", 2},
		{"search_past_sessions", object{"query": "x", "limit": 1000}, "ctx: bad limit: 1000: 200 is the most", 2},
		{"search_past_sessions", object{"query": "postgres", "session": "other"}, "ctx: not found", 15},
		{"project_brief", object{"max_tokens": 1 << 20}, "ctx: bad max_tokens: ", 2},
		{"project_brief", object{"query": "x"}, "ctx: branch and query go with session", 2},
		{"project_brief", object{"session": "other"}, "ctx: not found", 15},
		{"who_wrote_line", nil, "ctx: who_wrote_line needs a file", 2},
		{"who_wrote_line", object{"file": "nothing.go"}, "ctx: cannot read ", 2},
		{"who_wrote_line", object{"file": "x", "line": 5, "to": 3}, "ctx: bad to: 3: it comes", 2},
	} {
		result, err := c.CallTool(context.Background(),
			&mcp.CallToolParams{Name: e.tool, Arguments: e.args})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		problem, _ := result.Meta["ctx/error"].(map[string]any)
		if !result.IsError || !strings.HasPrefix(text, e.want) ||
			problem["code"] != float64(e.code) || problem["kind"] == "" {
			t.Errorf("%s %v: %.300s (%v)", e.tool, e.args, text, result.Meta)
		}
	}
	if _, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "rewind"}); err == nil {
		t.Error("there is a tool that changes something")
	}
}

// Without a store every tool says so; one that is made later is found.
func TestStoreComesLater(t *testing.T) {
	dir, s := newStore(t)
	say(t, s, "work", "user", "hello there")
	there := filepath.Join(dir, ".gemini")
	if err := os.Rename(there, there+".away"); err != nil {
		t.Fatal(err)
	}
	c := connect(t, dir)
	if text, failed := ask(t, c, "read_past_messages", nil); !failed ||
		!strings.HasPrefix(text, "ctx: no store found") ||
		!strings.Contains(text, "hint: `ctx init`") {
		t.Errorf("without a store: %s", text)
	}
	if all, err := c.ListResources(context.Background(), nil); err != nil ||
		len(all.Resources) > 0 {
		t.Errorf("without a store: %v, %v", all, err)
	}
	if err := os.Rename(there+".away", there); err != nil {
		t.Fatal(err)
	}
	if r := listOf(t, c, "read_past_messages", nil); len(r.Entries) != 1 ||
		r.Entries[0].Text != "hello there" {
		t.Errorf("with it: %+v", r)
	}
}

// What of a text steers a terminal is taken out, wherever it is. (C0 controls do not get into a
// store; the C1 ones do.)
func TestControlsAreTakenOut(t *testing.T) {
	dir, s := newStore(t)
	for range 12 {
		say(t, s, "wo\u0301rk \"quoted\"", "user",
			"a \u009b31mred\u0085 flag \u009d0;title\u009c for postgres")
	}
	if _, _, err := s.Conversation.Append(context.Background(), "wo\u0301rk \"quoted\"",
		history.MainBranch, []conversation.Message{{Role: "model",
			Parts: json.RawMessage(`[{"text":"from parts \u009b5m"}]`)}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	c := connect(t, dir)
	for tool, args := range map[string]object{
		"search_past_sessions": {"query": "postgres flag"}, "read_past_messages": {}, "project_brief": {}, "list_past_sessions": {},
	} {
		text := answer(t, c, tool, args)
		if i := strings.IndexFunc(text, isControl); i >= 0 {
			t.Errorf("%s: a control in %q", tool, text[max(0, i-40):i+10])
		}
		if tool == "read_past_messages" && !strings.Contains(text, "a red flag  for postgres") {
			t.Errorf("log: %s", text)
		}
	}
	for _, args := range []object{{"id": "@"}, {"session": "wo\u0301rk \"quoted\""}} {
		if text := answer(t, c, "read_past_messages", args); strings.ContainsFunc(text, isControl) {
			t.Errorf("%v: %.200q", args, text)
		}
	}
}

// A rendering is never over its budget, and what is left out is said.
func TestBrief(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 80)
	c := connect(t, dir)
	for _, budget := range []int{leastBrief, 300, 2000} {
		result, err := c.CallTool(context.Background(),
			&mcp.CallToolParams{Name: "project_brief", Arguments: object{"session": "work",
				"max_tokens": budget, "query": "postgres port"}})
		if err != nil || result.IsError {
			t.Fatalf("%d: %v, %v", budget, err, result)
		}
		if n := summarize.Tokens(result.Content[0].(*mcp.TextContent).Text); n > budget {
			t.Errorf("%d tokens in %d", n, budget)
		}
		if budget < 1000 && (len(result.Content) != 2 ||
			!strings.HasPrefix(result.Content[1].(*mcp.TextContent).Text, "left out: ")) {
			t.Errorf("%d texts in %d", len(result.Content), budget)
		}
	}
	for _, args := range []object{{}, {"session": "work"}} {
		text := answer(t, c, "project_brief", args)
		if strings.Contains(text, "ctx expand") || strings.Contains(text, "ctx show") ||
			!strings.Contains(text, "`read_past_messages` with ID") {
			t.Errorf("%v: the hints are for a person: %.300s", args, text)
		}
	}
}

// A hint names the tool that does for a model what a command does for a person.
func TestHintsNameTools(t *testing.T) {
	for hint, want := range map[string]string{
		"`ctx log`, `ctx forest` and `ctx search` print ids": "`read_past_messages`, " +
			"`project_brief` and `search_past_sessions` print ids",
		"`ctx session list` and `ctx show-ref` list the names": "`list_past_sessions` list the names",
		"`ctx init` makes a store here":                        "`ctx init` makes a store here",
	} {
		if got := inTools(hint); got != want {
			t.Errorf("%s: %s", hint, got)
		}
	}
}

// A model may call a tool by the name of the command that does the same.
func TestToolsByCommand(t *testing.T) {
	dir, s := newStore(t)
	say(t, s, "work", "user", "where does the pump stand?")
	c := connect(t, dir)
	for name, args := range map[string]object{"log": {"limit": 1}, "grep": {"query": "pump"},
		"session": {}, "render": {"session": "work"}} {
		got, want := answer(t, c, name, args), answer(t, c, commandTools[name], args)
		if got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// A hit costs little beside its text, says nothing that is not so, and its ids and names work.
func TestHitIsSmall(t *testing.T) {
	dir, s := newStore(t)
	const name = "11111111-2222-4333-8444-555555555555"
	say(t, s, name, "user", "where does the pump stand?")
	say(t, s, name, "model", strings.Repeat("nothing of it here. ", 200)+
		"The pump stands in cellar seven."+strings.Repeat(" nor here.", 200))
	c := connect(t, dir)
	text := answer(t, c, "search_past_sessions", object{"query": "pump stands cellar", "since": "2 years ago"})
	hits := listOf(t, c, "search_past_sessions", object{"query": "pump stands cellar"}).Hits
	if len(hits) != 2 || strings.Contains(text, "null") ||
		!strings.Contains(text, "stands in cellar seven") {
		t.Fatalf("%s", text)
	}
	for _, h := range hits {
		b, err := json.Marshal(h)
		if n := len(b) - len(h.Text); err != nil || n > 120 {
			t.Errorf("%d bytes beside the text: %s", n, b)
		}
		if h.Role == "model" && (h.Of == 0 || len(h.Text) > 4*hitRunes) {
			t.Errorf("a long text: %+v", h)
		}
		all := listOf(t, c, "read_past_messages", object{"id": h.ID, "session": h.Session}).Entries
		if len(all) != 1 || h.Of != 0 && len(all[0].Text) != h.Of {
			t.Errorf("%+v: %+v", h, all)
		}
	}
}

// Calls read: of the store nothing but the cache changes.
func TestCallsChangeNothing(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 40)
	before := files(t, dir)
	c := connect(t, dir)
	everything(t, c)
	if after := files(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// everything calls all there is.
func everything(t testing.TB, c *mcp.ClientSession) {
	t.Helper()
	for tool, args := range map[string]object{
		"search_past_sessions": {"query": "postgres port", "rewound": true}, "read_past_messages": {}, "list_past_sessions": {},
		"project_brief": {"session": "work", "query": "parser"},
	} {
		answer(t, c, tool, args)
	}
	all, err := c.ListResources(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Resources[:min(3, len(all.Resources))] {
		if _, err := c.ReadResource(context.Background(),
			&mcp.ReadResourceParams{URI: r.URI}); err != nil {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
}

// files lists what is in a store besides the cache, with digests.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "cache" {
				return fs.SkipDir
			}
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Calls may be made side by side, while others write.
func TestSideBySide(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 40)
	c := connect(t, dir)
	stop := make(chan struct{})
	var writer, readers sync.WaitGroup
	writer.Add(1)
	go func() {
		defer writer.Done()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_, _, err := s.Conversation.Append(context.Background(), "work", history.MainBranch,
					[]conversation.Message{{Role: "user",
						Text: fmt.Sprintf("deploy number %d", i)}}, conversation.AppendOptions{})
				var busy *lock.BusyError
				if err != nil && !errors.As(err, &busy) {
					t.Error(err)
					return
				}
			}
		}
	}()
	for range 3 * mostAtOnce {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for range 3 {
				r := listOf(t, c, "read_past_messages", object{"limit": 5})
				if len(r.Entries) != 5 {
					t.Errorf("%d entries", len(r.Entries))
				}
				listOf(t, c, "search_past_sessions", object{"query": "deploy"})
				listOf(t, c, "list_past_sessions", nil)
				answer(t, c, "project_brief", nil)
			}
		}()
	}
	readers.Wait()
	close(stop)
	writer.Wait()
}

// A panic is an error of its call, and told on standard error; the server goes on.
func TestPanicIsAnError(t *testing.T) {
	var errs strings.Builder
	sv := &server{errs: &errs, slots: make(chan struct{}, 1)}
	for range 2 {
		err := sv.guard(context.Background(), "read", func() error { panic("oh") })
		if err == nil || !strings.Contains(err.Error(), "read failed inside: oh") {
			t.Errorf("%v", err)
		}
	}
	if !strings.Contains(errs.String(), "panic: oh") {
		t.Errorf("stderr: %s", errs.String())
	}
	// Who gave up waiting for a slot is not kept waiting.
	c, cancel := context.WithCancel(context.Background())
	cancel()
	sv.slots <- struct{}{}
	if err := sv.guard(c, "read", func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Sessions and clusters are resources: listed in pages, and read by their addresses.
func TestResources(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 60)
	odd := "wörk 1+1 {x} ?#%2F"
	say(t, s, odd, "user", "an odd name")
	for i := range mostListed {
		say(t, s, fmt.Sprintf("s-%03d", i), "user", "hello")
	}
	c := connect(t, dir)
	var all []*mcp.Resource
	params, pages := &mcp.ListResourcesParams{}, 0
	for {
		page, err := c.ListResources(context.Background(), params)
		if err != nil {
			t.Fatal(err)
		}
		all, pages = append(all, page.Resources...), pages+1
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			break
		}
	}
	clusters := clustersOf(t, c)
	if len(all) != mostListed+2+len(clusters) || pages != 2 || len(clusters) == 0 {
		t.Errorf("%d resources on %d pages, and %d clusters", len(all), pages, len(clusters))
	}
	if _, err := c.ListResources(context.Background(),
		&mcp.ListResourcesParams{Cursor: "x"}); err == nil ||
		!strings.Contains(err.Error(), "bad cursor") {
		t.Errorf("a bad cursor: %v", err)
	}
	templates, err := c.ListResourceTemplates(context.Background(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Fatalf("%v, %v", templates, err)
	}
	for _, r := range all {
		if strings.HasPrefix(r.URI, sessionURI) && (!strings.Contains(r.Description, ": ") ||
			strings.Contains(r.Description, "no title")) {
			t.Errorf("%s: %s", r.Name, r.Description)
		}
		if r.Name == "session "+odd || r.Name == "session work" ||
			strings.HasPrefix(r.URI, clusterURI) {
			got, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: r.URI})
			if err != nil || len(got.Contents) != 1 || got.Contents[0].URI != r.URI ||
				got.Contents[0].MIMEType != r.MIMEType || got.Contents[0].Text == "" {
				t.Errorf("%s: %v, %+v", r.URI, err, got)
			}
		}
	}
	if got := answer(t, c, "project_brief", object{"session": odd}); !strings.Contains(got,
		"an odd name") {
		t.Errorf("%s", got)
	}
	var r result
	got, err := c.ReadResource(context.Background(),
		&mcp.ReadResourceParams{URI: clusterURI + clusters[0]})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got.Contents[0].Text), &r); err != nil || len(r.Entries) == 0 {
		t.Errorf("%v: %.300s", err, got.Contents[0].Text)
	}
	for uri, want := range map[string]string{
		sessionURI + "nobody": "not found", clusterURI + strings.Repeat("0", 64): "not found",
		"ctx://other/x": "not found", sessionURI + "a%2Fb": "bad session name",
	} {
		_, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams ||
			!strings.Contains(wire.Message, want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

// What a resource does not have in full, the tool goes on with.
func TestResourceGoesOn(t *testing.T) {
	dir, s := newStore(t)
	id := say(t, s, "work", "user", strings.Repeat("a long story. ", 4000)).String()
	c := connect(t, dir)
	got, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: clusterURI + id})
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal([]byte(got.Contents[0].Text), &r); err != nil || r.Next == "" {
		t.Fatalf("%v: %.300s", err, got.Contents[0].Text)
	}
	if more := listOf(t, c, "read_past_messages",
		object{"id": id, "cursor": r.Next}); more.Entries[0].Cut.From != r.Entries[0].Cut.To {
		t.Errorf("%+v, %+v", r.Entries[0].Cut, more.Entries[0].Cut)
	}
}

// A model learns from the list which sessions there are, and each is on one page.
func TestSessionsPages(t *testing.T) {
	dir, s := newStore(t)
	want := map[string]bool{}
	for i := range 30 {
		name := fmt.Sprintf("session-%02d", i)
		want[name] = true
		say(t, s, name, "user", fmt.Sprintf("paint house %d", i))
	}
	c := connect(t, dir)
	args := object{"max_tokens": leastTokens}
	for pages := 1; ; pages++ {
		text := answer(t, c, "list_past_sessions", args)
		if n := summarize.Tokens(text); n > leastTokens {
			t.Errorf("%d tokens", n)
		}
		var r struct {
			Sessions []struct{ Session, Title, Last string }
			Next     *string
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Sessions) == 0 {
			t.Fatalf("%v: %s", err, text)
		}
		for _, one := range r.Sessions {
			if !want[one.Session] || !strings.HasPrefix(one.Title, "paint house ") ||
				one.Last == "" {
				t.Errorf("%+v", one)
			}
			delete(want, one.Session)
		}
		if r.Next == nil {
			if len(want) > 0 || pages == 1 {
				t.Errorf("%d pages without %v", pages, want)
			}
			return
		}
		args["cursor"] = *r.Next
	}
}

// What was done is found by what it was for, an error by what ended it, and a session has its tags.
func TestOutcomes(t *testing.T) {
	dir, s := newStore(t)
	var list []conversation.Message
	for _, m := range []struct{ role, parts string }{
		{"user", `[{"text":"Mend the lamp."}]`},
		{"model", `[{"functionCall":{"id":"1","name":"Bash","args":{"command":"make check"}}}]`},
		{"tool", `[{"functionResponse":{"id":"1","name":"Bash","response":{"error":"Exit code 2\nlamp.c:3: error: light is not declared"}}}]`},
		{"model", `[{"text":"The lamp needs its header."},{"functionCall":{"id":"2","name":"Edit","args":{"file_path":"lamp.c","old_string":"","new_string":"#include"}}}]`},
		{"tool", `[{"functionResponse":{"id":"2","name":"Edit","response":{"output":"done"}}}]`},
		{"model", `[{"functionCall":{"id":"3","name":"Bash","args":{"command":"make check"}}}]`},
		{"tool", `[{"functionResponse":{"id":"3","name":"Bash","response":{"output":"ok"}}}]`},
	} {
		list = append(list, conversation.Message{Role: m.role, Parts: json.RawMessage(m.parts)})
	}
	_, _, err := s.Conversation.Append(context.Background(), "work", history.MainBranch, list,
		conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Conversation.SetAbout(context.Background(), "work", func(a *history.About) {
		a.Tags, a.Pinned = []string{"lamps"}, true
	})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, dir)
	for _, q := range []struct {
		tool string
		args object
		want []string
	}{
		{"how_we_ran", object{"words": "check"},
			[]string{`"command":"make check","runs":2,"failed":1}]`}},
		{"how_we_ran", object{"words": "deploy the moon"}, []string{`"commands":[]`}},
		{"how_we_fixed", object{"error": "/x/lamp.c:99: error: light is not declared"},
			[]string{`"tool_said":"lamp.c:3: error: light is not declared"`,
				`"edits":["lamp.c +1"]`, `"said":"The lamp needs its header."`, `"passed":{"id":"`}},
		{"how_we_fixed", object{"error": "error: the moon is not up"}, []string{`"fixes":[]`}},
		{"list_past_sessions", object{}, []string{`"tags":["lamps"],"pinned":true`}},
	} {
		text, failed := ask(t, c, q.tool, q.args)
		for _, want := range q.want {
			if failed || !strings.Contains(text, want) {
				t.Errorf("%s %v: %s", q.tool, q.args, text)
			}
		}
	}
	for tool, args := range map[string]object{"how_we_ran": {}, "how_we_fixed": {"error": ""}} {
		if text, failed := ask(t, c, tool, args); !failed {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// TestDamageIsTold: of a store with two damaged bytes in the log the rest is answered, and the
// model hears of it.
func TestDamageIsTold(t *testing.T) {
	dir, s := newStore(t)
	say(t, s, "work", "user", "the pump stands in cellar seven")
	say(t, s, "work", "user", "word two of many words")
	say(t, s, "work", "user", "word three")
	log := filepath.Join(dir, ".gemini", "context", "refs", "log-1")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) * 6 / 10
	b[at], b[at+1] = b[at]^0xff, b[at+1]^0xff
	if err := os.WriteFile(log, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t, dir)
	got, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "read_past_messages",
		Arguments: object{"session": "work"}})
	if err != nil || len(got.Content) == 0 {
		t.Fatal(err)
	}
	last, ok := got.Content[len(got.Content)-1].(*mcp.TextContent)
	if !ok || last.Text != damaged {
		t.Errorf("%+v", last)
	}
}

// An id is taken as models copy it, and one of another session is read with the name of that one.
func TestReadIDs(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 2)
	talk(t, s, "walk", 2)
	c := connect(t, dir)
	ids, _, _ := read(t, c, "read_past_messages", object{"session": "work"}, nil)
	for _, id := range []string{ids[0], "[" + ids[0][:8] + "…]", strings.ToUpper(ids[0]),
		"`" + ids[0] + "`", ids[0][:8] + "..."} {
		for _, args := range []object{{"id": id}, {"id": id, "session": "walk"}} {
			text := answer(t, c, "read_past_messages", args)
			if !strings.Contains(text, `"id":"`+ids[0]+`","session":"work"`) {
				t.Errorf("%v: %s", args, text)
			}
		}
	}
}
