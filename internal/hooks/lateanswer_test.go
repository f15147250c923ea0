package hooks

import (
	"path/filepath"
	"testing"
)

func TestEndsWith(t *testing.T) {
	const (
		prompt = `{"type":"user","message":{"content":"Which lamps?"}}` + "\n"
		meta   = `{"type":"user","isMeta":true,"message":{"content":"hint"}}` + "\n"
		result = `{"type":"user","message":{"content":[{"type":"tool_result","content":"lit"}]}}` +
			"\n"
		call   = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t"}]}}` + "\n"
		answer = `{"type":"assistant","message":{"content":[{"type":"text","text":"Four \u2713 <b>"}]}}` + "\n"
		qwen   = `{"type":"assistant","message":{"role":"model","parts":[{"text":"Four \u2713 <b>"}]}}` + "\n"
		lit    = `{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{}}]}}` + "\n"
		other  = `{"type":"system","subtype":"stop_hook_summary"}` + "\n"
	)
	for _, c := range []struct {
		name, text, answer string
		want               bool
	}{
		{"the answer is there", prompt + answer, "Four ✓ <b>", true},
		{"with records after it", prompt + call + result + answer + other + meta,
			"Four ✓ <b>", true},
		{"as the last block of several", prompt + answer, "I looked.\nFour ✓ <b>\n", true},
		{"only the prompt", prompt, "Four ✓ <b>", false},
		{"the same answer, a turn before", prompt + answer + prompt, "Four ✓ <b>", false},
		{"only the result", prompt + call + result, "Four ✓ <b>", false},
		{"a torn record", prompt + answer[:30], "Four ✓ <b>", false},
		{"of Qwen Code", prompt + lit + qwen + other, "Four ✓ <b>", true},
		{"of Qwen Code, only the result", prompt + qwen + lit, "Four ✓ <b>", false},
		{"empty", "", "Four", false},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		write(t, path, c.text)
		if got := endsWith(path, c.answer); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if endsWith(filepath.Join(t.TempDir(), "none.jsonl"), "Four") {
		t.Error("a file that is not there ends with an answer")
	}
}
