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

	"github.com/gemini-ctx/ctx/internal/durable"
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
func (k Keyring) locked(do func() error) (err error) {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return err
	}
	held, err := lock.Acquire(context.Background(), k.FS, k.Dir, lockTimeout, k.Owner)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return do()
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
