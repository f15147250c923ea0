package tokens

import (
	_ "embed" // the table
	"strings"
)

// formsText is the table of forms. A line has the class of a token, its form, whether it is drawn,
// has the form of digests, or is sure, and where the form is published, with tabs between them. A
// new form needs only a new line; form.go explains the notation. "issuer" is the issuer's own
// documentation. "gitleaks", "kingfisher", "noseyparker" and "trufflehog" are a rule of that name
// in github.com/gitleaks/gitleaks, mongodb/kingfisher, praetorian-inc/noseyparker and
// trufflesecurity/trufflehog.
//
//go:embed forms.txt
var formsText string

// Table returns the table of forms.
func Table() []Form {
	list := make([]Form, 0, 512)
	for line := range strings.Lines(formsText) {
		class, rest, ok := strings.Cut(line, "\t")
		if !ok {
			continue // a heading
		}
		pattern, rest, _ := strings.Cut(rest, "\t")
		flags, source, _ := strings.Cut(rest, "\t")
		list = append(list, Form{Class: class, Pattern: pattern,
			Source: strings.TrimSuffix(source, "\n"), Drawn: strings.Contains(flags, "drawn"),
			Digests: strings.Contains(flags, "digests"), Sure: flags == "sure"})
	}
	return list
}
