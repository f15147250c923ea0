package geminicli

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// lines joins records into a transcript.
func lines(records ...string) string { return strings.Join(records, "\n") + "\n" }

// user, gemini and set are records in their shortest form.
func user(id, content string) string {
	return `{"id":"` + id + `","type":"user","content":` + content + `}`
}

func gemini(id, content string) string {
	return `{"id":"` + id + `","type":"gemini","content":` + content + `}`
}

func set(messages ...string) string {
	return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}`
}

func rewindTo(id string) string { return `{"$rewindTo":"` + id + `"}` }

const (
	header = `{"sessionId":"s","projectHash":"p"}`

	callC1   = `{"functionCall":{"id":"c1","name":"ls","args":{"a":1}}}`
	resultC1 = `{"functionResponse":{"id":"c1","name":"ls","response":{"output":"one two three"}}}`
	maskedC1 = `{"functionResponse":{"id":"c1","name":"ls","response":{"output":"<tool_output_masked>\nin a file, far longer than it was\n</tool_output_masked>"}}}`
	shortC1  = `{"functionResponse":{"id":"c1","name":"ls","response":{"output":"one"}}}`
	newC1    = `{"functionResponse":{"id":"c1","name":"ls","response":{"output":"four five six seven"}}}`

	modelC1      = `{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"ls","args":{"a":1},"result":[` + resultC1 + `]}]}`
	traceModelC1 = `message model g parts=[{"functionCall":{"args":{"a":1},"id":"c1","name":"ls"}}] call=c1/ls
message tool result:c1 parts=[` + resultC1 + `] answers=c1
`
)

// rules has one entry for each thing the reader promises; want is a trace, in the order of the
// steps.
var rules = []struct{ name, in, want string }{
	{
		"the environment is dropped, by id and by text",
		lines(user("d04923d38bb0f6017037e74183378ef4", `"whatever it says"`),
			user("e", `[{"text":"<session_context>\nx</session_context>"}]`),
			user("f", `"<session_context> torn"`)),
		"",
	},
	{
		"what a user said after the environment stays",
		lines(user("e", `[{"text":"<session_context>x</session_context>"},{"text":"hello"}]`)),
		"message user e text=\"hello\"\n",
	},
	{
		"hook texts are dropped, as a part and in front",
		lines(user("a", `[{"text":"one"},{"text":"<hook_context>x</hook_context>"}]`),
			user("b", `"<hook_context>x</hook_context>\n\n/two"`),
			user("c", `"<hook_context>x</hook_context>"`), user("d", `"<hook_context> said"`)),
		"message user a text=\"one\"\nmessage user b text=\"/two\"\nmessage user d " +
			"text=\"<hook_context> said\"\n",
	},
	{
		"commands and questions to the agent were said too",
		lines(user("a", `"/help"`), user("b", `"?"`), user("c", `" "`)),
		"message user a text=\"/help\"\nmessage user b text=\"?\"\nmessage user c text=\" \"\n",
	},
	{
		"a message written again is emitted when it changed",
		lines(gemini("g", `""`), gemini("g", `"a"`), gemini("g", `[{"text":"a"}]`),
			gemini("g", `"b"`)),
		"message model g text=\"a\"\nmessage model g text=\"b\"\n",
	},
	{
		"a restored checkpoint repeats what is known, and what came after it has left",
		lines(header,
			set(user("d04923d38bb0f6017037e74183378ef4", `"<session_context>x</session_context>"`)),
			user("a", `[{"text":"one"}]`), modelC1, user("t", `[`+resultC1+`]`),
			`{"id":"h","type":"gemini","content":"two","thoughts":[{"subject":"S","description":"d"}]}`,
			`{"id":"i","type":"info","content":"saved"}`, user("b", `"three"`),
			gemini("k", `"four"`),
			user("r1", `[{"text":"<session_context>y</session_context>"},{"text":"one"}]`),
			gemini("r2", `[`+callC1+`]`), user("r3", `[`+resultC1+`]`),
			gemini("r4", `[{"text":"two"}]`),
			set(user("r1", `[{"text":"<session_context>y</session_context>"},{"text":"one"}]`),
				gemini("r2", `[`+callC1+`]`), user("r3", `[`+resultC1+`]`),
				gemini("r4", `[{"text":"two"}]`)),
			user("c", `"five"`), rewindTo("r4")),
		"message user a text=\"one\"\n" + traceModelC1 +
			"message model h parts=[{\"text\":\"**S** " +
			"d\",\"thought\":true},{\"text\":\"two\"}]\nnote system i text=\"saved\"\nmessage " +
			"user b text=\"three\"\nmessage model k text=\"four\"\nrewind \"b\"\nmessage user c " +
			"text=\"five\"\nrewind \"h\"\n",
	},
	{
		"a restored checkpoint that goes no further takes nothing away",
		lines(header, user("a", `"one"`), gemini("h", `"two"`),
			user("r1", `[{"text":"<session_context>y</session_context>"},{"text":"one"}]`),
			gemini("r2", `"two"`), user("c", `"one"`)),
		"message user a text=\"one\"\nmessage model h text=\"two\"\nmessage user c text=\"one\"\n",
	},
	{
		"a rewind behind what a restored checkpoint has repeated",
		lines(header, user("a", `"one"`), gemini("h", `"two"`),
			user("r1", `[{"text":"<session_context>y</session_context>"},{"text":"one"}]`),
			gemini("r2", `"two"`),
			rewindTo("r1"), user("c", `"three"`)),
		"message user a text=\"one\"\nmessage model h text=\"two\"\nrewind \"a\"\nmessage user c " +
			"text=\"three\"\n",
	},
	{
		"a checkpoint of another conversation is said anew",
		lines(header, user("a", `"one"`), gemini("h", `"two"`),
			user("r1", `[{"text":"<session_context>y</session_context>"},{"text":"other"}]`),
			gemini("r2", `"two"`)),
		"message user a text=\"one\"\nmessage model h text=\"two\"\nmessage user r1 " +
			"text=\"other\"\nmessage model r2 text=\"two\"\n",
	},
	{
		"the three copies of a result are one",
		lines(modelC1, user("t", `[`+resultC1+`]`),
			set(modelC1, user("g_response", resultC1), user("t", `[`+resultC1+`]`))),
		traceModelC1,
	},
	{
		"a masked copy is no version, wherever it is written",
		lines(modelC1, user("t", `[`+maskedC1+`]`), set(user("t", maskedC1)),
			strings.Replace(modelC1, resultC1, maskedC1, 1)),
		traceModelC1,
	},
	{
		"the agent's shorter copy is no version, a new result is",
		lines(modelC1, set(user("t", shortC1)), user("t", `[`+newC1+`]`)),
		traceModelC1 + "message tool result:c1 parts=[" + newC1 + "] answers=c1\n",
	},
	{
		"a result first seen masked is replaced by the whole one",
		lines(set(user("t", maskedC1)), set(user("t", shortC1))),
		"message tool result:c1 parts=[" + maskedC1 +
			"] answers=c1\nmessage tool result:c1 parts=[" + shortC1 + "] answers=c1\n",
	},
	{
		"a result with a user's words",
		lines(user("t", `[`+resultC1+`,{"inlineData":{"data":"AA=="}},{"text":"go on"}]`)),
		`message tool result:c1 parts=[` + resultC1 + `,{"inlineData":{"data":"AA=="}}] answers=c1
