package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// Remotes are what the user has set about sharing one store. They are in a file of the user's, and
// not in the store: a store may come from elsewhere, in an archive or a repository, and must not
// say where conversations go.
type Remotes struct {
	// What others call the store; "" for the name of the machine
	Label   string            `toml:"label,omitempty"`
	Remotes map[string]Remote `toml:"remote,omitempty"`
}

// Remote is a place where a store's sessions are shared.
type Remote struct {
	URL   string   `toml:"url"`
	Share string   `toml:"share,omitempty"` // the rule which sessions; "" for none
	Allow []string `toml:"allow,omitempty"` // classes of secrets and ids of objects that may leave
}

// remotesName is the file, beside the user's config.toml.
const remotesName = "remotes.toml"

// maxRemotes limits the file, in bytes.
const maxRemotes = 4 << 20

// remotesFile is the whole file: of each store, by its id.
type remotesFile struct {
	Store map[string]Remotes `toml:"store"`
}

// ErrNoUserConfig says that the user has no directory for settings.
var ErrNoUserConfig = errors.New("there is no directory for the user's settings")

// maxRemoteName is the most bytes of a remote's name: it is part of file names and of refs.
const maxRemoteName = 50

// CheckRemoteName returns an error for a name that no remote can have: lower-case letters, digits,
// `_` and `-`, at most 50.
func CheckRemoteName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	if odd || name == "" || len(name) > maxRemoteName || name[0] == '-' || name[0] == '_' {
		return fmt.Errorf("bad name of a remote %.80q: it has lower-case letters, digits, _ and -",
			name)
	}
	return nil
}

// Remotes returns what the user has set about sharing this store. Errors: *ConfigError.
func (r *Repo) Remotes() (Remotes, error) {
	all, err := r.readRemotes()
	return all.Store[r.ID], err
}

// SetRemotes replaces what the user has set about sharing this store. The file is replaced by
// rename, so a crash leaves the old one or the new one. Errors: ErrNoUserConfig, *ConfigError,
// those of the file system.
func (r *Repo) SetRemotes(set Remotes) error {
	if r.userConfig == "" {
		return ErrNoUserConfig
	}
	all, err := r.readRemotes()
	if err != nil {
		return err
	}
	if all.Store == nil {
		all.Store = map[string]Remotes{}
	}
	if all.Store[r.ID] = set; set.Label == "" && len(set.Remotes) == 0 {
		delete(all.Store, r.ID)
	}
	b := bytes.NewBufferString(
		"# Where ctx shares stores, by their ids. `ctx remote` writes this file.\n\n")
	if err := toml.NewEncoder(b).Encode(all); err != nil {
		return err
	}
	path := r.remotesPath()
	if err := r.FS.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return r.FS.WriteDurable(path, b.Bytes(), 0o600)
}

func (r *Repo) remotesPath() string {
	return filepath.Join(filepath.Dir(r.userConfig), remotesName)
}

func (r *Repo) readRemotes() (all remotesFile, err error) {
	if r.userConfig == "" {
		return all, nil
	}
	path := r.remotesPath()
	b, err := durable.ReadAtMost(path, maxRemotes)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, fmt.Errorf("cannot read %q: %w", path, err)
	}
	meta, err := toml.Decode(string(b), &all)
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("unknown key %s", meta.Undecoded()[0])
	}
	for _, set := range all.Store {
		for name := range set.Remotes {
			if bad := CheckRemoteName(name); err == nil {
				err = bad
			}
		}
	}
	if err != nil {
		return remotesFile{}, &ConfigError{Origin: "file " + path, Why: err.Error()}
	}
	return all, nil
}
