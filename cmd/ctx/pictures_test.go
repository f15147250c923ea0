package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The pictures of README.md are made by one command:
//
//	CTX_BROWSER=/usr/bin/chromium go test ./cmd/ctx -run TestPictures -update
//
// The recording of a terminal has the same bytes wherever it is made, so the test holds it to what
// the commands print. The pictures of a page depend on the fonts of the machine.

// Sizes that a page of a repository can show at once, in bytes.
const (
	maxRecording = 150_000
	maxPicture   = 250_000
)

// picturesDir is where the pictures are.
func picturesDir() string { return filepath.Join("..", "..", "docs") }

// story is what the recording shows: command lines by screens. OLD is the message that the search
// finds.
func story() [][]string {
	return [][]string{
		{"status"},
		{"compact -s work", "forest"},
		{"brief --budget 200"},
		{"rewind HEAD~2", "undo", "fsck"},
		{"search 'which port for migrations' -n 1", "expand OLD"},
	}
}

// terminal is a person at a terminal, in a project with the conversation of the demonstration.
type terminal struct {
	t    *testing.T
	dir  string
	tick int
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	p := &terminal{t: t, dir: filepath.Join(t.TempDir(), "parcelboard")}
	if err := os.MkdirAll(filepath.Join(p.dir, ".git", "info"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.run(false, "", "init")
	p.run(false, string(demoConversation), "append", "-s", "work", "--jsonl")
	return p
}

// columns is the width of the terminal of the recording.
const columns = 100

// run runs a command line and returns what a terminal gets of it, with the path of the project as
// the person there would have it.
func (p *terminal) run(shown bool, stdin string, args ...string) string {
	p.t.Helper()
	p.tick++
	var out bytes.Buffer
	now := time.Date(2026, 3, 18, 13, 20, p.tick, 0, time.UTC)
	w := screenWorld(p.dir, &out, &out, p.tick)
	w.stdin, w.now = strings.NewReader(stdin), func() time.Time { return now }
	if shown {
		w.outTerm = func() bool { return true }
		w.columns = func() int { return columns }
	}
	if code := run(context.Background(), w, args); code != 0 {
		p.t.Fatalf("ctx %q: exit %d: %s", args, code, out.String())
	}
	return strings.ReplaceAll(filepath.ToSlash(out.String()), filepath.ToSlash(p.dir),
		"~/parcelboard")
}

// TestPicturesRecording holds the recording to what the commands print.
func TestPicturesRecording(t *testing.T) {
	p := newTerminal(t)
	r := Recording{Columns: columns, Rows: 16,
		Label: "A terminal: ctx status, compact, forest, brief, undo, search and expand in a " +
			"project with a conversation of two days."}
	old := ""
	for _, lines := range story() {
		var scene Scene
		for _, line := range lines {
			line = strings.ReplaceAll(line, "OLD", old)
			var args []string
			for _, word := range shellWords(line) {
				args = append(args, word.text)
			}
			out := p.run(true, "", args...)
			if m := regexp.MustCompile(`\x1b\[33m([0-9a-f]{12})\x1b`).FindStringSubmatch(
				out); args[0] == "search" && m != nil {
				old = m[1]
			}
			scene = append(scene, Step{Command: "ctx " + line, Output: out})
		}
		r.Scenes = append(r.Scenes, scene)
	}
	svg, err := r.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if len(svg) > maxRecording {
		t.Errorf("%d bytes", len(svg))
	}
	compareFile(t, filepath.Join(picturesDir(), "terminal.svg"), string(svg))
}

// TestPicturesPage takes the pictures of a page, with -update and a browser, and holds them to
// their size.
func TestPicturesPage(t *testing.T) {
	if *update && os.Getenv("CTX_BROWSER") != "" {
		b := newBrowser(t)
		_, page := pageOf(t, string(demoConversation), true)
		for _, scheme := range []string{"light", "dark"} {
			b.picture(page, scheme, filepath.Join(picturesDir(), "page-"+scheme+".png"))
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		b, err := os.ReadFile(filepath.Join(picturesDir(), "page-"+scheme+".png"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(bytes.NewReader(b))
		if err != nil || c.Width < 1000 || c.Height < 600 || len(b) > maxPicture {
			t.Errorf("%s: %d x %d, %d bytes (%v)", scheme, c.Width, c.Height, len(b), err)
		}
	}
}

// picture writes a picture of the top of a page, with a sentence of a summary opened.
func (b *browser) picture(page, scheme, file string) {
	b.t.Helper()
	b.open(page)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "screen",
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": 1300, "height": 860, "deviceScaleFactor": 1, "mobile": false})
	b.eval(
		`document.querySelectorAll('.k')[0].open=true;document.querySelector('.sum p>a').click();scrollTo(0,0)`, nil)
	data, err := base64.StdEncoding.DecodeString(
		b.field(b.call("Page.captureScreenshot", nil), "data"))
	if err != nil {
		b.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	var small bytes.Buffer // a browser writes quickly, not small
	e := png.Encoder{CompressionLevel: png.BestCompression}
	if err := e.Encode(&small, fewColors(picture)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, small.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fewColors returns a picture in its 256 most frequent colours, in which text looks the same and
// takes half of the bytes.
func fewColors(picture image.Image) image.Image {
	size := picture.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		c, _ := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
		return c
	}
	for y := range size.Dy() {
		for x := range size.Dx() {
			count[at(x, y)]++
		}
	}
	list := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range list[:min(len(list), 256)] {
		palette = append(palette, c)
	}
	index := map[color.RGBA]uint8{}
	for _, c := range list {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			out.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	return out
}

// TestPicturesOfReadme: every picture that the README shows is there, and it shows these.
func TestPicturesOfReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:!\[[^\]]*\]\(|(?:src|srcset)=")([^)"]+)`).
		FindAllStringSubmatch(string(readme), -1) {
		shown[m[1]] = true
		info, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(m[1])))
		if err != nil || info.Size() == 0 {
			t.Errorf("README.md shows %s: %v", m[1], err)
		}
	}
	for _, want := range []string{"docs/terminal.svg", "docs/page-light.png",
		"docs/page-dark.png"} {
		if !shown[want] {
			t.Errorf("README.md does not show %s", want)
		}
	}
}