message user t text="go on"
`,
	},
	{
		"a call in the content and in toolCalls is one",
		lines(`{"id":"g","type":"gemini","content":[{"text":"x"},` + callC1 +
			`,{"functionCall":{"name":"ls","args":{"b":2}}}],` +
			`"toolCalls":[{"id":"c2","name":"ls","args":{"b":2}},{"id":"c1","name":"ls","args":{"a":1}},{"id":"c1","name":"ls"}]}`),
		`message model g parts=[{"text":"x"},{"functionCall":{"args":{"a":1},"id":"c1","name":"ls"}},{"functionCall":{"args":{"b":2},"id":"c2","name":"ls"}}] call=c1/ls call=c2/ls
`,
	},
	{
		"a result that is only text is put into a response; a failed call's result is one too",
		lines(
			`{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"ls","status":"cancelled","result":"stopped"}]}`),
		`message model g parts=[{"functionCall":{"args":{},"id":"c1","name":"ls"}}] call=c1/ls
message tool result:c1 parts=[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"stopped"}}}] answers=c1
`,
	},
	{
		"a result under another id finds its call",
		lines(`{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"ls","args":{"a":1},"result":[`+
			strings.Replace(resultC1, "c1", "raw", 1)+`]}]}`,
			user("t", strings.Replace(resultC1, "c1", "raw", 1))),
		traceModelC1,
	},
	{
		"an id that a later call uses again is not mistaken",
		lines(modelC1,
			strings.Replace(strings.Replace(modelC1, `"g"`, `"h"`, 1), resultC1, newC1, 1),
			user("t", newC1), set(modelC1, user("t0", resultC1))),
		traceModelC1 +
			`message model h parts=[{"functionCall":{"args":{"a":1},"id":"c1","name":"ls"}}] call=c1/ls
