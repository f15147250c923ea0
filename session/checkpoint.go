package session

import (
	"bufio"
	"io"

	"github.com/gemini-ctx/ctx/agent/geminicli"
)

// checkpointSession is the session that the sources of a checkpoint's messages name.
const checkpointSession = "checkpoint"

// readGemini reads what Gemini CLI wrote: a transcript, or a file of /chat save.
func readGemini(r io.Reader, emit func(geminicli.Step) error) (geminicli.Stats, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	if head, _ := br.Peek(512); geminicli.IsCheckpoint(head) {
		return geminicli.ReadCheckpoint(br, func(st geminicli.Step) error {
			st.Message.Session = checkpointSession // the file names none
			return emit(st)
		})
	}
	return geminicli.Read(br, emit)
}
