package secrets

import (
	"bytes"
	_ "embed" // the commands
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file tells which commands print a secret with nothing beside it that says so, and what of
// their output it is.

// printers lists commands that do nothing else, one a line: the words that they begin with, and
// flags or subcommands that have to be among the rest. A word with * matches what it begins with.
//
//go:embed printers.txt
var printers string

// Prints says what a command prints.
type Prints int

// What a command prints.
const (
	Other  Prints = iota // what does not have to be a secret
	Hinted               // something with a word of it that tells of a secret
	Named                // what it is given the name of, which is that of a secret
	Always               // a secret, and nothing else
)

// PrintedBy says what a simple command prints. One that runs another is looked through.
func PrintedBy(words []string) Prints {
	prints := Other
	for i := range words {
		name := path.Base(words[i])
		if alwaysPrints(name, words[i+1:]) {
			return Always
		}
		if printsNamed(name, words[i+1:]) {
			prints = Named
		} else if i == 0 && hints(words) {
			prints = Hinted
		}
		if i == 0 && !isListed("runner", name) {
			break
		}
	}
	return prints
}

// Values returns the secrets in what a command printed: a line, or a field of a line between tabs,
// that is no word of prose, and every value that was made to be secret. After a hint only these
// count, alone in the output.
func (p Prints) Values(output string) (values []string) {
	if p == Other {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if p == Hinted || p == Always {
		out := []byte(strings.TrimSpace(output))
		for at := 0; at < len(out); {
			var from, to int
			from, to, at = nextWord(out, at, len(out))
			v := out[from:to]
			if below.takes(v, strongKey) && (p == Always || len(v)+2 >= len(out)) ||
				p == Always && len(v) >= 8 && said.takes(v, strongKey) {
				values = append(values, string(v))
			}
		}
		if p == Hinted {
			return values
		}
	}
	for _, line := range lines {
		for field := range strings.SplitSeq(line, "\t") {
			v := bytes.Trim([]byte(field), " \r\"',")
			if len(v) < 4 || bytes.IndexByte(v, ' ') >= 0 || pathOfWords(v) || standIn(v) {
				continue
			}
			whole := p == Always && len(lines) == 1 && !isStandInWord(v)
			if !slices.Contains(values, string(v)) && (whole || Judge(v, false, strongKey)) {
				values = append(values, string(v))
			}
		}
	}
	return values
}

// alwaysPrints reports whether a command is one of printers.
func alwaysPrints(name string, args []string) bool {
	makePrinters.Do(func() {
		printerOf = map[string][][]string{}
		for line := range strings.Lines(printers) {
			if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
				printerOf[words[0]] = append(printerOf[words[0]], words[1:])
			}
		}
	})
	return slices.ContainsFunc(printerOf[name], func(want []string) bool {
		rest := args
		for _, w := range want {
			at := slices.IndexFunc(rest, func(arg string) bool {
				begins, open := strings.CutSuffix(w, "*")
				return arg == w || open && strings.HasPrefix(arg, begins)
			})
			if at < 0 {
				return false
			}
			if w[0] != '-' { // words are in order, and flags anywhere
				rest = rest[at+1:]
			}
		}
		return true
	})
}

var (
	printerOf    map[string][][]string
	makePrinters sync.Once
)

// printsNamed reports whether a command prints the value of a name that is that of a secret: a
// variable, a file, a member, a setting.
func printsNamed(name string, args []string) bool {
	all := strings.Join(args, " ")
	switch name {
	case "echo", "printf":
		return strings.Contains(all, "$") && slices.ContainsFunc(args, func(arg string) bool {
			at := strings.IndexByte(arg, '$')
			return at >= 0 && !strings.HasPrefix(arg[at:], "$(") && hasName(arg[at:])
		})
	case "pass":
		return len(args) == 1 && strings.Contains(args[0], "/")
	case "grep", "rg", "sed", "awk", "cut": // of a file of settings
		return strings.Contains(all, ".env") && hasName(all)
	case "python", "python3", "ruby", "perl", "node", "deno", "bun", "php":
		return strings.Contains(all, "env") && hasName(all) || draws(all)
	case "printenv", "cat", "head", "tail", "jq", "yq", "dasel", "crudini":
	case "terraform", "tofu", "pulumi", "heroku", "vault", "az", "aws", "gcloud", "kubectl", "oc",
		"op", "bws", "doppler", "chamber", "git", "npm", "consul", "etcdctl", "redis-cli",
		"snowsql":
		if !reads(args) {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		option := strings.HasPrefix(arg, "-") && !strings.ContainsAny(arg, "=.")
		arg = strings.TrimRight(strings.TrimSuffix(arg, ".txt"), `"'}])/`)
		return !option && namesSecret(arg)
	})
}

// hints reports whether a word of a command tells of a secret, and none of a digest.
func hints(words []string) bool {
	all := strings.Join(words, " ")
	return hasName(all) && !tellsDigest([]byte(all)) && !slices.Contains(words, "put") &&
		!slices.Contains(words, "set")
}

// draws reports whether an expression draws a secret by lot.
func draws(text string) bool {
	return has(text, "token_hex", "token_urlsafe", "random_bytes", "randomBytes", "SecureRandom")
}

// hasName reports whether one of the names in a text is that of a secret.
func hasName(text string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool {
		return r > 0x7f || !chars.IsWord(byte(r))
	}), namesSecret)
}

func namesSecret(name string) bool {
	kind := KeyOf([]byte(name))
	return kind == weakKey || kind == strongKey
}

// reads reports whether a program of many commands is asked for a value.
func reads(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		switch arg {
		case "get", "GET", "output", "read", "show", "view", "config:get", "--get", "--query",
			"kv":
			return true
		}
		return strings.HasPrefix(arg, "get-") || strings.HasPrefix(arg, "--query=")
	}) && !slices.Contains(args, "set") && !slices.Contains(args, "put")
}
