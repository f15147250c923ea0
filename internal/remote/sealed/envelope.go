package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filippo.io/age"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// The sizes of an age file with one stanza of this package.
const (
	headerSize = 176      // bytes of the header and the nonce of the payload
	chunkSize  = 64 << 10 // plain bytes of a part of the payload
	tagSize    = 16       // bytes that each part has more
	saltSize   = 16
	fileKey    = 16 // bytes of the key that age chooses for a file
)

// sealedSize returns the size of a file of n bytes when it is sealed.
func sealedSize(n int64) int64 {
	return headerSize + n + tagSize*max(1, (n+chunkSize-1)/chunkSize)
}

// plainSize is the inverse of sealedSize.
func plainSize(size int64) (int64, error) {
	parts := (size - headerSize + chunkSize + tagSize - 1) / (chunkSize + tagSize)
	n := size - headerSize - tagSize*parts
	if n < 0 || sealedSize(n) != size {
		return 0, fmt.Errorf("no file of %d bytes is an encrypted one", size)
	}
	return n, nil
}

// intro is how every age file begins.
const intro = "age-encryption.org/"

// isCut reports whether a file that does not open is what a copy that is not complete has of one:
// nothing, a part of the header, or zeros in the place of the rest. A file that is cut behind its
// header is not told from one that was changed.
func isCut(b []byte) bool {
	begin := bytes.TrimRight(b, "\x00")
	if len(begin) == 0 || len(b)-len(begin) >= zeroTail {
		return true
	}
	_, err := plainSize(int64(len(b)))
	return err != nil && strings.HasPrefix(string(begin), intro[:min(len(begin), len(intro))])
}

// zeroTail is how many zeros at the end of a file are taken for room that a copy has reserved.
const zeroTail = 64

// stanzaType is the first word of the stanza that holds the key of a file.
const stanzaType = "ctx-remote"

// wrapper seals the key of one file under a round of the group, and opens it. Only a file of the
// same name opens. It implements age.Recipient and age.Identity.
type wrapper struct {
	random io.Reader
	rounds [][]byte // the secrets, the oldest first
	name   string
}

// errNewRound says that a file is of a round whose secret is not known.
var errNewRound = errors.New("its round is not known")

// aead returns the cipher for the key of one file. It has a key of its own, from a fresh salt, so a
// nonce of zeros is used once.
func (w *wrapper) aead(round int, salt []byte) cipher.AEAD {
	block, err := aes.NewCipher(derive(w.rounds[round-1], salt, "ctx remote file\n"+w.name))
	if err != nil {
		panic(err) // only for another length of the key
	}
	c, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for another size of the block
	}
	return c
}

// Wrap implements age.Recipient.
func (w *wrapper) Wrap(key []byte) ([]*age.Stanza, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(w.random, salt); err != nil {
		return nil, err
	}
	c := w.aead(len(w.rounds), salt)
	return []*age.Stanza{{
		Type: stanzaType,
		Args: []string{fmt.Sprintf("%08x", len(w.rounds)),
			base64.RawStdEncoding.EncodeToString(salt)},
		Body: c.Seal(nil, make([]byte, c.NonceSize()), key, nil),
	}}, nil
}

// Unwrap implements age.Identity.
func (w *wrapper) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) != 1 || stanzas[0].Type != stanzaType || len(stanzas[0].Args) != 2 ||
		len(stanzas[0].Body) != fileKey+tagSize {
		return nil, errors.New("it is another kind of age file")
	}
	s := stanzas[0]
	round, err := strconv.ParseUint(s.Args[0], 16, 31)
	salt, err2 := base64.RawStdEncoding.DecodeString(s.Args[1])
	if err != nil || err2 != nil || len(salt) != saltSize || round == 0 ||
		fmt.Sprintf("%08x", round) != s.Args[0] {
		return nil, errors.New("its header is damaged")
	}
	if round > uint64(len(w.rounds)) {
		return nil, errNewRound
	}
	c := w.aead(int(round), salt)
	key, err := c.Open(nil, make([]byte, c.NonceSize()), s.Body, nil)
	if err != nil {
		return nil, errors.New("it does not open")
	}
	return key, nil
}

// sealFile encrypts a file under the newest round.
func sealFile(random io.Reader, rounds [][]byte, name string, data []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(int(sealedSize(int64(len(data)))))
	w, err := age.Encrypt(&out, &wrapper{random, rounds, name})
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// openFile decrypts what sealFile returned for the same name.
func openFile(rounds [][]byte, name string, b []byte) ([]byte, error) {
	size, err := plainSize(int64(len(b)))
	if err != nil || len(b) > remote.MaxFile {
		return nil, errors.Join(err, errTooLarge(len(b)))
	}
	r, err := age.Decrypt(bytes.NewReader(b), &wrapper{nil, rounds, name})
	if err != nil {
		return nil, err
	}
	plain := make([]byte, size)
	if _, err := io.ReadFull(r, plain); err != nil {
		return nil, err
	}
	// The end is checked when it is read.
	if n, err := io.Copy(io.Discard, r); err != nil || n > 0 {
		return nil, errors.Join(err, errors.New("it has more than its size says"))
	}
	return plain, nil
}

func errTooLarge(n int) error {
	if n > remote.MaxFile {
		return fmt.Errorf("%d bytes, a remote has files of %d at most", n, remote.MaxFile)
	}
	return nil
}
