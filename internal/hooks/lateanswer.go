package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// How long a hook waits for the end of a turn in a transcript, how often it looks, and how much of
// the transcript's end it reads.
const (
	maxAnswer  = time.Second
	answerStep = 10 * time.Millisecond
	answerTail = 256 << 10
)

// awaitAnswer waits until the transcript has the answer with which the turn has ended: some agents
// call the hook before they write it. What does not come in time is recorded by the next hook.
func (h *hook) awaitAnswer(ctx context.Context) {
	path := h.event.Transcript
	if !h.agent.LateAnswer || h.event.Answer == "" || path == "" || h.event.Subagent != "" {
		return // what a subagent has said comes with the end of the turn that it works in
	}
	h.begin("waiting for the end of the turn in the transcript")
	ctx, cancel := context.WithTimeout(ctx, maxAnswer)
	defer cancel()
	look := time.NewTicker(answerStep)
	defer look.Stop()
	for !endsWith(path, h.event.Answer) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// endsWith reports whether the newest turn of a transcript of Claude Code or Qwen Code ends with
// an answer. A file that is not there yet will be; one that cannot be read has nothing to wait
// for.
func endsWith(path, answer string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return true
	}
	size := min(info.Size(), answerTail)
	tail := make([]byte, size)
	if _, err := f.ReadAt(tail, info.Size()-size); err != nil && err != io.EOF {
		return true
	}
	for len(tail) > 0 {
		tail = bytes.TrimRight(tail, "\n")
		at := bytes.LastIndexByte(tail, '\n') + 1
		said, found := answered(tail[at:], answer)
		if said {
			return found
		}
		tail = tail[:at]
	}
	return false
}

// answered reports whether a record decides where a turn ends: it is an answer, which is found, or
// the user's or a tool's, after which the answer is still to come.
func answered(record []byte, answer string) (decides, found bool) {
	var r struct {
		Type    string `json:"type"`
		Meta    bool   `json:"isMeta"`
		Message struct {
			Content json.RawMessage `json:"content"`
			Parts   json.RawMessage `json:"parts"` // of Qwen Code
		} `json:"message"`
	}
	if json.Unmarshal(record, &r) != nil {
		return false, false
	}
	switch r.Type {
	case "user":
		return !r.Meta, false
	case "tool_result":
		return true, false
	}
	content := r.Message.Content
	if content == nil {
		content = r.Message.Parts
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if r.Type != "assistant" || json.Unmarshal(content, &blocks) != nil {
		return false, false
	}
	for _, b := range blocks {
		if text := strings.TrimSpace(b.Text); text != "" &&
			strings.HasSuffix(strings.TrimSpace(answer), text) {
			return true, true
		}
	}
	return false, false
}
