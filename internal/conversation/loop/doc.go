// Package loop notices when a model goes round in circles: the same tool calls again and again, or
// the same text. It is fed what the model says as it says it, and keeps so little that its state
// fits in a small file between two runs. It reads nothing and knows no clock.
//
// Two rules, with the numbers of the Gemini CLI:
//
// Tool calls. A call is its name and its arguments, whatever the order of their members and however
// their numbers are written. Of the last 25 calls, a cycle of 1 to 5 calls that has come 5 times in
// a row is a loop.
//
// Content. A window of 50 characters slides over the text, by one. It is a loop when the same 50
// have come 10 times, on average no more than 250 characters apart, and what lies between these 10
// is at most 5 different texts: a list of different things that begin alike is none. The last 5,000
// characters are looked at. A fence, a table, a list, a heading, a quote and a divider begin anew,
// since such things repeat by themselves; what is in a code block is not looked at; a tool call
// begins anew.
//
// A character is a Unicode code point, not a UTF-16 unit as in the Gemini CLI: a window so never
// holds half a character, and the two differ where the text has characters outside the basic plane
// alone.
//
// How a text is cut into deltas makes no difference but one: where a delta begins in the middle of
// a line, a mark of a list, a table, a heading, a quote or a divider that it begins with counts,
// too. A model's deltas begin at such places, often without the line feed before it.
package loop

// The numbers of the two rules.
const (
	maxCalls   = 25   // calls that are remembered
	maxCycle   = 5    // the longest cycle of calls that is looked for
	callTimes  = 5    // how often a cycle has come when it is a loop
	window     = 50   // characters that are compared
	textTimes  = 10   // how often a window has come when it is a loop
	maxAverage = 250  // characters between two of these, on average
	maxPeriods = 5    // different texts between two of these
	maxText    = 5000 // characters that are looked at
)

// The rules, as verdicts name them.
const (
	RuleCalls   = "tool-calls"
	RuleContent = "content"
)

// Verdict is what a Detector has found.
type Verdict struct {
	Detected bool
	Rule     string // RuleCalls or RuleContent; "" where nothing is detected
	// Period is how many calls the cycle has, or how many characters lie between the last two of the
	// windows that are alike.
	Period int
	// Count is how often a loop was detected since the prompt. A first one is worth another try, a
	// second is not.
	Count int
}

// Detector watches one conversation. The zero Detector has seen nothing.
type Detector struct {
	// Mark is the caller's: where the conversation stood. It is kept in the state as it is, maxMark
	// bytes at most, and means nothing here.
	Mark string

	prompt  string // a digest of the prompt's name; "" where none was given
	count   int
	found   Verdict // Count is left out
	calls   []call
	content content
}

// Prompt says for which prompt the model works from now on. Another one than before forgets
// everything.
func (d *Detector) Prompt(id string) {
	if name := digest(id); name != d.prompt {
		d.Reset()
		d.prompt = name
	}
}

// Reset forgets everything but the mark.
func (d *Detector) Reset() { *d = Detector{Mark: d.Mark} }

// Clear takes back that a loop was detected, and remembers that there was one. The text so far is
// forgotten: it would be detected again with its next character. The calls are not, so that the
// same cycle going on is detected at its next call, and a different call is none.
func (d *Detector) Clear() {
	d.found, d.content = Verdict{}, content{}
}

// Verdict returns what was found so far. What is detected stays so until Prompt, Reset or Clear.
func (d *Detector) Verdict() Verdict {
	v := d.found
	v.Count = d.count
	return v
}

// Text takes a delta of what the model says. After a loop was detected it does nothing.
func (d *Detector) Text(delta string) {
	if d.found.Detected {
		return
	}
	if period, ok := d.content.add(delta); ok {
		d.detect(RuleContent, period)
	}
}

// Call takes a tool call: its id, "" where it has none, and its arguments, a JSON value. A call
// whose id was met among the last calls is that call told again, and counts once. After a loop was
// detected it does nothing. The error says that the arguments are not JSON.
func (d *Detector) Call(id, name string, args []byte) error {
	c, err := newCall(id, name, args)
	if err != nil || d.found.Detected || c.known(d.calls) {
		return err
	}
	d.content = content{} // the text before it has ended, in whatever state
	if len(d.calls) == maxCalls {
		d.calls = append(d.calls[:0], d.calls[1:]...)
	}
	d.calls = append(d.calls, c)
	if cycle := cycleOf(d.calls); cycle > 0 {
		d.detect(RuleCalls, cycle)
	}
	return nil
}

func (d *Detector) detect(rule string, period int) {
	d.found = Verdict{Detected: true, Rule: rule, Period: period}
	if d.count < maxCount {
		d.count++
	}
}
