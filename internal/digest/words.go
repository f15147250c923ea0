package digest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/pasted"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// sentences adds the sentences of a text and returns their number. Lines inside fences are code.
// The sentences of a short prompt are never slight, because they are all that the user wrote.
func (d *Digester) sentences(kind Kind, text string) int {
	n := 0
	split := summarize.Fragments
	if kind == Prompt {
		split = summarize.WholeFragments
	}
	if kind == Said {
		text = prose.WithHeads(withoutCalls(text))
	}
	if kind == Prompt {
		text = pasted.Spoken(text)
	}
	text = prose.Unwrapped(text)
	list := split(text)
	var heads prose.Headings
	if kind == Said {
		heads = prose.HeadingsOf(text)
		if lead, _, _ := strings.Cut(text, " "); len(list) > 0 && prose.Agrees(lead) &&
			!strings.HasPrefix(list[0].Text, lead) {
			list[0].Text = strings.TrimSpace(lead) + " " + list[0].Text
		}
		list = withAnswers(list, text)
	}
	offers := kind == Said && len(list) > 0 && // a choice between items, which may be short
		prose.AsksBack(list[len(list)-1].Text)
	at, printed := 0, false // a command that was pasted printed what stands right below it
	for i, p := range list {
		if n := strings.Index(text[at:], p.Text); n >= 0 {
			printed = printed && !strings.Contains(text[at:at+n], "\n\n")
			at += n + len(p.Text)
		}
		line := prose.Tidy(p.Text)
		answers := kind == Prompt && len(list) <= shortPrompt // "2" answers a question of the model
		if line == "" || prose.IsNumbered(line) && !answers ||
			p.Code && strings.Count(line, " ") < minCode ||
			strings.HasPrefix(line, "::") { // a directive of Markdown, for the client
			continue
		}
		remark := kind == Said && i == 0 && isRemark(line, text[at:])
		leads := kind == Said && strings.HasSuffix(line, ":") && i+1 < len(list) && list[i+1].Code
		slight := leads && !prose.Opens(line)
		if p.More || leads {
			line += " …"
		}
		f := Fact{Kind: kind, Text: line}
		heading, isHeading, isItem := heads.Of(p.Text)
		if f.Heading = heading; isHeading {
			f.Key = Title
		} else if isItem {
			f.Key = Item
		}
		if ran := kind == Prompt && isPastedCommand(line); p.Code || ran ||
			printed && prose.IsRule(line) {
			f.Kind, printed = Code, printed || ran
		} else {
			f.Slight = kind == Recap && isFrame(line) ||
				(kind != Prompt || len(list) > shortPrompt) && prose.IsSlight(line) &&
					!(offers && prose.IsMarked(line)) || slight || remark
		}
		d.add(f)
		n++
	}
	return n
}

// isRemark reports whether a sentence greets what a tool said last: a heading or a rule follows it,
// below which the text begins.
func isRemark(line, rest string) bool {
	rest = strings.TrimSpace(rest)
	return (strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "---")) &&
		prose.HasLead(strings.ToLower(line),
			[]string{"good, ", "great, ", "perfect, ", "excellent, ", "ok, ", "okay, "})
}

// withoutCalls returns an answer without the calls that the model wrote out as words, in the form
// in which it makes them, and without the one word that may stand in a line before them.
func withoutCalls(text string) string {
	const begins, ends = "<invoke name=\"", "</invoke>"
	for from := 0; ; {
		i := strings.Index(text[from:], begins)
		if i < 0 {
			return text
		}
		i += from
		line := strings.LastIndexByte(text[:i], '\n') + 1
		if strings.TrimSpace(text[line:i]) != "" { // in a sentence about calls
			from = i + len(begins)
			continue
		}
		before := strings.TrimRight(text[:line], "\n")
		if n := strings.LastIndexByte(before, '\n') + 1; len(strings.Fields(before[n:])) == 1 {
			before = before[:n]
		}
		_, after, _ := strings.Cut(text[i:], ends)
		text, from = before+after, len(before)
	}
}

// withAnswers joins each question with what the text says right behind it.
func withAnswers(list []summarize.Fragment, text string) []summarize.Fragment {
	text = prose.WithoutBold(prose.Squeeze(text))
	out := list[:0]
	for _, p := range list {
		last := len(out) - 1
		if last >= 0 && !p.Code && !out[last].Code && prose.WithoutMark(p.Text) == p.Text &&
			!prose.HasLead(p.Text, []string{"- ", "* ", "• "}) && !prose.Announces(p.Text) &&
			strings.HasSuffix(strings.TrimRight(out[last].Text, "*_`)\"'”"), "?") &&
			strings.Contains(text, prose.WithoutBold(prose.Squeeze(out[last].Text+" "+p.Text))) {
			out[last].Text += " " + p.Text
			out[last].More = p.More
			continue
		}
		out = append(out, p)
	}
	return out
}

// Leads reports whether a line of an answer only leads to the next one: a heading, or what the
// model says that it does.
func Leads(f *Fact) bool { return f.Key == Title || f.Key != Item && prose.Announces(f.Text) }

