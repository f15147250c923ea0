package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The least length of a term, in bytes: shorter words and numbers are in every context.
const (
	leastTerm   = 4
	leastNumber = 3
)

// contentTerms returns the words, identifiers, paths and numbers of a text in lower case, in order
// and with repetitions.
func contentTerms(text string) []string {
	var list []string
	between := func(r rune) bool { return !termRune(r) }
	for run := range strings.FieldsFuncSeq(strings.ToLower(text), between) {
		run = strings.TrimRightFunc(run, func(r rune) bool { return !wordRune(r) })
		if number := strings.TrimLeft(run, "-/"); isNumber(number) {
			list = append(list, number)
			continue
		}
		run = strings.TrimLeftFunc(run,
			func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
		if len(run) >= leastTerm {
			list = append(list, run)
		}
	}
	return list
}

// isNumber reports whether a run is a number, a version or a time.
func isNumber(run string) bool {
	return len(run) >= leastNumber && isDigit(rune(run[0])) &&
		strings.Trim(run, "0123456789.:") == ""
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func termRune(r rune) bool { return wordRune(r) || strings.ContainsRune("./:-", r) }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// sourceEndings are the endings by which a file name is recognized without a directory before it.
const sourceEndings = " go ts tsx js jsx py rs java rb c h cpp sh sql css html md json toml yaml " +
	"yml txt csv "

// longestEnding is the most letters and digits in the ending of a file name.
const longestEnding = 8

// fileNames returns the last elements of the paths in a text in lower case, in order and with
// repetitions.
func fileNames(text string) []string {
	var list []string
	between := func(r rune) bool { return !termRune(r) || r == ':' }
	for run := range strings.FieldsFuncSeq(strings.ToLower(text), between) {
		run = strings.TrimRight(run, "./-")
		if strings.Contains(run, "//") {
			continue // an address
		}
		name := lastElement(run)
		dot := strings.LastIndexByte(name, '.')
		if dot < 1 {
			continue
		}
		ending := name[dot+1:]
		known := strings.Contains(sourceEndings, " "+ending+" ")
		if known || name != run && isEnding(ending) {
			list = append(list, name)
		}
	}
	return list
}

// isEnding reports whether what follows the last dot of a name may be its ending.
func isEnding(s string) bool {
	other := func(r rune) bool { return r >= utf8.RuneSelf || !wordRune(r) }
	return s != "" && len(s) <= longestEnding && strings.IndexFunc(s, other) < 0
}

// lastElement returns what follows the last slash of a path.
func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// countLabels are the names of arguments that say which part of a file was read.
const countLabels = " offset limit line lines timeout head_limit a b c n start end "

// isJunk reports whether a line tells a reader nothing: brackets, numbers, which part of a file was
// read, or a line of a file with its number.
func isJunk(line string) bool {
	core := strings.TrimFunc(line, func(r rune) bool { return !wordRune(r) })
	if core == "" {
		return strings.ContainsAny(line, "{}()[]") // a rule or a fence separates parts of the text
	}
	digits := len(core) - len(strings.TrimLeft(core, "0123456789"))
	rest := core[digits:]
	if digits == 0 {
		return isCount(strings.ToLower(core))
	}
	if strings.IndexFunc(rest, unicode.IsLetter) < 0 && len([]rune(rest)) <= 3 ||
		strings.Trim(rest, "0123456789.,: ") == "" {
		return true
	}
	for _, mark := range []string{"→", "|", "\t", "-", ":"} {
		after, found := strings.CutPrefix(rest, mark)
		if found {
			// 2026-05-01 and 12:30 are no numbered lines
			return after == "" || !isDigit(rune(after[0]))
		}
	}
	return false
}

// isCount reports whether a line is one of countLabels with a number.
func isCount(line string) bool {
	label, count, found := strings.Cut(line, ":")
	if !found {
		label, count, found = strings.Cut(line, " ")
	}
	label = strings.Trim(label, `" `)
	return found && strings.Contains(countLabels, " "+label+" ") &&
		strings.Trim(count, `0123456789.," `) == ""
}
