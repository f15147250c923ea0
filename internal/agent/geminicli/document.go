package geminicli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// maxDocument is the most of a JSON document that is read, in bytes. The agent itself keeps the
// whole conversation in memory and writes it again with each message, so real ones are far smaller.
const maxDocument = 256 << 20

// readDocument reads a transcript that begins as one JSON object with "sessionId" and "messages":
// all of it in old transcripts, one line of it in some. It returns what is to be read as lines:
// what follows the object, or everything if the input begins with something else, together with the
// offset of that.
//
// A document that breaks off gives the messages before the break.
func (s *replay) readDocument(
	r *bufio.Reader, start int64,
) (rest *bufio.Reader, offset int64, err error) {
	d := &documentReader{s: s}
	failing := &transcript.ErrorKeeper{R: r}
	d.dec = json.NewDecoder(
		&transcript.SpaceForNUL{R: io.TeeReader(io.LimitReader(failing, maxDocument), &d.taken)})
	end := d.read()
	if d.failed != nil {
		return nil, 0, d.failed
	}
	if failing.Err != nil {
		return nil, 0, &transcript.ReadError{Err: failing.Err}
	}
	used := 0
	if d.messages > 0 {
		used = int(d.dec.InputOffset())
		s.document = true
		s.stats.Records++
		s.stats.Bytes = start + int64(used)
		inRun := false
		s.stats.Skip(transcript.SkipNULRun, transcript.CountNULRuns(d.taken.Bytes()[:used], &inRun))
	}
	left := d.taken.Bytes()[used:]
	switch {
	case used == 0 || end == nil:
	case !errors.Is(end, io.ErrUnexpectedEOF) && !errors.Is(end, io.EOF):
		s.stats.Skip(transcript.SkipBadJSON, 1)
	case d.taken.Len() >= maxDocument:
		s.stats.Skip(SkipLongDocument, 1)
	default:
		s.stats.Skip(transcript.SkipTornTail, 1)
		left = nil
	}
	return bufio.NewReaderSize(io.MultiReader(bytes.NewReader(left), r), 64<<10),
		start + int64(used), nil
}

// documentReader walks the top level of one JSON object.
type documentReader struct {
	s        *replay
	dec      *json.Decoder
	taken    bytes.Buffer      // every byte the decoder was given, as it was in the input
	messages int               // applied
	waiting  []json.RawMessage // read before the session id was
	named    bool              // the session id was read
	failed   error             // from emit
}

// errNotDocument says that the input begins with a record of another kind.
var errNotDocument = errors.New("not a document")

// read returns nil at the end of the object, io.EOF or io.ErrUnexpectedEOF if the input ends before
// it.
func (d *documentReader) read() error {
	if token, err := d.dec.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(err, errNotDocument)
	}
	for d.dec.More() {
		token, err := d.dec.Token()
		if err != nil {
			return err
		}
		if err := d.field(token); err != nil {
			return err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return err
	}
	d.named = true
	return d.release()
}

func (d *documentReader) field(name json.Token) error {
	switch name {
	case "$rewindTo", "id", "$set":
		if d.messages == 0 && len(d.waiting) == 0 {
			return errNotDocument
		}
	case "messages":
		return d.list()
	}
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	switch name {
	case "sessionId":
		d.s.metadata(jsonvalue.Object{"sessionId": bytes.ToValidUTF8(raw, []byte("\uFFFD"))})
		d.named = d.named || d.s.stats.Session != ""
		return d.release()
	}
	return nil
}

func (d *documentReader) list() error {
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return errNotDocument
	}
	for d.dec.More() {
		var raw json.RawMessage
		if err := d.dec.Decode(&raw); err != nil {
			return err
		}
		d.waiting = append(d.waiting, raw)
		if err := d.release(); err != nil {
			return err
		}
	}
	_, err = d.dec.Token()
	return err
}

// release applies the messages held, once it is known whose they are.
func (d *documentReader) release() error {
	if !d.named {
		return nil
	}
	for _, raw := range d.waiting {
		d.messages++
		o, ok := jsonvalue.ParseObject(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
		if !ok {
			d.s.stats.Skip(transcript.SkipUnknown, 1)
			continue
		}
		if d.failed = d.s.message(o, false, d.s.derived); d.failed != nil {
			return d.failed
		}
	}
	d.waiting = nil
	return nil
}