// Opens reports whether an answer may begin with a fact; see prose.Opens.
func Opens(f *Fact) bool {
	return f.Key != Title && !f.Slight && prose.Opens(f.Text) || prose.Agrees(f.Text)
}

// wordless says what a prompt has that has no sentence: what came of it is not to count for the
// prompt before.
func wordless(text string) string {
	if !strings.Contains(text, "\n") {
		return prose.Cut(text, maxTitle)
	}
	return pasted.Whole(text).String()
}

// prompt adds what a user typed: the sentences, and one fact in place of each block that was
// pasted, or the block behind the words that lead to it, as in "it still fails:".
func (d *Digester) prompt(text string) {
	text = pasted.Unquoted(text)
	if prose.HasLead(strings.ToLower(strings.TrimSpace(text)), withdrawals[:]) {
		d.withdraw()
	}
	blocks := pasted.Find(text)
	if len(blocks) == 0 {
		d.sentences(Prompt, text)
		return
	}
	at := 0
	for _, b := range blocks {
		n := d.sentences(Prompt, text[at:b.Start])
		if last := len(d.Made) - 1; n > 0 && strings.HasSuffix(d.Made[last].Text, ":") {
			d.Made[last].Text += " " + b.String()
		} else {
			d.add(Fact{Kind: Prompt, Text: b.String()})
		}
		at = b.End
	}
	d.sentences(Prompt, text[at:])
}

// withdrawals begin a prompt that stands for the one before.
var withdrawals = [...]string{"ignore the last message", "ignore my last message",
	"ignore the last prompt", "ignore my last prompt", "ignore the previous message",
	"ignore my previous message", "disregard the last message", "disregard my last message",
	"disregard the previous message", "disregard my previous message"}

// withdraw takes back the newest prompt: nobody wants it any more.
func (d *Digester) withdraw() {
	seq := uint64(0)
	for i := len(d.Made) - 1; i >= 0; i-- {
		f := &d.Made[i]
		if f.Kind != Prompt {
			continue
		}
		seq = cmp.Or(seq, f.Seq)
		if f.Seq != seq {
			return
		}
		f.State = Dropped
	}
}

// shortPrompt is the largest number of sentences of a prompt that a user types; a longer one is
// pasted.
const shortPrompt = 3

// minCode is the smallest number of spaces in a line of code that becomes a fact; a shorter line
// tells nothing by itself.
const minCode = 3

// isPastedCommand reports whether a line is one of a command that was pasted: it stands behind the
// prompt of a shell, goes on in the next line, or begins with a long flag.
func isPastedCommand(line string) bool {
	return pasted.IsCommand(line) || pasted.IsLog(line) || strings.HasSuffix(line, " \\") ||
		len(line) > 2 && strings.HasPrefix(line, "--") && prose.IsLetter(rune(line[2]))
}

// Typed returns the words of a message that the user typed, or "" if they say nothing to the model:
// a command of the client, or what a client adds.
func Typed(text string) string {
	if IsRecap(text) || IsForClient(text) {
		return ""
	}
	return ownWords(text)
}

// Asked returns Typed without what was pasted, or a line for it if nothing else was said.
func Asked(text string) string {
	text = Typed(text)
	if said := pasted.Said(text); said != "" {
		return said
	}
	return pasted.Fold(text)
}

// clientCommands are commands that a user gives to the client and not to the model.
var clientCommands = [...]string{"exit", "quit", "compact", "clear", "resume", "model", "config",
	"status", "cost", "usage", "help", "login", "logout", "mcp", "memory", "context", "permissions",
	"hooks", "plugin", "export", "rename", "doctor", "fast", "effort"}

// IsForClient reports whether a message of a user says nothing to the model: it is a command of the
// client, or what a client notes.
func IsForClient(text string) bool {
	own := ownWords(text)
	name, _, _ := strings.Cut(strings.TrimPrefix(own, "/"), " ")
	isCommand := (strings.HasPrefix(own, "/") || own == name) &&
		slices.Contains(clientCommands[:], name)
	return own == "" || isCommand || strings.HasPrefix(own, prose.PlanFrame)
}

// ownWords returns the words that the user typed. It removes the blocks in angle brackets and the
// marks for an interruption that a client adds. Of a command of the client, the name and the
// arguments remain, and so does the name where the client tells it by its words alone.
func ownWords(text string) string {
	if name, ok := between(text, "<command-name>", "</command-name>"); ok {
		args, _ := between(text, "<command-args>", "</command-args>")
		return strings.TrimSpace(name + " " + args)
	}
	if rule, ok := between(text, "<user-memory-input>", "</user-memory-input>"); ok {
		return strings.TrimSpace(rule)
	}
	for {
		start, name := clientBlock(text)
		if start < 0 {
			break
		}
		end := strings.Index(text[start:], "</"+name+">")
		if end < 0 {
			break
		}
		text = text[:start] + text[start+end+len(name)+3:]
	}
	if strings.HasPrefix(text, "[Request interrupted") {
		_, text, _ = strings.Cut(text, "]")
	}
	text, _, _ = strings.Cut(text, cursorPlan)
	if text = strings.TrimSpace(text); strings.HasPrefix(text, template) {
		if parts := strings.SplitN(text, "```", 3); len(parts) == 3 {
			_, given, _ := strings.Cut(parts[1], "\n")
			return cmp.Or(strings.TrimSpace(given), text)
		}
	}
	if strings.Count(text, "\n") >= shortPrompt && slices.ContainsFunc(initLeads[:],
		func(lead string) bool { return strings.HasPrefix(text, lead) }) {
		return "/init"
	}
	return text
}

