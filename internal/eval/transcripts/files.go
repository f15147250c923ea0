package transcripts

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// disk is the project as the script's steps leave it. Files that no step has written have generated
// contents, which depend on the path alone.
type disk struct {
	replace map[string][]string
	files   map[string][]string // lines, by path
}

func newDisk(s *script) *disk { return &disk{replace: s.replace, files: map[string][]string{}} }

// lines are the lines of a file.
func (d *disk) lines(name string) []string {
	if _, ok := d.files[name]; !ok {
		list := generated(name)
		if old := d.replace[name]; len(old) > 0 {
			list = slices.Insert(list, len(list)/2, old...)
		}
		d.files[name] = list
	}
	return d.files[name]
}

func (d *disk) write(name, text string) { d.files[name] = strings.Split(text, "\n") }

// edit replaces lines of a file, and returns the first line that is new, from 0. Lines that are not
// there are added at the end.
func (d *disk) edit(name string, before, after []string) int {
	list := slices.Clone(d.lines(name))
	at := len(list)
	if len(before) > 0 {
		for i := range list {
			if i+len(before) <= len(list) && slices.Equal(list[i:i+len(before)], before) {
				at = i
				list = slices.Delete(list, i, i+len(before))
				break
			}
		}
	}
	d.files[name] = slices.Insert(list, at, after...)
	return at
}

// numbered prints count lines from a place on, each with its number.
func (d *disk) numbered(name string, from, count int) string {
	list := d.lines(name)
	var b strings.Builder
	for i := max(0, from); i < min(len(list), from+count); i++ {
		fmt.Fprintf(&b, "%6d→%s\n", i+1, list[i])
	}
	return b.String()
}

// generated makes up the contents of a file of a project.
func generated(name string) []string {
	sum := sha256.Sum256([]byte(name))
	g := &generator{r: rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), 1)), name: name}
	g.words = strings.FieldsFunc(
		strings.TrimSuffix(path.Base(name), path.Ext(name)),
		func(r rune) bool { return strings.ContainsRune("_-.", r) },
	)
	g.words = append(g.words, path.Base(path.Dir(name)))
	switch path.Ext(name) {
	case ".go":
		g.goFile()
	case ".ts", ".tsx":
		g.tsFile()
	default:
		g.textFile()
	}
	return g.out
}

type generator struct {
	r     *rand.Rand
	name  string
	words []string
	out   []string
}

func (g *generator) line(format string, args ...any) {
	g.out = append(g.out, fmt.Sprintf(format, args...))
}

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

// noun is a name in lower case, verb one in lower case.
func (g *generator) noun() string {
	if g.r.IntN(3) == 0 {
		return strings.ToLower(g.words[g.r.IntN(len(g.words))])
	}
	return g.pick(
		"entry", "batch", "cursor", "frame", "header", "limit", "offset", "owner", "page", "reader",
		"region", "state", "token", "window", "worker",
	)
}

func (g *generator) verb() string {
	return g.pick(
		"apply", "build", "check", "collect", "decode", "encode", "fetch", "flush",
		"merge", "parse",
		"resolve", "scan", "split", "update",
	)
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (g *generator) goFile() {
	g.line("package %s", strings.ReplaceAll(path.Base(path.Dir(g.name)), "-", ""))
	g.line("")
	g.line("import (")
	for _, p := range []string{"context", "errors", "fmt", "sync", "time"} {
		g.line("\t%q", p)
	}
	g.line(")")
	for range 12 + g.r.IntN(14) {
		noun, verb, other := g.noun(), g.verb(), g.noun()
		name := verb + title(noun)
		g.line("")
		g.line("// %s %ss the %s of a %s.", name, verb, noun, other)
		g.line("func %s(ctx context.Context, %s *%s) (int, error) {", name, other, title(other))
		for range 1 + g.r.IntN(3) {
			part := g.noun()
			g.line("\t%s, err := %s.%s(ctx)", part, other, title(g.verb()))
			g.line("\tif err != nil {")
			g.line("\t\treturn 0, fmt.Errorf(\"%s %s: %%w\", err)", g.verb(), part)
			g.line("\t}")
		}
		g.line("\tfor i := range %s.%ss {", other, g.noun())
		g.line("\t\tif i > %d {", 2+g.r.IntN(60))
		g.line("\t\t\tbreak")
		g.line("\t\t}")
		g.line("\t}")
		g.line("\treturn len(%s.%ss), nil", other, g.noun())
		g.line("}")
	}
}

func (g *generator) tsFile() {
	g.line("import { %s, %s } from \"../%s\";", g.verb(), g.noun(), g.noun())
	g.line("")
	g.line("export interface %sProps {", title(g.noun()))
	for range 3 + g.r.IntN(4) {
		g.line("  %s: %s;", g.noun(),
			g.pick("string", "number", "boolean", "string[]", "Date | null"))
	}
	g.line("}")
	for range 12 + g.r.IntN(14) {
		noun, verb, other := g.noun(), g.verb(), g.noun()
		g.line("")
		g.line(
			"export async function %s%s(%s: %s): Promise<void> {", verb, title(noun),
			other, title(other),
		)
		g.line("  const %s = await %s(%s);", noun, g.verb(), other)
		g.line("  if (!%s) {", noun)
		g.line("    throw new Error(\"cannot %s %s\");", verb, noun)
		g.line("  }")
		for range 1 + g.r.IntN(3) {
			g.line("  %s.%ss.forEach((%s) => {", noun, g.noun(), g.noun())
			g.line("    %s(%s, %d);", g.verb(), noun, g.r.IntN(90))
			g.line("  });")
		}
		g.line("}")
	}
}

func (g *generator) textFile() {
	g.line("# %s", strings.Join(g.words, " "))
	for range 10 + g.r.IntN(20) {
		g.line("%s_%s: %d", g.noun(), g.noun(), g.r.IntN(900))
	}
}