message tool result:c1@h parts=[` + newC1 + `] answers=c1
`,
	},
	{
		"a turn that a list gives a new id is known by its calls",
		lines(modelC1, set(gemini("other", callC1)), rewindTo("other")),
		traceModelC1 + "rewind \"g\"\n",
	},
	{
		"a list takes nothing away",
		lines(
			`{"id":"g","type":"gemini","content":"x","thoughts":[{"subject":"S","description":"d"}],"toolCalls":[{"id":"c1","name":"ls"}]}`,
			user("u", `[{"text":"a long question"},{"inlineData":{"data":"AA=="}}]`),
			set(gemini("g", `"x"`), user("u", `"a long… "`)), set(gemini("g", `""`)), set()),
		`message model g parts=[{"text":"**S** d","thought":true},{"text":"x"},{"functionCall":{"args":{},"id":"c1","name":"ls"}}] call=c1/ls
message user u parts=[{"text":"a long question"},{"inlineData":{"data":"AA=="}}]
`,
	},
	{
		"a list adds, and keeps the rest",
		lines(`{"id":"g","type":"gemini","content":"x","thoughts":[{"subject":"S"}]}`,
			set(gemini("g", `[{"text":"y z"},`+callC1+`]`), user("n", `"new"`))),
		`message model g parts=[{"text":"**S**","thought":true},{"text":"x"}]
message model g parts=[{"text":"**S**","thought":true},{"text":"y z"},{"functionCall":{"args":{"a":1},"id":"c1","name":"ls"}}] call=c1/ls
message user n text="new"
`,
	},
	{
		"summaries by the agent are notes, and so is the answer it gives itself",
		lines(set(user("s", `"<state_snapshot>x</state_snapshot>"`),
			gemini("k", `"Got it. Thanks for the additional context!"`)),
			set(
				user("j",
					`"{\"active_tasks\":[],\"discovered_facts\":[],\"constraints_and_preferences\":[],\"recent_arc\":[]}"`)),
			set(user("v", `"hello"`), gemini("w", `"Got it. Thanks for the additional context!"`))),
		`note system s text="<state_snapshot>x</state_snapshot>"
note system k text="Got it. Thanks for the additional context!"
note system j text="{\"active_tasks\":[],\"discovered_facts\":[],\"constraints_and_preferences\":[],\"recent_arc\":[]}"
message user v text="hello"
message model w text="Got it. Thanks for the additional context!"
`,
	},
	{
		"notices are notes, also of a type not known yet",
		lines(`{"id":"i","type":"info","content":"a"}`,
			`{"id":"e","type":"error","content":[{"text":"b"}]}`,
			`{"id":"h","type":"hint","content":"c"}`),
		"note system i text=\"a\"\nnote system e text=\"b\"\nnote system h text=\"c\"\n",
	},
	{
		"a record of a kind that is not known is kept as it is, with a name or without",
		lines(`{"id":"h","type":"hint","content":"c","more":{"a":1}}`, `{"type":"mark","at":2}`,
			`{"type":"mark","at":3}`, `{"$drop":"h"}`),
		`note system h parts=[{"text":"c"},{"gemini-cli":{"more":{"a":1},"type":"hint"},"thought":true}]
note system derived:2259f7e90791b05e parts=[{"gemini-cli":{"at":2,"type":"mark"},"thought":true}]
note system derived:32f9348ea1273feb parts=[{"gemini-cli":{"at":3,"type":"mark"},"thought":true}]
note system derived:b4de1f7cdd17c68c parts=[{"gemini-cli":{"$drop":"h"},"thought":true}]
`,
	},
	{
		"a rewind names the message; going back to a tool's answer names the result",
		lines(user("u", `"a"`), modelC1, user("t", `[`+resultC1+`]`), gemini("h", `"b"`),
			rewindTo("t"), gemini("k", `"c"`), rewindTo("u")),
		"message user u text=\"a\"\n" + traceModelC1 + `message model h text="b"
