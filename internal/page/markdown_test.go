package page

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// escapees are texts that try to leave their place in a document.
var escapees = []string{
	"# a heading", "   ## another", "text\n===", "text\n---", "a\n- b\n---", "```\n# code\n",
	"~~~\n<b>\n", "<script>alert(1)</script>", "<details><summary>x", "</details>", "a ` <b> `` c",
	"x ` y\n` <b> `", "\\` <b> `", "`<b>` and <i>", "```x`\n# no fence", "<!-- x", "> <b>\n# h",
	"- # in a list", "1. ```\n# h", "\t# tab", "[a](<b>)", "a\n\n    # code\n", "#hash", "<?php",
	"`````\n```\n# still code\n`````\n# heading", "a\r\n===\r\n", "* <b>\n  ===", "####### seven",
	"![x](http://a.test/b)", "\\![x](b)", "![x][1]\n\n[1]: b", "a `![x](b)` ![y](c)", "!![x](b)",
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range escapees {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, said, output string) { checkDocument(t, said, output) })
}

// checkDocument checks that a document has the headings and tags that are its own, and no others.
func checkDocument(t *testing.T, said, output string) {
	t.Helper()
	id := strings.Repeat("0123456789abcdef", 4)
	item := func(role, kind, words string) Item {
		return Item{ID: id, Kind: "message", Role: role, Author: said, Time: time.Unix(0, 0),
			Pieces: []Piece{{Kind: kind, Tool: "Bash", Text: words}}}
	}
	call := func(args map[string]string) Item {
		it := item("model", PieceCall, output)
		it.Pieces[0].Tool = said
		it.Pieces[0].Args, _ = json.Marshal(args)
		return it
	}
	s := Session{Name: "work", Branch: "main", Title: said, Turns: []Turn{{Items: []Item{
		item("user", PieceText, said), item("model", PieceText, said),
		call(map[string]string{"file_path": said, "old_string": output, "new_string": said}),
		call(map[string]string{"command": output, "description": said}),
		call(map[string]string{"pattern": output, "path": said}),
		call(map[string]string{said: output}),
		item("model", PieceCall, output), item("tool", PieceResult, output),
		item("model", PieceText, said),
	}}}}
	doc, _ := s.Markdown()
	heads, tags := 0, 0
	parsed := goldmark.DefaultParser().Parse(text.NewReader(doc))
	_ = ast.Walk(parsed, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Image:
			t.Errorf("a picture is fetched: %s", doc)
		case *ast.Heading:
			if entering && n.Level <= belowHeads && n.Parent() == parsed {
				heads++
			}
		case *ast.HTMLBlock, *ast.RawHTML:
			if entering {
				tags++
			}
		}
		return ast.WalkContinue, nil
	})
	// The title and nine messages; an anchor has two tags, and what is folded has its own.
	if heads != 10 {
		t.Errorf("%q, %q: %d headings, want 10\n%s", said, output, heads, doc)
	}
	if tags != 20 {
		t.Errorf("%q, %q: %d tags, want 20\n%s", said, output, tags, doc)
	}
}

func TestMarkdown(t *testing.T) {
	s := Session{Name: "work", Branch: "main", Title: "The lamps", Agent: "codex", Messages: 3,
		First: time.Unix(0, 0), Last: time.Unix(60, 0), Turns: []Turn{{Items: []Item{
			{ID: strings.Repeat("a", 64), Kind: "message", Role: "user", Time: time.Unix(0, 0),
				Pieces: []Piece{{Kind: PieceText, Text: "Which lamps\nare on?"}}},
			{ID: strings.Repeat("b", 64), Kind: "message", Role: "model", Time: time.Unix(9, 0),
				Pieces: []Piece{{Kind: PieceCall, Tool: "Bash", Text: "[call Bash] {}"},
					{Kind: PieceCall, Tool: "Bash",
						Args: []byte(`{"command":"lamps | head","description":"Count","timeout":9}`)},
					{Kind: PieceCall, Tool: "Edit", Args: []byte(
						`{"file_path":"a.go","old_string":"on\noff","new_string":"on\nout"}`)},
					{Kind: PieceCall, Tool: "Grep", Args: []byte(`{"pattern":"a\\.b","n":null}`)}}},
			{ID: strings.Repeat("e", 64), Kind: "message", Role: "model", Aside: []string{"Hm."}},
			{ID: strings.Repeat("c", 64), Kind: "message", Role: "tool", Time: time.Unix(9, 0),
				Pieces: []Piece{{Kind: PieceResult, Text: strings.Repeat("on\n", 50)}}},
			{ID: strings.Repeat("d", 64), Kind: "message", Role: "model", Time: time.Unix(60, 0),
				Pieces: []Piece{{Kind: PieceText, Text: "## Lamps\n\n`List<Lamp>`: 7 and 9."}}},
		}}}}
	b, cut := s.Markdown()
	want := "# The lamps\n\nSession `work`, branch `main`, codex: 3 messages, 1970-01-01 00:00 to " +
		"1970-01-01 00:01 UTC.\nAn id leads to the exact words: `ctx expand ID`.\n" +
		"\n<a id=\"aaaaaaaaaaaa\"></a>\n### [aaaaaaaa](#aaaaaaaaaaaa) user, 1970-01-01 00:00\n" +
		"\n> Which lamps\n> are on?\n" +
		"\n<details><summary>4 calls <small>Bash ×2, Edit, Grep</small></summary>\n" +
		"\n<a id=\"bbbbbbbbbbbb\"></a>\n### [bbbbbbbb](#bbbbbbbbbbbb) model, 00:00\n" +
		"\n```\n[call Bash] {}\n```\n\n```sh\nlamps | head\n```\n\n*description: Count, timeout: 9*\n" +
		"\n▸ edited a.go +1 -1\n\n```diff\n  on\n- off\n+ out\n```\n" +
		"\n▸ searched \"a\\\\.b\"\n" +
		"\n<a id=\"cccccccccccc\"></a>\n### [cccccccc](#cccccccccccc) tool, 00:00\n" +
		"\n```\n" + strings.Repeat("on\n", 40) + "```\n\n*10 lines more: `ctx expand cccccccccccc`*\n" +
		"\n</details>\n" +
		"\n<a id=\"dddddddddddd\"></a>\n### [dddddddd](#dddddddddddd) model, 00:01\n" +
		"\n##### Lamps\n\n`List<Lamp>`: 7 and 9.\n" +
		"\n*1 message without words, as of thoughts, left out.*\n"
	if string(b) != want || cut != 1 {
		t.Errorf("%d cut, got\n%s\nwant\n%s", cut, b, want)
	}
}

// TestMarkdownNotes checks that long notes are folded, as outputs are, and that short ones are not.
func TestMarkdownNotes(t *testing.T) {
	long := strings.Repeat("a rule\n", longNote) + "# the last"
	s := Session{Name: "work", Branch: "main", Turns: []Turn{{Items: []Item{
		{ID: strings.Repeat("a", 64), Kind: "note", Text: long},
		{ID: strings.Repeat("b", 64), Kind: "note", Text: "a remark"},
	}}}}
	b, _ := s.Markdown()
	for _, want := range []string{
		"### [aaaaaaaa](#aaaaaaaaaaaa) note\n\n<details><summary>13 lines</summary>\n\n> a rule\n",
		"> #### the last\n\n</details>\n",
		"### [bbbbbbbb](#bbbbbbbbbbbb) note\n\n> a remark\n",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
}
