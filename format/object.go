package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Raw is an object as bytes: its header, whose SHA-256 is the object's id, and its stored body.
// Body is nil for an object without a body and for an object whose body is absent.
type Raw struct {
	Header []byte
	Body   []byte
}

// ID returns the object's id.
func (r Raw) ID() ID { return Sum(r.Header) }

// Text returns the body without the nonce that some kinds begin with (see HasNonce); nil where
// there is no body. It works for all kinds and versions, as HeaderBody does.
func (r Raw) Text() []byte {
	if kind, _, err := HeaderKind(r.Header); err != nil || !HasNonce(kind) {
		return r.Body
	}
	return r.Body[min(NonceLen, len(r.Body)):]
}

// NonceLen is the number of nonce bytes before the text in a stored body (see HasNonce). 16 random
// bytes keep anybody from guessing a short secret from the digest of its body.
const NonceLen = 16

// Body is the content of a header's body line. Digest and Size are the SHA-256 and the length in
// bytes of the stored body, nonce included. Media is its media type.
type Body struct {
	Digest [sha256.Size]byte
	Size   int64
	Media  string
}

// The limits of headers. A decoder refuses larger values before it allocates.
const (
	// MaxHeader is in bytes. A node of 256 children takes 18 KiB; a forest that nobody compacts
	// takes about 200 bytes for each live cluster.
	MaxHeader = 64 << 20
	// MaxBody is in bytes: 16 MiB for the longest message, and room for its nonce and for what
	// the sanitizer adds.
	MaxBody = 16<<20 + 1<<20
	// MaxName is the number of bytes of a percent-encoded name.
	MaxName = 200
)

// SumBody returns the body line for stored, the bytes of a body as they are kept, nonce included.
func SumBody(stored []byte, media string) Body {
	return Body{Digest: sha256.Sum256(stored), Size: int64(len(stored)), Media: media}
}

// Check returns an error unless stored has the size and the digest of b.
func (b Body) Check(stored []byte) error {
	if int64(len(stored)) != b.Size {
		return fmt.Errorf("body has %d bytes, its header says %d", len(stored), b.Size)
	}
	if sha256.Sum256(stored) != b.Digest {
		return errors.New("body does not match its digest")
	}
	return nil
}

func (b Body) check() error {
	if !isMedia(b.Media) || b.Size < 0 || b.Size > MaxBody {
		return fmt.Errorf("bad body: %d bytes of %.80q", b.Size, b.Media)
	}
	return nil
}

// appendLine appends the body line of a header.
func (b Body) appendLine(out []byte) []byte {
	out = hex.AppendEncode(append(out, "body sha256:"...), b.Digest[:])
	out = strconv.AppendInt(append(out, ' '), b.Size, 10)
	return append(append(append(out, ' '), b.Media...), '\n')
}

// SetBody returns an encoded header with another body line, which is its last line. It has what
// encoding the whole header again would give, and may use the bytes of header.
func SetBody(header []byte, b Body) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	at := bytes.LastIndexByte(header[:max(0, len(header)-1)], '\n') + 1
	if !bytes.HasPrefix(header[at:], []byte("body ")) {
		return nil, errors.New("header has no body line")
	}
	header = b.appendLine(header[:at])
	if len(header) > MaxHeader {
		return nil, fmt.Errorf("header of %d bytes, %d is the most", len(header), MaxHeader)
	}
	return header, nil
}

// parseBody reads the fields of a body line.
func parseBody(digest, size, media string) (Body, error) {
	hexDigits, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return Body{}, fmt.Errorf("bad body line: %.80q", digest)
	}
	id, err := ParseID(hexDigits)
	if err != nil {
		return Body{}, fmt.Errorf("bad body digest: %.80q", digest)
	}
	n, err := parseUint(size)
	if err != nil || n > MaxBody {
		return Body{}, fmt.Errorf("bad body size: %.80q", size)
	}
	if !isMedia(media) {
		return Body{}, fmt.Errorf("bad media type: %.80q", media)
	}
	return Body{Digest: id, Size: int64(n), Media: kept(media)}, nil
}

// kept returns a media type as a string that holds no header in memory.
func kept(media string) string {
	for _, known := range [...]string{MediaText, MediaExtract, MediaParts} {
		if media == known {
			return known
		}
	}
	return strings.Clone(media)
}

// isMedia reports whether s is type/subtype in lower case, without parameters, at most 100 bytes.
func isMedia(s string) bool {
	slash := strings.IndexByte(s, '/')
	if slash <= 0 || slash == len(s)-1 || len(s) > 100 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '+' ||
			c == '-' || i == slash
		if !ok {
			return false
		}
	}
	return true
}

// HeaderKind returns the kind and the version in the first line of a header. It ignores the other
// lines.
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

// HeaderBody returns the body line of a header. ok is false if the header has none. It works for
// all kinds and versions, even unknown ones, so that the storage layer need not know any kind.
func HeaderBody(header []byte) (b Body, ok bool, err error) {
	line := bytes.TrimSuffix(header, []byte{'\n'})
	if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	rest, found := bytes.CutPrefix(line, []byte("body "))
	if !found {
		return Body{}, false, nil
	}
	digest, fields, _ := strings.Cut(string(rest), " ")
	size, media, _ := strings.Cut(fields, " ")
	b, err = parseBody(digest, size, media)
	return b, err == nil, err
}

// AppendRaw appends an object as one text: the header, an empty line and the body. An object
// without a stored body is only its header.
func AppendRaw(b []byte, r Raw) []byte {
	b = append(b, r.Header...)
	if r.Body == nil {
		return b
	}
	return append(append(b, '\n'), r.Body...)
}

// rawLen is the length of what AppendRaw appends.
func rawLen(r Raw) int {
	if r.Body == nil {
		return len(r.Header)
	}
	return len(r.Header) + 1 + len(r.Body)
}

// DecodeRaw splits what AppendRaw has joined. It checks neither the id nor the digest of the body;
// that is up to the caller, who knows the id. The result aliases b.
func DecodeRaw(b []byte) (Raw, error) {
	if i := bytes.Index(b, []byte("\n\n")); i >= 0 {
		return Raw{Header: b[:i+1], Body: b[i+2:]}, nil
	}
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return Raw{}, errors.New("object is cut short")
	}
	return Raw{Header: b}, nil
}

// isWord reports whether s matches [a-z][a-z0-9-]* and has at most 32 bytes.
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

// parseUint reads a decimal number. It refuses signs and leading zeros, so that a number has only
// one textual form.
func parseUint(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || s[0] == '0' && len(s) > 1 { // a sign or a space is an error of ParseUint
		return 0, fmt.Errorf("not a number: %.40q", s)
	}
	return n, nil
}