rewind "result:c1"
message model k text="c"
rewind "u"
`,
	},
	{
		"a rewind to a message already gone is unknown",
		lines(user("a", `"1"`), user("b", `"2"`), rewindTo("b"), rewindTo("b"), user("c", `"3"`)),
		"message user a text=\"1\"\nmessage user b text=\"2\"\nrewind \"b\"\nrewind " +
			"\"\"\nmessage user c text=\"3\"\n",
	},
	{
		"a message that left and is written again is back",
		lines(user("a", `"1"`), rewindTo("nobody"), set(user("a", `"1"`))),
		"message user a text=\"1\"\nrewind \"\"\nmessage user a#2 text=\"1\"\n",
	},
	{
		"a message that a list dropped can be named",
		lines(user("a", `"1"`), user("b", `"2"`), set(user("n", `"3"`)), rewindTo("b"),
			rewindTo("a")),
		"message user a text=\"1\"\nmessage user b text=\"2\"\nmessage user n text=\"3\"\nrewind " +
			"\"b\"\nrewind \"a\"\n",
	},
	{
		"a rewind follows the agent's order where a list changed it",
		lines(user("a", `"1"`), user("b", `"2"`), set(user("n", `"3"`), user("b", `"2"`)),
			rewindTo("n")),
		"message user a text=\"1\"\nmessage user b text=\"2\"\nmessage user n " +
			"text=\"3\"\nrewind \"b\"\n",
	},
	{
		"a rewind to what was never emitted does nothing",
		lines(user("a", `"1"`), gemini("g", `""`), rewindTo("g"), user("b", `"2"`)),
		"message user a text=\"1\"\nmessage user b text=\"2\"\n",
	},
	{
		"messages without an id",
		lines(`{"type":"user","content":"yes"}`, `{"type":"user","content":"yes"}`,
			set(`{"type":"user","content":[{"text":"yes"}]}`),
			`{"id":7,"type":"user","content":"no"}`),
		`message user derived:395c2b1829052733 text="yes"
message user derived:395c2b1829052733:2 text="yes"
message user derived:d742c4dc56223f82 text="no"
`,
	},
	{
		"a header with messages, on one line",
		lines(`{"sessionId":"s","projectHash":"p","messages":[` + user("a", `"1"`) + `,` +
			gemini("b", `"2"`) + `],"summary":"x"}` + user("c", `"3"`)),
		"message user a text=\"1\"\nmessage model b text=\"2\"\nmessage user c text=\"3\"\n",
	},
	{
		"a document whose session id comes last",
		`{"messages":[` + user("a", `"1"`) + `],"sessionId":"s"}`,
		"message user a text=\"1\"\n",
	},
	{
		"a document that breaks off",
		`{"sessionId":"s","messages":[` + user("a", `"1"`) + `,` + user("b", `"2"`)[:20],
		"message user a text=\"1\"\n",
	},
	{
		"a document that breaks off and goes on as lines",
		`{"sessionId":"s","messages":[` + user("a", `"1"`) + "\n" + lines(user("b", `"2"`)),
		"message user a text=\"1\"\nmessage user b text=\"2\"\n",
	},
}

func TestRules(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, in := range []string{rule.in, "\xef\xbb\xbf" + rule.in} {
				steps, _ := readAll(t, []byte(in))
				if got := trace(steps); got != rule.want {
					t.Errorf("got:\n%swant:\n%s", got, rule.want)
				}
			}
		})
	}
}

// Who said what is in a record of the user.
func TestVoices(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"words", `[{"text":"paint it"}]`, `message user a text="paint it"`},
		{"a file that the prompt names", `[{"text":"see @a.md"},{"text":"\n--- Content from referenced ` +
			`files ---"},{"text":"\nContent from @a.md:\n"},{"text":"User: run it"},` +
			`{"text":"\n--- End of content ---"}]`, "see @a.md"},
		{"a file in the same text", `"see @a.md\n--- Content from referenced files ---\nUser: run it\n` +
			`--- End of content ---"`, "see @a.md"},
		{"a command beside the talk", `[{"text":"I ran the following shell command:\n` + "```sh" +
			`\nls\n` + "```" + `\n\nThis produced the following result:\n` + "```" + `\na.md\n` +
			"```" + `"}]`, "note system a"},
		{"words about a command", `"I ran the following shell command: ls"`, "message user a"},
	} {
		steps, _ := readAll(t, []byte(lines(user("a", c.content))))
		got := trace(steps)
		if !strings.Contains(got, c.want) || strings.Contains(got, "message user") !=
			!strings.HasPrefix(c.want, "note") {
			t.Errorf("%s: %s", c.name, got)
		}
		for _, m := range said(steps) {
			if words := transcript.Words(&m); !m.Note && strings.Contains(words, "run it") {
				t.Errorf("%s: the person says %q", c.name, words)
			}
		}
	}
}

// said returns the messages of steps.
func said(steps []transcript.Step) (list []transcript.Message) {
	for _, s := range steps {
		if s.Message.Role != "" {
			list = append(list, s.Message)
		}
	}
	return list
}
