// Command site makes a static site of the documentation: a page of HTML for each page of Markdown,
// with the reference of the README as navigation.
//
//	go run ./packaging/site OUT
package main

import (
	"bytes"
	_ "embed" // the frame of a page, and the style
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	unsafe "github.com/yuin/goldmark/renderer/html"
)

//go:embed page.html
var frame string

//go:embed style.css
var style []byte

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./packaging/site OUT")
		os.Exit(2)
	}
	pages, err := write(".", os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s\n", pages, os.Args[1])
}

// write makes the site of the repository at root in the directory out, and returns the number of
// pages. A link to a page that is not there is an error.
func write(root, out string) (int, error) {
	sources, err := sourcesIn(root)
	if err != nil {
		return 0, err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return 0, err
	}
	s := site{
		md: goldmark.New(goldmark.WithExtensions(extension.Table),
			goldmark.WithRendererOptions(unsafe.WithUnsafe()),
			goldmark.WithParserOptions(parser.WithAutoHeadingID())), sources: sources,
	}
	_, reference, _ := strings.Cut(string(readme), "\n## Reference\n")
	for source := range sources {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(source)))
		if err != nil {
			return 0, err
		}
		if path.Ext(source) == ".md" {
			if b, err = s.page(source, b, reference); err != nil {
				return 0, err
			}
		}
		to := filepath.Join(out, filepath.FromSlash(target(source)))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			return 0, err
		}
	}
	return s.pages, os.WriteFile(filepath.Join(out, "style.css"), style, 0o644)
}

// sourcesIn returns the names of the files that the site has.
func sourcesIn(root string) (map[string]bool, error) {
	list := map[string]bool{"README.md": true, "CONTRIBUTING.md": true, "CHANGELOG.md": true,
		"LICENSE": true}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list[name] = true
		}
		return err
	})
	return list, err
}

// target returns the name of a file in the site.
func target(source string) string {
	if source == "README.md" {
		return "index.html"
	}
	if path.Base(source) == "README.md" {
		return path.Join(path.Dir(source), "index.html")
	}
	if ext := path.Ext(source); ext == ".md" {
		return strings.TrimSuffix(source, ext) + ".html"
	}
	return source
}

type site struct {
	md      goldmark.Markdown
	sources map[string]bool
	pages   int
}

// page returns the HTML of a page.
func (s *site) page(source string, text []byte, reference string) ([]byte, error) {
	body, err := s.convert(source, text)
	if err != nil {
		return nil, err
	}
	nav, err := s.convert("README.md", []byte(reference))
	if err != nil {
		return nil, err
	}
	up := strings.Repeat("../", strings.Count(target(source), "/"))
	s.pages++
	title, _, _ := strings.Cut(strings.TrimPrefix(string(heading.Find(text)), "# "), "\n")
	var b bytes.Buffer
	err = template.Must(template.New("page").Parse(frame)).Execute(&b, map[string]any{
		"Title": title, "Up": up, "Body": template.HTML(body),
		"Nav": template.HTML(relative.ReplaceAllString(nav, `href="`+up+`$1"`)),
	})
	return b.Bytes(), err
}

var (
	heading  = regexp.MustCompile(`(?m)^# .*$`)
	link     = regexp.MustCompile(`(href|srcset|src)="([^"]*)"`)
	external = regexp.MustCompile(`^([a-z]+:|#|mailto:)`)
	relative = regexp.MustCompile(`href="((?:[^":#]|:[^/])+)"`)
)

// convert returns the HTML of a text of Markdown, with links to the pages of the site.
func (s *site) convert(source string, text []byte) (string, error) {
	var b bytes.Buffer
	if err := s.md.Convert(text, &b); err != nil {
		return "", fmt.Errorf("%s: %w", source, err)
	}
	var broken error
	out := link.ReplaceAllStringFunc(b.String(), func(found string) string {
		part := link.FindStringSubmatch(found)
		if external.MatchString(part[2]) {
			return found
		}
		file, at, hash := strings.Cut(part[2], "#")
		full := path.Join(path.Dir(source), file)
		switch {
		case s.sources[full]:
			file = strings.TrimSuffix(file, path.Base(file)) + path.Base(target(full))
		case s.sources[path.Join(full, "README.md")]:
			file = strings.TrimSuffix(file, "/") + "/index.html"
		case s.isFolder(full):
			file = strings.TrimSuffix(file, "/") + "/"
		default:
			broken = fmt.Errorf("%s: a link to %s, which the site has not", source, part[2])
		}
		if hash {
			file += "#" + at
		}
		return part[1] + `="` + file + `"`
	})
	return out, broken
}

func (s *site) isFolder(name string) bool {
	for source := range s.sources {
		if strings.HasPrefix(source, name+"/") {
			return true
		}
	}
	return false
}
