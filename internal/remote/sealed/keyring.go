package sealed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/lock"
)

// Keyring is what one person has of their own, in a folder beside their settings: identities, and
// what was seen of the keys of remotes.
type Keyring struct {
	Dir   string // 0700; made when something is written
	FS    *durable.FS
	Owner lock.Owner // tells others who writes to it
}

// lockTimeout is how long a process waits for another, which holds the lock for a file write.
const lockTimeout = 10 * time.Second

// locked runs do while no other process writes to the folder.
func (k Keyring) locked(do func() error) error {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return err
	}
	return lock.With(context.Background(), k.FS, k.Dir, lockTimeout, k.Owner, do)
}

const (
	identitiesName = "identities"
	maxIdentities  = 1 << 20 // bytes of a file of identities
)

// Identities returns the person's identities, the own one first where there is one. It makes one if
// there is none: a post-quantum key, in a file with mode 0600. Errors are those of the file system,
// and say which line of which file is wrong.
func (k Keyring) Identities() ([]age.Identity, error) {
	path := filepath.Join(k.Dir, identitiesName)
	b, err := durable.ReadAtMost(path, maxIdentities)
	if errors.Is(err, fs.ErrNotExist) {
		if err := k.locked(k.begin); err != nil {
			return nil, err
		}
		b, err = durable.ReadAtMost(path, maxIdentities)
	}
	if err != nil {
		return nil, err
	}
	var list []age.Identity
	for i, line := range strings.Split(string(b), "\n") {
		found, err := identitiesIn(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+1, err)
		}
		list = append(list, found...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no identity", path)
	}
	return list, nil
}

// begin makes a key, unless another process was faster.
func (k Keyring) begin() error {
	if _, err := os.Stat(filepath.Join(k.Dir, identitiesName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	own, err := age.GenerateHybridIdentity()
	if err != nil {
		return err
	}
	return k.write(identitiesName, fmt.Appendf(nil,
		"# Secret keys for encrypted remotes of ctx, and paths of files with such keys. Keep a "+
			"copy.\n%s\n", own))
}

// identitiesIn returns what a line of the file names: a key of age, or the path of a file.
func identitiesIn(line string) ([]age.Identity, error) {
	line = strings.TrimSpace(line)
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
		return nil, nil
	case filepath.IsAbs(line):
		return readIdentities(line)
	}
	return age.ParseIdentities(strings.NewReader(line + "\n"))
}

// readIdentities reads a file of age's identities, or a private key of SSH.
func readIdentities(path string) ([]age.Identity, error) {
	b, err := durable.ReadAtMost(path, maxIdentities)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("-----BEGIN")) {
		one, err := parseSSH(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return []age.Identity{one}, nil
	}
	list, err := age.ParseIdentities(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// Use adds a file of keys to the person's identities, before all others. A file that is there stays
// where it is. It makes no identity.
func (k Keyring) Use(path string) error {
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\r\n") {
		return fmt.Errorf("%q is no absolute path", path)
	}
	if _, err := readIdentities(path); err != nil {
		return err
	}
	return k.locked(func() error {
		b, err := durable.ReadAtMost(filepath.Join(k.Dir, identitiesName), maxIdentities)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for line := range strings.SplitSeq(string(b), "\n") {
			if strings.TrimSpace(line) == path {
				return nil
			}
		}
		return k.write(identitiesName, append([]byte(path+"\n"), b...))
	})
}

// Recipient returns that of the person's first identity, which is made if there is none.
func (k Keyring) Recipient() (string, error) {
	list, err := k.Identities()
	if err != nil {
		return "", err
	}
	return ownRecipient(list)
}

func (k Keyring) write(name string, b []byte) error {
	path := filepath.Join(k.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return k.FS.WriteDurable(path, b, 0o600)
}

// Pin returns what keeps what was seen of the keys at a place.
func (k Keyring) Pin(place string) Pin {
	sum := sha256.Sum256([]byte(place))
	return pinFile{k, "pins/" + hex.EncodeToString(sum[:16]) + ".json"}
}

// pinFile is a Pin in a file. It implements Pin.
type pinFile struct {
	k    Keyring
	name string
}

func (p pinFile) Where() string { return filepath.Join(p.k.Dir, filepath.FromSlash(p.name)) }

func (p pinFile) Load() ([]byte, error) {
	b, err := durable.ReadAtMost(p.Where(), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (p pinFile) Save(old, new []byte) (done bool, err error) {
	err = p.k.locked(func() error {
		now, err := p.Load()
		if err != nil || !bytes.Equal(now, old) {
			return err
		}
		done = true
		return p.k.write(p.name, new)
	})
	return done, err
}

// Pin keeps what a person's clients have seen of a remote's keys, so that its host can neither take
// them back nor replace them. It is in a file of that person.
type Pin interface {
	Load() ([]byte, error) // nil for none
	// Save replaces what Load returned. It does nothing, and returns false, if another process has
	// replaced it meanwhile.
	Save(old, new []byte) (bool, error)
	// Where tells people how to believe other keys from now on.
	Where() string
}

// pinned is what a Pin keeps.
type pinned struct {
	V       int    `json:"v"`
	Group   string `json:"group"`   // its id
	Number  uint64 `json:"number"`  // of the newest change that was seen
	Keys    string `json:"keys"`    // the digest of the text then
	Rounds  int    `json:"rounds"`  // how many there were
	Secrets string `json:"secrets"` // the digest of group.secrets then
}

// seen returns what a client notes of a group.
func seen(g *group, text []byte) pinned {
	return pinned{1, g.id(), g.number, digest(text), len(g.rounds),
		digest(g.secrets(len(g.rounds)))}
}

// decodePin reads what a Pin keeps.
func decodePin(b []byte) (p pinned, err error) {
	if err := jsonvalue.Exact(b, &p); err != nil {
		return p, err
	}
	if p.V != 1 || p.Number == 0 || p.Rounds < 1 {
		return p, errors.New("it is of another version, or damaged")
	}
	return p, nil
}

// allows returns an error unless keys follow from those that were seen.
func (p *pinned) allows(g *group, text []byte) error {
	switch {
	case g.number < p.Number:
		return fmt.Errorf("%w: its keys were rolled back from change %d to %d", remote.ErrTampered,
			p.Number, g.number)
	case g.number == p.Number && digest(text) != p.Keys:
		return fmt.Errorf("%w: change %d of its keys is another one than before",
			remote.ErrTampered, g.number)
	case len(g.rounds) < p.Rounds || digest(g.secrets(p.Rounds)) != p.Secrets:
		return fmt.Errorf("%w: its keys were replaced by somebody who did not know those before",
			remote.ErrTampered)
	}
	return nil
}

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
	if errors.As(err, new(*ssh.PassphraseMissingError)) {
		return nil, errors.New(
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
