// Package loop detects that a model repeats itself: the same tool calls again and again, or the
// same text. The caller passes the model's output while it arrives. The state of a Detector fits in
// a small file, so that it can be kept between two runs. The package reads no files and no clock.
//
// Two rules, with the numbers of the Gemini CLI:
//
// Tool calls. Two calls are equal if their names and arguments are; the order of members and the
// spelling of numbers do not count. A loop is a cycle of 1 to 5 calls that occurs 5 times in a row
// within the last 25 calls.
//
// Content. A window of 50 characters moves over the text, one character at a time. A loop is a
// window that occurs 10 times, on average at most 250 characters apart, with at most 5 different
// texts between the occurrences. So a list of different items that begin alike is no loop. Only the
// last 5,000 characters count. The comparison starts again at a fence, a table, a list, a heading,
// a quote, a divider and a tool call, because such structures repeat in any text. Text in a code
// block is ignored.
//
// A character is a Unicode code point. The Gemini CLI counts UTF-16 units; the results differ only
// for text with characters outside the basic plane.
//
// The way in which a text is cut into deltas matters in one case: a structure mark at the start of
// a delta counts even in the middle of a line, because deltas of a model often begin at such marks
// without the line feed before them.
package loop

// The numbers of the two rules.
const (
	maxCalls   = 25   // calls that are remembered
	maxCycle   = 5    // the longest cycle of calls that is looked for
	callTimes  = 5    // occurrences of a cycle that make a loop
	window     = 50   // characters that are compared
	textTimes  = 10   // occurrences of a window that make a loop
	maxAverage = 250  // characters between two of these, on average
	maxPeriods = 5    // different texts between two of these
	maxText    = 5000 // characters that are looked at
)

// The rules, as verdicts name them.
const (
	RuleCalls   = "tool-calls"
	RuleContent = "content"
)

// Verdict is the result of a Detector.
type Verdict struct {
	Detected bool
	Rule     string // RuleCalls or RuleContent; "" where nothing is detected
	// Period is how many calls the cycle has, or how many characters lie between the last two of
	// the windows that are alike.
	Period int
	// Count is how often a loop was detected since the prompt. An agent may try again after the
	// first.
	Count int
}

// Detector watches one conversation. The zero Detector has seen nothing.
type Detector struct {
	// Mark belongs to the caller, who notes the place in the conversation in it. The state keeps
	// it, up to maxMark bytes.
	Mark string

	prompt  string // a digest of the prompt's name; "" where none was given
	count   int
	found   Verdict // Count is left out
	calls   []call
	content content
}

// Prompt sets the prompt that the model works on. A new prompt resets the Detector.
func (d *Detector) Prompt(id string) {
	if name := digest(id); name != d.prompt {
		d.Reset()
		d.prompt = name
	}
}

// Reset forgets everything but the mark.
func (d *Detector) Reset() { *d = Detector{Mark: d.Mark} }

// Clear removes the verdict after a loop, and keeps its count. It forgets the text, whose next
// character would complete the same loop again. It keeps the calls, so that the next call of the
// same cycle is detected, and a different call is not.
func (d *Detector) Clear() {
	d.found, d.content = Verdict{}, content{}
}

// Verdict returns the result so far. A detected loop stays until Prompt, Reset or Clear.
func (d *Detector) Verdict() Verdict {
	v := d.found
	v.Count = d.count
	return v
}

// Text takes a delta of the model's text. It does nothing after a loop was detected.
func (d *Detector) Text(delta string) {
	if d.found.Detected {
		return
	}
	if period, ok := d.content.add(delta); ok {
		d.detect(RuleContent, period)
	}
}

// Call takes a tool call: its id, or "" if it has none, and its arguments, a JSON value. A call
// with the id of one of the last calls is a repetition of the report, and does not count again.
// Call does nothing after a loop was detected. The error says that the arguments are not JSON.
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
