package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/sanitize"
)

// Config holds the settings of a store for one run. Every field is in its range.
type Config struct {
	Aliases map[string][]string // command lines by the user's names for them
	Color   struct {
		UI string // one of the values of color.ui
	}
	Compact struct {
		Strategy string // union-find or flat
	}
	Forest struct {
		MaxColdClusters int // live clusters of a session before its oldest leaves
		// Probability from which an entry joins a cluster rather than opening one, 0 to 1
		MergeThreshold float64
	}
	GC struct {
		Auto  int           // packs from which gc --auto works; 0 for never
		Grace time.Duration // for how long what nothing names is kept
	}
	Hook struct {
		Context  int           // tokens that a hook adds to a prompt, at most; 0 for none
		Deadline time.Duration // for how long a hook works
		Recall   []string      // of RecallPrompt and so on: when a hook tells what it was not asked
		Outputs  string        // OutputsNone or OutputsQuoted: words of tools in what a hook gives
	}
	Lock struct {
		Timeout time.Duration // for how long a writer waits
	}
	Log struct {
		Keep time.Duration // how far back undo and reflog reach
	}
	MCP struct {
		Remember string // RememberOn or RememberOff: whether a model may add notes
	}
	Mask struct {
		ExemptTools     []string // whose outputs are never shortened
		GateTokens      int      // that may be shortened, from which on they are
		NewestMessages  int      // at the end of a branch that are not looked at
		PreviewChars    int      // kept of an output
		PreviewLines    int      // kept of what a command printed
		ProtectedTokens int      // of the newest outputs, which stay as they are
		ShellTools      []string // that run commands
	}
	Offload struct {
		HeadPercent    int // of the threshold, kept of the beginning
		ThresholdChars int // from which on an output is too long; 0 for never
	}
	Sanitize struct {
		Extra []string // the user's own patterns of secrets
	}
	Stats struct {
		Prices []Price // of models, which count before those that come with ctx
	}
	Summarize struct {
		Chain []string // names of summarizers, who is asked first at the front; never empty
	}
	// What is set for each, by name; those that come with ctx are there as well
	Summarizers map[string]Summarizer
	Window      struct {
		EvictAt    int // entries from which the window is cut; GraduateAt or more
		GraduateAt int // entries that stay in the window
	}

	list []Setting // sorted by key
}

// The values of color.ui.
const (
	ColorAuto   = "auto" // on a terminal, unless NO_COLOR is set
	ColorAlways = "always"
	ColorNever  = "never"
)

// newConfig returns settings before any of them is read.
func newConfig() *Config {
	return &Config{Aliases: map[string][]string{}, Summarizers: shipped()}
}

// form is the type of a value.
type form int

const (
	wholeNumber form = iota // in TOML an integer
	fraction                // in TOML a float or an integer
	duration                // in TOML a string
	names                   // in TOML an array of strings; as text with commas
	words                   // in TOML an array of strings; as text a JSON array
	word                    // in TOML a string
)

// reach says which layers may set a setting.
type reach int

const (
	anywhere  reach = iota
	notStore        // not from a store's file: a store may come from elsewhere
	usersFile       // from the user's own file only
)

// setting is one row of the table of settings.
type setting struct {
	key  string // with a * in place of a part that the user names
	form form
	def  string // in the form that put reads
	doc  string // a line for the template, without its line end
	// put reads text, checks its range and stores it in its field. It returns the text in its normal
	// form.
	put  func(text string) (plain string, err error)
	from reach
	// named returns put for a setting with a name in its key.
	named func(name string) func(text string) (plain string, err error)
}

// Upper bounds are there to catch slips, and keep sums of settings from overflowing.
const (
	mostEntries  = 1_000_000
	mostClusters = 1_000_000
	mostPacks    = 1_000_000_000
	mostTokens   = 1_000_000_000
	maxChars     = 16 << 20 // what a message may have
	maxListed    = 256      // names in a list
	longestTool  = 200      // bytes of one
	maxAdded     = 100_000  // tokens of a hook
	longest      = 100 * 365 * day
	longestWait  = day
)

