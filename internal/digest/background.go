package digest

import (
	"cmp"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// runningPrefix begins the key in Digester.Open of a call that continues in the background.
const runningPrefix = "running:"

// beside stands between a command that continues in the background and the name that it has there.
const beside = ": in the background as "

// notification begins what a client tells the model of a task in the background that ended.
const notification = "<task-notification>"

// IsNotification reports whether a text of a client tells that tasks in the background ended.
func IsNotification(text string) bool { return strings.Contains(text, notification) }

// Runs reports whether a fact is of a command in the background of which no end is known.
func (f *Fact) Runs() bool {
	return f.Kind == Command && f.State == "" && strings.Contains(f.Text, beside)
}

// awaited removes from Open, and returns, the facts of the call that another call waits for.
func (d *Digester) awaited(a args) []int {
	for _, n := range [...]string{"session_id", "task_id", "bash_id", "shell_id",
		"cell_id"} {
		if facts := d.takeRunning(strings.Trim(string(a[n]), `"`)); len(facts) > 0 {
			return facts
		}
	}
	return nil
}

func (d *Digester) takeRunning(name string) []int {
	facts := d.Open[runningPrefix+name]
	delete(d.Open, runningPrefix+name)
	for _, i := range facts {
		d.Made[i].State = "" // what was printed until now may be overtaken
	}
	return facts
}

// unnamed is the name of what continues in the background where a result does not repeat it.
const unnamed = "-"

// taskOutcome parses what Claude Code tells of a task in the background, in elements.
func taskOutcome(text string) (o outcome, ok bool) {
	lead := strings.TrimSpace(text)
	status, ok := between(text, "<status>", "</status>")
	if !ok || !prose.HasLead(lead, []string{"<retrieval_status>", "<task_id>", "<status>"}) {
		return o, false
	}
	o.exit, o.failed = -1, status == "failed"
	code, _ := between(text, "<exit_code>", "</exit_code>")
	if n, is := leadingNumber(strings.TrimSpace(code)); is {
		o.exit, o.failed = n, n > 0
	}
	if status == "running" {
		name, _ := between(text, "<task_id>", "</task_id>")
		o.running = cmp.Or(name, unnamed)
	}
	for _, element := range [...]string{"output", "stdout", "stderr"} {
		printed, _ := between(text, "<"+element+">", "</"+element+">")
		o.output = strings.TrimSpace(o.output + "\n" + printed)
	}
	o.stopped = o.exit < 0 && (status == "killed" || status == "stopped")
	return o, true
}

// notified reads how tasks ended, of which a text of the client tells.
func (d *Digester) notified(text string) {
	for _, part := range strings.Split(text, notification)[1:] {
		name, _ := between(part, "<task-id>", "</task-id>")
		status, _ := between(part, "<status>", "</status>")
		if status == "running" {
			continue
		}
		o := outcome{exit: -1, failed: status == "failed"}
		if _, code, ok := strings.Cut(part, "exit code "); ok {
			if n, is := leadingNumber(code); is {
				o.exit, o.failed = n, n > 0
			}
		}
		for _, i := range d.takeRunning(name) {
			switch f := &d.Made[i]; {
			case f.Kind != Command && f.Kind != Commit:
				said, _ := between(part, "<result>", "</result>")
				d.sentences(Returned, ownWords(said))
			case status == "completed" || status == "failed":
				d.ended(i, o)
			default: // somebody stopped it
				f.Text, _, _ = strings.Cut(f.Text, beside)
			}
		}
	}
}
