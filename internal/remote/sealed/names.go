package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/internal/remote"
)

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