// The tools of the agents that ctx knows, by the names that their transcripts have: Gemini CLI's
// first, then those of Claude Code, Codex and opencode.
const (
	exemptTools = "activate_skill,ask_user,enter_plan_mode,exit_plan_mode," +
		"Skill,AskUserQuestion,EnterPlanMode,ExitPlanMode,request_user_input,skill,question"
	shellTools = "run_shell_command,Bash,shell,shell_command,exec_command,container.exec,local_shell,local_shell_call,bash"
)

// The values of hook.outputs.
const (
	OutputsNone   = "none"
	OutputsQuoted = "quoted"

	RememberOn  = "on"
	RememberOff = "off"
)

// The parts of hook.recall: at a prompt, before an edit and a command, after a failure, and before
// a compaction.
const (
	RecallPrompt  = "prompt"
	RecallEdit    = "edit"
	RecallCommand = "command"
	RecallFailure = "failure"
	// RecallCompaction is for whoever writes the summary.
	RecallCompaction = "compaction"
)

// Recalls reports whether a hook tells a model what it was not asked, in a part of its work.
func (c *Config) Recalls(part string) bool { return slices.Contains(c.Hook.Recall, part) }

// QuotesOutputs reports whether what a hook gives a model may have words of tools.
func (c *Config) QuotesOutputs() bool { return c.Hook.Outputs == OutputsQuoted }

// settings returns the table for who only asks it.
func settings() []setting { return newConfig().rows() }

