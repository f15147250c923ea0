package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
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

// namer hides names, and finds them again.
type namer struct {
	mac    []byte
	cipher cipher.Block
}

// derive returns 32 bytes that follow from a secret.
func derive(secret, salt []byte, info string) []byte {
	key, err := hkdf.Key(sha256.New, secret, salt, info, 32)
	if err != nil {
		panic(err) // only for lengths that no caller has
	}
	return key
}

func newNamer(secret []byte) *namer {
	block, err := aes.NewCipher(derive(secret, nil, "ctx remote names 2"))
	if err != nil {
		panic(err) // only for another length of the key
	}
	return &namer{mac: derive(secret, nil, "ctx remote names 1"), cipher: block}
}

// The contexts in which tokens are made, besides that of a store's folder. A token opens in its own
// context only.
const (
	storeContext = "store"
	otherContext = "other"
)

// tokens is the form of tokens: digits that every remote takes in names.
var tokens = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// ivSize is the number of bytes of a synthetic IV, and the size of a block of AES.
const ivSize = aes.BlockSize

// seal returns the token of a text of a name.
func (n *namer) seal(context, text string) string {
	b := pack(text, context != storeContext)
	iv := n.iv(context, b)
	out := append(bytes.Clone(iv), b...)
	cipher.NewCTR(n.cipher, iv).XORKeyStream(out[ivSize:], b)
	return tokens.EncodeToString(out)
}

func (n *namer) iv(context string, b []byte) []byte {
	h := hmac.New(sha256.New, n.mac)
	h.Write([]byte(context))
	h.Write([]byte{0})
	h.Write(b)
	return h.Sum(nil)[:ivSize]
}

// errToken says that a token was not made with these keys in this context.
var errToken = errors.New("not a token of this remote")

// unseal returns the text of a token.
func (n *namer) unseal(context, token string) (string, error) {
	b, err := tokens.DecodeString(token)
	if err != nil || len(b) <= ivSize || tokens.EncodeToString(b) != token {
		return "", errToken
	}
	iv, b := b[:ivSize], b[ivSize:]
	cipher.NewCTR(n.cipher, iv).XORKeyStream(b, b)
	if !hmac.Equal(iv, n.iv(context, b)) {
		return "", errToken
	}
	return unpack(b, context != storeContext)
}

// place returns the name on the host of a name that remote.CheckName accepts.
func (n *namer) place(name string) string {
	top, rest, _ := strings.Cut(name, "/")
	if top != "heads" && top != "stores" || rest == "" {
		return otherTop + n.seal(otherContext, name)
	}
	store, rest, deeper := strings.Cut(rest, "/")
	at := top + "/" + n.seal(storeContext, store)
	if deeper {
		at += "/" + n.seal(top+"/"+store+"/", rest)
	}
	return at
}

// open is the inverse of place.
func (n *namer) open(at string) (string, error) {
	parts := strings.Split(at, "/")
	var name string
	switch {
	case len(parts) == 2 && parts[0]+"/" == otherTop:
		text, err := n.unseal(otherContext, parts[1])
		if err != nil {
			return "", err
		}
		name = text
	case (len(parts) == 2 || len(parts) == 3) && (parts[0] == "heads" || parts[0] == "stores"):
		store, err := n.unseal(storeContext, parts[1])
		if err != nil {
			return "", err
		}
		name = parts[0] + "/" + store
		if len(parts) == 3 {
			rest, err := n.unseal(name+"/", parts[2])
			if err != nil {
				return "", err
			}
			name += "/" + rest
		}
	}
	if remote.CheckName(name) != nil || n.place(name) != at {
		return "", errToken
	}
	return name, nil
}

// The lengths of the runs of hexadecimal digits that take half the room: ids and digests.
const (
	minRun = 16
	maxRun = 128
)

// pack returns the bytes of a text of a name. In whole blocks neither the digits of a number nor
// the kind of a file show in the length. The ids of stores all have one length.
func pack(text string, blocks bool) []byte {
	var b []byte
	for i := 0; i < len(text); {
		run := 0
		for run < maxRun && i+run < len(text) &&
			strings.IndexByte("0123456789abcdef", text[i+run]) >= 0 {
			run++
		}
		if run < minRun {
			b = append(b, text[i:i+max(run, 1)]...)
			i += max(run, 1)
			continue
		}
		run &^= 1
		digits, _ := hex.DecodeString(text[i : i+run]) // it has nothing but digits
		b = append(append(b, 128+byte(len(digits))), digits...)
		i += run
	}
	if rest := len(b) % ivSize; rest > 0 && blocks {
		b = append(b, make([]byte, ivSize-rest)...)
	}
	return b
}

// unpack is the inverse of pack. It accepts only what pack returns.
func unpack(b []byte, blocks bool) (string, error) {
	var text strings.Builder
	for i := 0; i < len(b) && b[i] != 0; i++ {
		n := int(b[i]) - 128
		switch {
		case n <= 0:
			text.WriteByte(b[i])
			continue
		case n > len(b)-i-1:
			return "", errToken
		}
		text.WriteString(hex.EncodeToString(b[i+1 : i+1+n]))
		i += n
	}
	if text.Len() == 0 || !bytes.Equal(pack(text.String(), blocks), b) {
		return "", errToken
	}
	return text.String(), nil
}
