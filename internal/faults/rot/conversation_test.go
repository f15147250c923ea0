package rot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Conversation makes a store of the first most messages in a file of JSON lines, and compacts it.
func Conversation(project, file string, most int) (dir string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m, err := begin(project, 3)
	if err != nil {
		return "", err
	}
	var batch []conversation.Message
	in := bufio.NewScanner(bytes.NewReader(b))
	for in.Scan() && len(batch) < most {
		var line struct{ Role, Text string }
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return "", err
		}
		batch = append(batch, conversation.Message{Role: line.Role, Text: line.Text})
	}
	for len(batch) > 0 {
		n := min(len(batch), 7)
		m.append("work", history.MainBranch, batch[:n]...)
		batch = batch[n:]
	}
	m.compact("work", "")
	return m.finish()
}