// rows returns the table, sorted by key, whose rows set the fields of c. Names, defaults, ranges
// and the template all come from it.
func (c *Config) rows() []setting {
	return []setting{
		{key: "alias.*", form: words, named: c.aliasOf, from: usersFile},
		choice("color.ui", ColorAuto, []string{ColorAuto, ColorAlways, ColorNever},
			"colours in what commands print: auto (on a terminal), always or never", &c.Color.UI),
		choice("compact.strategy", "union-find", []string{"union-find", "flat"},
			"how what is cold is put together: union-find (by topic) or flat", &c.Compact.Strategy),
		number("forest.max_cold_clusters", "10", 1, mostClusters,
			"clusters of a session that stay live; above that its oldest leaves",
			&c.Forest.MaxColdClusters),
		share("forest.merge_threshold", "0.5",
			"how probable it has to be that a message goes on with a cluster for it "+
				"to join, 0 to 1", &c.Forest.MergeThreshold),
		number("gc.auto", "50", 0, mostPacks,
			"packs from which gc --auto works, as a look-up asks each; 0 for never", &c.GC.Auto),
		period("gc.grace", "14d", longest, "how long gc keeps what nothing names", &c.GC.Grace),
		number("hook.context", "1000", 0, maxAdded,
			"tokens that a hook adds to a prompt, at most; 0 for none", &c.Hook.Context),
		period("hook.deadline", "5s", longestWait,
			"how long a hook works; what it did not finish the next one does", &c.Hook.Deadline),
		choice("hook.outputs", OutputsNone, []string{OutputsNone, OutputsQuoted},
			"words of tools in what a hook gives a model: none or quoted; anybody may have "+
				"written what a tool printed", &c.Hook.Outputs),
		some("hook.recall", []string{RecallPrompt, RecallEdit, RecallCommand, RecallFailure,
			RecallCompaction},
			"when a hook tells a model during its work what was before: all, none, or some of "+
				"prompt (earlier turns about it), edit (what to heed of the file), command (what ran "+
				"instead when it was wrong), failure (what ended it), compaction (what the agent's "+
				"summary must keep)", &c.Hook.Recall),
		period("lock.timeout", "10s", longestWait,
			"how long a command waits for another one to finish writing; between others that take "+
				"turns it waits for its own", &c.Lock.Timeout),
		period("log.keep", "90d", longest, "how far back undo and reflog reach", &c.Log.Keep),
		list("mask.exempt_tools", exemptTools, "tools whose outputs are never shown shortened",
			&c.Mask.ExemptTools),
		number("mask.gate_tokens", "30000", 0, mostTokens,
			"tokens of old outputs from which they are shown shortened", &c.Mask.GateTokens),
		number("mask.newest_messages", "1", 0, mostEntries,
			"messages at the end that are not looked at for that", &c.Mask.NewestMessages),
		number("mask.preview_chars", "500", 2, maxChars,
			"characters that are kept of an output, half at each end", &c.Mask.PreviewChars),
		number("mask.preview_lines", "20", 2, mostEntries,
			"lines that are kept of what a command printed, half at each end",
			&c.Mask.PreviewLines),
		number("mask.protected_tokens", "50000", 0, mostTokens,
			"tokens of the newest outputs that stay as they are", &c.Mask.ProtectedTokens),
		list("mask.shell_tools", shellTools, "tools that run commands", &c.Mask.ShellTools),
		choice("mcp.remember", RememberOn, []string{RememberOff, RememberOn},
			"whether a model may add notes by the tool remember of ctx mcp", &c.MCP.Remember),
		number("offload.head_percent", "20", 0, 100,
			"of what is kept of an offloaded output, how much is its beginning",
			&c.Offload.HeadPercent),
		number("offload.threshold_chars", "40000", 0, maxChars,
			"characters that an output may have before it is offloaded; 0 for any number",
			&c.Offload.ThresholdChars),
		{key: "sanitize.extra", form: words, def: "[]",
			doc: "patterns of secrets that only you have", put: c.putPatterns, from: usersFile},
		{key: "stats.prices", form: words, def: "[]",
			doc: "what a million tokens of a model cost in dollars: model, input, output, cache read, " +
				"cache write", put: c.putPrices, from: usersFile},
		{key: "summarize.chain", form: names, def: extractive,
			doc: "who is asked for summaries, in this order", put: c.putChain, from: notStore},
		{key: "summarizer.*.command", form: words, named: c.commandOf, from: usersFile},
		{key: "summarizer.*.timeout", form: duration, named: c.timeoutOf, from: usersFile},
		number("window.evict_at", "30", 1, mostEntries,
			"messages at which the window is cut; graduate_at or more", &c.Window.EvictAt),
		number("window.graduate_at", "26", 1, mostEntries, "messages that stay as they were said",
			&c.Window.GraduateAt),
	}
}

// of returns a setting that is a value of one type. read reads it and returns its normal form, too.
func of[T any](
	key string, form form, def, doc string, field *T, read func(text string) (T, string, error),
) setting {
	return setting{key: key, form: form, def: def, doc: doc,
		put: func(text string) (string, error) {
			v, plain, err := read(text)
			if err == nil {
				*field = v
			}
			return plain, err
		}}
}

func number(key, def string, low, high int, doc string, field *int) setting {
	return of(key, wholeNumber, def, doc, field, func(text string) (int, string, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, "", fmt.Errorf("not a whole number: %.40q", text)
		}
		if n < low || n > high {
			return 0, "", fmt.Errorf("not from %d to %d: %d", low, high, n)
		}
		return n, strconv.Itoa(n), nil
	})
}

func share(key, def, doc string, field *float64) setting {
	return of(key, fraction, def, doc, field, func(text string) (float64, string, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, "", fmt.Errorf("not a number: %.40q", text)
		}
		if !(f >= 0 && f <= 1) { // so that NaN is refused
			return 0, "", fmt.Errorf("not from 0 to 1: %s", text)
		}
		return f, strconv.FormatFloat(f, 'g', -1, 64), nil
	})
}

