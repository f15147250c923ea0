package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// maxLine is the longest line that is read, in bytes: far more than any message of a real
// conversation, and little enough to hold.
const maxLine = 16 << 20

// Read reads a messages file. The lines of several conversations may take turns; what is returned
// has each of them in one piece, in the order in which they begin. Keys it does not know are
// skipped, and topic, author and time may be null or missing. An error names the line: one that is
// not a JSON object, that has no conversation, seq, role or text, whose role is unknown, or whose
// seq does not come after the one before it in the same conversation.
func Read(r io.Reader) ([]Message, error) {
	var set []Message
	last := map[string]int{}
	err := lines(r, func(line []byte) error {
		// The keys that have to be there are read once more as pointers, which tell a missing one from an
		// empty one.
		var must struct {
			Conversation *string `json:"conversation"`
			Seq          *int    `json:"seq"`
			Role         *string `json:"role"`
			Text         *string `json:"text"`
		}
		if err := decode(line, &must); err != nil {
			return err
		}
		switch {
		case must.Conversation == nil || *must.Conversation == "":
			return errors.New("no conversation")
		case must.Seq == nil:
			return errors.New("no seq")
		case must.Role == nil:
			return errors.New("no role")
		case must.Text == nil:
			return errors.New("no text")
		}
		var m Message
		if err := decode(line, &m); err != nil {
			return err
		}
		if m.Role != "user" && m.Role != "model" && m.Role != "tool" {
			return fmt.Errorf("unknown role %q", m.Role)
		}
		if before, ok := last[m.Conversation]; m.Seq < 0 || ok && m.Seq <= before {
			return fmt.Errorf("seq %d is out of order in conversation %q", m.Seq, m.Conversation)
		}
		last[m.Conversation] = m.Seq
		set = append(set, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	gather(set)
	return set, nil
}

// gather brings the messages of each conversation together: Conversations would take every turn for
// a conversation of its own.
func gather(set []Message) {
	begin := map[string]int{}
	for i := range set {
		if _, ok := begin[set[i].Conversation]; !ok {
			begin[set[i].Conversation] = i
		}
	}
	slices.SortStableFunc(set,
		func(a, b Message) int { return cmp.Compare(begin[a.Conversation], begin[b.Conversation]) })
}

// ReadFacts reads a facts file. Keys it does not know are skipped, and kind may be missing. An
// error names the line: one that is not a JSON object, or that has no conversation, query or
// answer.
func ReadFacts(r io.Reader) ([]Fact, error) {
	var facts []Fact
	err := lines(r, func(line []byte) error {
		var f Fact
		if err := decode(line, &f); err != nil {
			return err
		}
		switch {
		case f.Conversation == "":
			return errors.New("no conversation")
		case f.Query == "":
			return errors.New("no query")
		case f.Answer == "":
			return errors.New("no answer")
		}
		facts = append(facts, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return facts, nil
}

// lines calls take with every line of r and adds the number of the line to its error. A line
// without an end is a line too.
func lines(r io.Reader, take func([]byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for s.Scan() {
		n++
		if n == 1 && bytes.HasPrefix(s.Bytes(), []byte("\ufeff")) {
			return errors.New(
				"line 1: begins with a byte order mark, which is no JSON: save the file without it")
		}
		if err := take(s.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: longer than %d MiB", n+1, maxLine>>20)
	}
	if s.Err() != nil {
		return fmt.Errorf("line %d: %w", n+1, s.Err())
	}
	return nil
}

// decode reads one JSON object. A value of the wrong type is told by the name of its key, anything
// else as not being JSON.
func decode(line []byte, v any) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	err := json.Unmarshal(line, v)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s: unexpected %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("not a JSON object but: %s", kind.Value)
	case err != nil:
		return fmt.Errorf("not JSON: %w", err)
	}
	return nil
}
