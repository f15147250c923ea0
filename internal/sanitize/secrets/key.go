package secrets

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// Key is what the name of a key says about its value.
type Key int

const (
	NoKey     Key = iota // not the name of a secret
	plainKey             // "key" with or without another word: a secret only if surely random
	weakKey              // a token or key, which are words with other uses too
	strongKey            // a password, which is nearly always a secret and often short
	authKey              // "auth": a secret only if basic credentials
	headerKey            // "authorization": a scheme and a credential, or a token
	vendorKey            // the name of a service that hands out keys
	userKey              // the name of a user, with a password beside it or below
)

// Class returns the class of a value under a key of this kind.
func (k Key) Class() string {
	switch k {
	case strongKey, userKey:
		return "password"
	case authKey, headerKey:
		return "authorization"
	}
	return "secret"
}

// maxKey is the number of bytes at the end of a key that are examined.
const maxKey = 64

// KeyOf returns the kind of a key. It examines the last one or two parts of the name. Parts end at
// punctuation and between a lower-case and an upper-case letter, and digits at the end are ignored:
// DB_PASSWORD, dbPassword, --api-key and password2 are keys, passwordHash is none.
func KeyOf(name []byte) Key {
	if len(name) > maxKey {
		name = name[len(name)-maxKey:]
	}
	name = name[:chars.RunStart(name, 0, len(name), isTail)]
	if !mayBeKey(name) {
		return NoKey
	}
	last, rest := lastPart(name)
	before, _ := lastPart(rest)
	if kind := kindOf(before, last); kind != NoKey {
		return kind
	}
	return when(last == "key" && vendorBefore(rest, nil), plainKey) // azure_search_key
}

// isTail reports whether c may follow a name without changing its meaning.
func isTail(c byte) bool { return chars.IsDigit(c) || c == '_' || c == '-' || c == '.' || c == ' ' }

// mayBeKey is a quick test of the last letters of a name. Every word that kindOf knows passes it,
// and few others do.
func mayBeKey(name []byte) bool {
	n := len(name)
	if n < 2 {
		return false
	}
	switch string([]byte{name[n-2] | 0x20, name[n-1] | 0x20}) {
	case "rd", "wd", "id", // password, passwd, pwd, secret id
		"se", "de", "te", // passphrase, passcode, private
		"ss", "ls", "ds", // pass, credentials, creds
		"en", "on", "in", // token, authorization, login
		"sk",       // psk
		"pw", "sw", // pw, psw
		"al",             // credential
		"th",             // auth
		"ey",             // key
		"et", "at", "lt", // secret, pat, salt
		"ta", // key-data
		"ng", // secret string
		"rf", // csrf
		"ed": // seed
		return true
	}
	return false
}

// kindOf decides by the last part of a name and the part before it.
func kindOf(before, last string) Key {
	switch last {
	case "pwd", "psk", "psw", "passcode":
		return strongKey
	case "string":
		return when(before == "secret" || before == "secure", strongKey)
	case "id":
		return when(before == "secret", weakKey)
	case "pass", "pw":
		return when(before != "" && !isListed("other-pass", before), strongKey)
	case "credential", "credentials":
		return when(before != "with", weakKey)
	case "authorization":
		return headerKey
	case "creds", "csrf", "xsrf":
		return weakKey
	case "access", "private": // VENDORACCESS=…
		return plainKey
	case "seed": // of a second factor
		return when(before == "totp" || before == "otp" || before == "mfa", weakKey)
	case "phpsessid", "jsessionid":
		return plainKey
	case "session": // of Bitwarden
		return when(before == "bw", weakKey)
	case "login":
		return when(strings.HasSuffix(before, "sonar"), weakKey)
	case "auth":
		return authKey
	case "data", "base": // secret_key_base of Rails
		return when(before == "key", weakKey)
	case "key":
		return keyWith(before)
	case "pat": // a personal access token, or a pattern
		return when(before != "", plainKey)
	case "salt": // AUTH_SALT of WordPress
		return when(before != "" && isListed("secret-key", before), weakKey)
	case "token":
		return when(!isListed("plain-token", before), weakKey)
	}
	return kindBySuffix(last)
}

// kindBySuffix decides names that are written as one word, such as dbpassword.
func kindBySuffix(last string) Key {
	for _, s := range [...]string{"password", "passwd", "passphrase", "requirepass", "storepass",
		"keypass", "bindpw"} {
		if strings.HasSuffix(last, s) {
			return strongKey
		}
	}
	for _, s := range [...]string{"pass", "pw"} {
		if of, ok := strings.CutSuffix(last, s); ok {
			return when(isListed("account", of), strongKey)
		}
	}
	for _, s := range [...]string{"secret", "token"} {
		if strings.HasSuffix(last, s) {
			return when(last != "jsonwebtoken", weakKey) // the name of a library
		}
	}
	if qualifier, ok := strings.CutSuffix(last, "key"); ok {
		return keyWith(qualifier)
	}
	return when(last == "masterauth", strongKey)
}

// keyWith returns the kind of "<word> key".
func keyWith(word string) Key {
	switch {
	case isListed("secret-key", word):
		return weakKey
	case isListed("open-key", word):
		return NoKey
	case isVendor(word):
		return weakKey
	}
	return plainKey
}

func when(ok bool, k Key) Key {
	if ok {
		return k
	}
	return NoKey
}

// lastPart returns the last part of a name in lower case, and the rest of the name.
func lastPart(name []byte) (part string, rest []byte) {
	end := len(name)
	for end > 0 && !chars.IsAlnum(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && chars.IsAlnum(name[start-1]) {
		if start < end && chars.IsUpper(name[start]) && !chars.IsUpper(name[start-1]) {
			break
		}
		start--
	}
	return strings.ToLower(string(name[start:end])), name[:start]
}