func period(key, def string, high time.Duration, doc string, field *time.Duration) setting {
	return of(key, duration, def, doc, field, func(text string) (time.Duration, string, error) {
		d, err := parseDuration(text)
		if err == nil && d > high {
			err = fmt.Errorf("more than %d days: %s", high/day, text)
		}
		return d, text, err
	})
}

func choice(key, def string, among []string, doc string, field *string) setting {
	return of(key, word, def, doc, field, func(text string) (string, string, error) {
		if !slices.Contains(among, text) {
			return "", "", fmt.Errorf("not one of %s: %.40q", strings.Join(among, ", "), text)
		}
		return text, text, nil
	})
}

// some returns a setting that is a list of a few words, all or none. It is all if nobody says.
func some(key string, among []string, doc string, field *[]string) setting {
	return of(key, names, "all", doc, field, func(text string) (list []string, _ string, _ error) {
		switch text {
		case "all":
			return among, text, nil
		case "none":
			return nil, text, nil
		}
		for word := range strings.SplitSeq(text, ",") {
			word = strings.TrimSpace(word)
			if !slices.Contains(among, word) {
				return nil, "", fmt.Errorf("not all, none or some of %s: %.40q",
					strings.Join(among, ", "), text)
			}
			list = append(list, word)
		}
		return list, text, nil
	})
}

// list returns a setting that is a list of names in any order; "" is the empty list.
func list(key, def, doc string, field *[]string) setting {
	return of(key, names, def, doc, field, func(text string) (list []string, _ string, _ error) {
		for name := range strings.SplitSeq(text, ",") {
			switch name = strings.TrimSpace(name); {
			case name == "" && strings.TrimSpace(text) == "":
			case name == "" || len(name) > longestTool || !utf8.ValidString(name):
				return nil, "", fmt.Errorf("not a name of 1 to %d bytes: %.40q", longestTool, name)
			case slices.Contains(list, name):
				return nil, "", fmt.Errorf("named twice: %.40q", name)
			default:
				list = append(list, name)
			}
		}
		if len(list) > maxListed {
			return nil, "", fmt.Errorf("more than %d names", maxListed)
		}
		return list, strings.Join(list, ","), nil
	})
}

// variable returns the environment variable of a key: CTX_WINDOW_GRADUATE_AT for
// window.graduate_at.
func variable(key string) string {
	return "CTX_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// template returns the config.toml of a new store: every setting with its default, as comments.
func template() string {
	var b strings.Builder
	b.WriteString(
		"# Settings of this store. Take the # away from a line to change it; `ctx config` lists " +
			"what holds, and why.\n")
	for _, s := range settings() {
		if s.from != anywhere {
			continue
		}
		def := s.def
		if s.form == duration || s.form == word {
			def = strconv.Quote(def)
		}
		if s.form == names {
			def = jsonList(strings.Split(def, ","))
		}
		fmt.Fprintf(&b, "\n# %s\n# %s = %s\n", s.doc, s.key, def)
	}
	return b.String()
}

// mostPatterns bounds the user's patterns, and longestPattern each of them, in bytes.
const (
	maxPatterns    = 256
	longestPattern = 200
)

// putPatterns reads the patterns of sanitize.extra, a JSON array of strings. sanitize.CheckPattern
// says what a pattern is.
func (c *Config) putPatterns(text string) (string, error) {
	list := []string{}
	if text == "[]" { // the default needs no decoder
		c.Sanitize.Extra = list
		return text, nil
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return "", errors.New("not an array of strings")
	}
	if len(list) > maxPatterns {
		return "", fmt.Errorf("more than %d patterns", maxPatterns)
	}
	for _, p := range list {
		if len(p) > longestPattern {
			return "", fmt.Errorf("a pattern of more than %d bytes", longestPattern)
		}
		if err := sanitize.CheckPattern(p); err != nil {
			return "", fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	c.Sanitize.Extra = list
	if len(list) == 0 {
		return "[]", nil
	}
	return jsonList(list), nil
}
