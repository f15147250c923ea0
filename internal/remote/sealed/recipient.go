package sealed

import (
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// classic is a recipient whose wish not to stand beside weaker ones is not heard: whoever adds a
// member with such a key is told so.
type classic struct{ of age.Recipient }

// Wrap implements age.Recipient.
func (c classic) Wrap(key []byte) ([]*age.Stanza, error) { return c.of.Wrap(key) }

// recipients returns those of members.
func recipients(members []remote.Member) ([]age.Recipient, error) {
	list := make([]age.Recipient, len(members))
	for i, m := range members {
		to, err := parseRecipient(m.Recipient)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.Name, err)
		}
		list[i] = classic{to}
	}
	return list, nil
}

func parseRecipient(s string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(s, "AGE-SECRET-KEY-") || strings.HasPrefix(s, "-----BEGIN"):
		return nil, errors.New("that is a secret key: a recipient is the public one")
	case isPostQuantum(s):
		return age.ParseHybridRecipient(s)
	case strings.HasPrefix(s, "age1"):
		return age.ParseX25519Recipient(s)
	case strings.HasPrefix(s, "ssh-"):
		return agessh.ParseRecipient(s)
	}
	return nil, fmt.Errorf("not a recipient: %.40q; one begins with age1 or ssh-", s)
}

// isPostQuantum reports whether a recipient is safe from a large quantum computer.
func isPostQuantum(recipient string) bool { return strings.HasPrefix(recipient, "age1pq1") }

// cleanRecipient returns a recipient without the comment that may follow it, and the comment.
func cleanRecipient(s string) (recipient, comment string, err error) {
	words := strings.Fields(s)
	n := 1
	if len(words) > 0 && strings.HasPrefix(words[0], "ssh-") {
		n = 2
	}
	if len(words) < n {
		return "", "", fmt.Errorf("not a recipient: %.40q", s)
	}
	recipient, comment = strings.Join(words[:n], " "), strings.Join(words[n:], "-")
	_, err = parseRecipient(recipient)
	return recipient, comment, err
}

// nameFor returns the name of a member who was given none: the comment of the key, or its end,
// which two keys of one kind do not share.
func nameFor(recipient, comment string) string {
	if checkMemberName(comment) == nil {
		return comment
	}
	end := strings.TrimRight(recipient, "=")
	end = strings.NewReplacer("+", "", "/", "").Replace(end[max(0, len(end)-16):])
	kind := "age"
	if strings.HasPrefix(recipient, "ssh-") {
		kind = "ssh"
	}
	return kind + "-" + end[max(0, len(end)-8):]
}

// sshIdentity is an SSH key with its recipient.
type sshIdentity struct {
	age.Identity
	recipient string
}

// parseSSH reads a private key of SSH.
func parseSSH(pem []byte) (age.Identity, error) {
	key, err := ssh.ParsePrivateKey(pem)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil,
			errors.New(
				"the key has a passphrase, and nobody can be asked for it: use a key without " +
					"one, or the key that `ctx-remote-age identity` makes")
	}
	if err != nil {
		return nil, err
	}
	id, err := agessh.ParseIdentity(pem)
	if err != nil {
		return nil, err
	}
	return sshIdentity{id, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))},
		nil
}

// recipientOf returns the recipient of an identity that this package has read; "" for another.
func recipientOf(i age.Identity) string {
	switch i := i.(type) {
	case *age.HybridIdentity:
		return i.Recipient().String()
	case *age.X25519Identity:
		return i.Recipient().String()
	case sshIdentity:
		return i.recipient
	}
	return ""
}

// ownRecipient returns the recipient of the first identity.
func ownRecipient(list []age.Identity) (string, error) {
	for _, i := range list {
		if to := recipientOf(i); to != "" {
			return to, nil
		}
	}
	return "", errors.New("there is no identity to encrypt to")
}
