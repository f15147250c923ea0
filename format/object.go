package format

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Raw is an object as bytes: a header, whose SHA-256 is the object's id, and the stored body the header names.
// Body is nil for kinds without a body, and for an object whose body is absent.
type Raw struct {
	Header []byte
	Body   []byte
}

// ID returns the object's id.
func (r Raw) ID() ID { return Sum(r.Header) }

// NonceLen is the number of bytes in front of the text in the stored body of a kind that has a nonce (see HasNonce).
// 16 bytes make the digest of a short secret useless to someone who guesses.
const NonceLen = 16

// HasNonce reports whether the stored body of an object of this kind starts with a nonce: of entry, summary and tombstone it does, and is
// NonceLen bytes at least, or the header is not read; of blob and epoch it is the bytes alone.
func HasNonce(kind string) bool {
	return kind == "entry" || kind == "summary" || kind == "tombstone"
}

// Body is what a header's last line says of the stored body: the SHA-256 of its bytes, nonce included, their number, and
// their media type.
type Body struct {
	Digest [sha256.Size]byte
	Size   int64
	Media  string
}

// The limits of a header; a reader refuses what is larger before it allocates.
const (
	MaxHeader = 64 << 20       // a node of 256 children takes 18 KiB; a forest that nobody compacts, some 200 bytes for each live cluster
	MaxBody   = 16<<20 + 1<<20 // a message is 16 MiB at most; room for its nonce and for what sanitising adds
	MaxName   = 200            // bytes of a percent-encoded name in a header
)

// SumBody returns what a header says of stored, the body's bytes as they are kept (nonce first, where the kind has one).
func SumBody(stored []byte, media string) Body {
	return Body{Digest: sha256.Sum256(stored), Size: int64(len(stored)), Media: media}
}

// Check reports whether stored are the bytes that b names.
func (b Body) Check(stored []byte) error {
	if int64(len(stored)) != b.Size {
		return fmt.Errorf("body has %d bytes, its header says %d", len(stored), b.Size)
	}
	if sha256.Sum256(stored) != b.Digest {
		return errors.New("body does not match its digest")
	}
	return nil
}

func (b Body) line() string {
	return fmt.Sprintf("sha256:%x %d %s", b.Digest, b.Size, b.Media)
}

func parseBody(s string) (Body, error) {
	f := strings.Split(s, " ")
	if len(f) != 3 || !strings.HasPrefix(f[0], "sha256:") {
		return Body{}, fmt.Errorf("bad body line: %.80q", s)
	}
	id, err := ParseID(f[0][len("sha256:"):])
	if err != nil {
		return Body{}, fmt.Errorf("bad body digest: %.80q", s)
	}
	n, err := parseUint(f[1])
	if err != nil || n > MaxBody {
		return Body{}, fmt.Errorf("bad body size: %.80q", f[1])
	}
	if !isMedia(f[2]) {
		return Body{}, fmt.Errorf("bad media type: %.80q", f[2])
	}
	return Body{Digest: id, Size: int64(n), Media: f[2]}, nil
}

// isMedia accepts type/subtype in lower case, without parameters, 100 bytes at most.
func isMedia(s string) bool {
	slash := strings.IndexByte(s, '/')
	if slash <= 0 || slash == len(s)-1 || len(s) > 100 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '+' || c == '-' || i == slash
		if !ok {
			return false
		}
	}
	return true
}

// HeaderKind returns the kind and version that a header's first line names. It does not look at the rest.
func HeaderKind(header []byte) (kind string, version int, err error) {
	line, _, ok := bytes.Cut(header, []byte{'\n'})
	if !ok || len(line) > 40 {
		return "", 0, errors.New("not an object header: no first line")
	}
	k, v, ok := strings.Cut(string(line), " ")
	if !ok || !isWord(k) {
		return "", 0, fmt.Errorf("not an object header: %.40q", line)
	}
	n, err := parseUint(v)
	if err != nil || n == 0 || n > 1000 {
		return "", 0, fmt.Errorf("not an object header: %.40q", line)
	}
	return k, int(n), nil
}

// HeaderBody returns what the last line of a header says of its body; ok is false for a header without a body line.
// It works for every kind and version, known or not, so that storage needs no knowledge of kinds.
func HeaderBody(header []byte) (b Body, ok bool, err error) {
	line := bytes.TrimSuffix(header, []byte{'\n'})
	if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	rest, found := bytes.CutPrefix(line, []byte("body "))
	if !found {
		return Body{}, false, nil
	}
	b, err = parseBody(string(rest))
	return b, err == nil, err
}

// EncodeLoose returns the bytes of a loose object file: the header, and where there is a body an empty line and the body.
// An object whose body is absent is its header alone.
func EncodeLoose(r Raw) []byte {
	if r.Body == nil {
		return bytes.Clone(r.Header)
	}
	out := make([]byte, 0, len(r.Header)+1+len(r.Body))
	out = append(out, r.Header...)
	out = append(out, '\n')
	return append(out, r.Body...)
}

// DecodeLoose splits the bytes of a loose object file. It does not check the id or the body's digest: that is for the reader,
// who knows which id it asked for. The parts alias b.
func DecodeLoose(b []byte) (Raw, error) {
	if i := bytes.Index(b, []byte("\n\n")); i >= 0 {
		return Raw{Header: b[:i+1], Body: b[i+2:]}, nil
	}
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return Raw{}, errors.New("object file is cut short")
	}
	return Raw{Header: b}, nil
}

// isWord accepts [a-z][a-z0-9-]*, 32 bytes at most: kinds, roles and other closed names.
func isWord(s string) bool {
	if s == "" || len(s) > 32 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// parseUint reads a decimal without sign or leading zero: one number has one text.
func parseUint(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return 0, fmt.Errorf("not a number: %.40q", s)
	}
	return n, nil
}