// initLeads begin what clients send for /init, and say nowhere: Crush and opencode, Codex CLI,
// Gemini CLI and what is made of it.
var initLeads = [...]string{
	"Please analyze this codebase and create a",
	"Create or update **AGENTS.md** to help future agents work in this codebase.",
	"Create or update **CRUSH.md** to help future agents work in this codebase.",
	"Create or update `AGENTS.md` for this repository.",
	"Generate a file named AGENTS.md that serves as a contributor guide",
	"You are an AI agent that brings the power of Gemini directly into the terminal.",
	"You are Qwen Code, an interactive CLI agent. Analyze the current directory and generate",
}

const (
	// cursorPlan begins what Cursor adds to the name of a plan that a person had carried out.
	cursorPlan = "Implement the plan as specified, it is attached for your reference."
	// template begins the template of a command of Spec Kit, which has what the person typed between
	// its first fences.
	template = "## User Input\n"
)

// clientBlock finds the first block such as <system-reminder> at the start of a line. The names of
// such blocks have a hyphen or an underscore, unlike the tags of HTML.
func clientBlock(text string) (start int, name string) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return -1, ""
		}
		i += at
		at = i + 1
		if i > 0 && text[i-1] != '\n' {
			continue
		}
		end := strings.IndexByte(text[i:], '>')
		if end < 0 {
			return -1, ""
		}
		name := text[i+1 : i+end]
		if strings.ContainsAny(name, "-_") && !strings.ContainsAny(name, " \n/=\"") {
			return i, name
		}
	}
}

func between(text, open, close string) (string, bool) {
	_, rest, ok := strings.Cut(text, open)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, close)
	return strings.TrimSpace(inner), ok
}

// maxWritten is the largest number of sentences of one edit that become facts.
const maxWritten = 40

// written adds the sentences that an edit adds to a document, or to the comments of code. It
// ignores lines that old already has, and drops sentences that were written before and go now.
func (d *Digester) written(path, old, now string) {
	for gone, i := prose.Squeeze(linesBeside(now, old)), 0; gone != "" && i < len(d.Made); i++ {
		if f := &d.Made[i]; f.Kind == Written && f.Path == path && strings.Contains(gone, f.Text) {
			f.State = Dropped
		}
	}
	forPeople := isDocument(path)
	var text strings.Builder
	for l := range strings.SplitSeq(linesBeside(old, now), "\n") {
		if l = strings.TrimSpace(l); !forPeople {
			l = comment(l)
		}
		text.WriteString(l + "\n")
	}
	n := 0
	for _, p := range summarize.Fragments(prose.Unwrapped(text.String())) {
		line := prose.Tidy(p.Text)
		if p.Code || line == "" || prose.IsNumbered(line) || strings.Count(line, " ") < 3 ||
			!forPeople && !givesReason(line) {
			continue
		}
		d.add(Fact{Kind: Written, Path: path, Text: line, Slight: prose.IsSlight(line)})
		if n++; n == maxWritten {
			return
		}
	}
}

// linesBeside returns the lines of a text that another does not have.
func linesBeside(old, now string) string {
	had := map[string]bool{}
	for l := range strings.SplitSeq(old, "\n") {
		had[strings.TrimSpace(l)] = true
	}
	list := slices.DeleteFunc(strings.SplitAfter(now, "\n"), func(l string) bool {
		return had[strings.TrimSpace(l)]
	})
	return strings.Join(list, "")
}

// givesReason reports whether a sentence of a comment says why the code is so, or what it must not
// do. What the code does, whoever goes on reads there.
func givesReason(line string) bool {
	return prose.HasAny(strings.ToLower(line), []string{"because", " since ", "instead of",
		"rather than", "so that", "otherwise", "never", "must not", "do not", "don't", "cannot",
		"can't", "could not", "couldn't", " not support", "n't support", "workaround"})
}

// isDocument reports whether a file is written for people.
func isDocument(file string) bool {
	return slices.Contains([]string{".md", ".markdown", ".txt", ".rst", ".adoc"}, path.Ext(file))
}

// comment returns the words of a comment line, and "" for any other line.
func comment(line string) string {
	for _, lead := range [...]string{"//", "#", "--", "/*", "* ", ";;"} {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, "/#*-; "))
		}
	}
	return ""
}
