package child

import (
	"strings"
	"sync"
)

// maxTail is the most bytes of a program's standard error that are kept.
const maxTail = 64 << 10

// maxSaid is the largest length in bytes of what a program said, in a message for people.
const maxSaid = 300

// Tail keeps the last 64 KiB that are written to it. It is made for a program's standard error.
type Tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer. It never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxTail):]...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// Said returns the last line with text as the end of a sentence, cleaned, or "".
func (t *Tail) Said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.kept))
	last := OneLine(text[strings.LastIndexByte(text, '\n')+1:], maxSaid)
	if last == "" {
		return ""
	}
	return ": " + last
}
