package agent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// What repeats a message is not kept with another one, known kind or not, and neither is the
// account of the person. What is neither is kept.
func TestClaudeCopies(t *testing.T) {
	const said = "read the kestrel file, codeword heliotrope"
	for _, c := range []struct {
		record, gone string
	}{
		{`{"type":"last-prompt","lastPrompt":"read the kestrel…","sessionId":"s"}`, "kestrel…"},
		{`{"type":"api-request-part","sessionId":"s","x":"other words"}`, "other words"},
		{`{"type":"request-log","sessionId":"s","list":[{"text":"` + said + `"}]}`, "request-log"},
		{`{"type":"queue-operation","operation":"enqueue","sessionId":"s","content":"` +
			said + `"}`, "enqueue"},
		{`{"type":"attachment","uuid":"c","parentUuid":"a","sessionId":"s","attachment":{"type":"prompt_snapshot","text":"be kind"}}`,
			"be kind"},
		{`{"type":"bridge-session","ownerAccountUuid":"acc0ffee","sessionId":"s"}`, "acc0ffee"},
		{`{"type":"tide-table","note":"of kim@heron.example","user_email":"kim@heron.example","sessionId":"s"}`,
			"heron"},
		{`{"type":"attachment","uuid":"c","parentUuid":"a","sessionId":"s","attachment":{"type":"session_context","context":{"userEmail":"kim@heron.example"}},"rendered":[{"content":"mail kim@heron.example"}]}`,
			"heron"},
		{`{"type":"tide-table","note":"high water at four","sessionId":"s"}`, ""},
	} {
		var all bytes.Buffer
		in := lines(user("a", "", said), c.record, user("b", "a", "on"))
		_, err := claude.Read(strings.NewReader(in),
			func(st transcript.Step) error {
				if st.Message.Origin.Message != "a" {
					all.Write(st.Message.Parts)
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if c.gone != "" && strings.Contains(all.String(), c.gone) {
			t.Errorf("%s\nis kept in %s", c.record, all.String())
		}
		if c.gone == "" && !strings.Contains(all.String(), "high water") {
			t.Errorf("%s\nis not kept in %s", c.record, all.String())
		}
	}
}
