package sealed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
	"github.com/gemini-ctx/ctx/internal/remote/helper"
	"github.com/gemini-ctx/ctx/lock"
)

const usage = `ctx-remote-age serves remotes age+URL: encrypted ones, at any place that ctx can reach. ctx starts it.

  ctx-remote-age identity [FILE]   print your recipient, which is public. Without FILE it makes you a
                                   key if you have none; with FILE it uses the keys in that file
                                   from now on: those of age, or a private key of SSH
  ctx-remote-age version

Your keys are in the folder age beside the config file of ctx. Keep a copy of them.
`

// name is the program, and what it calls itself in locks.
const name = "ctx-remote-age"

// Program returns the program ctx-remote-age: a remote helper that encrypts what ctx stores, and
// keeps that in another remote. docs/remote-age.md describes it.
func Program() helper.Program {
	return helper.Program{Name: name, Usage: usage,
		Features: []string{helper.FeatureCheck, helper.FeatureMembers}, Open: open,
		Verbs: map[string]helper.Verb{"identity": {Least: 0, Most: 1, Run: identity}}}
}

// identity prints the user's recipient, after it has taken the keys of a file.
func identity(_ context.Context, files []string, _ io.Reader, out io.Writer) error {
	keys, err := keyring()
	if err != nil {
		return err
	}
	for _, f := range files {
		path, err := filepath.Abs(f)
		if err == nil {
			err = keys.Use(path)
		}
		if err != nil {
			return err
		}
	}
	recipient, err := keys.Recipient()
	if err == nil {
		_, err = fmt.Fprintln(out, recipient)
	}
	return err
}

func keyring() (Keyring, error) {
	config := environ.UserConfig()
	if config == "" {
		return Keyring{},
			errors.New("there is no directory for the user's settings, where keys could be")
	}
	return Keyring{Dir: filepath.Join(filepath.Dir(config), "age"), FS: &durable.FS{},
		Owner: environ.Env(name).Owner}, nil
}

// groupForm is the group that a URL may end with.
var groupForm = regexp.MustCompile(`#[0-9a-f]{32}$`)

// open opens the remote that a URL wraps: age+, that of another remote, and perhaps # and the group
// whose keys have to be there.
func open(ctx context.Context, url string) (remote.Remote, error) {
	group := groupForm.FindString(url)
	where, ok := strings.CutPrefix(strings.TrimSuffix(url, group), "age+")
	if !ok || where == "" {
		return nil, errors.New("the URL is not age+ and that of another remote")
	}
	keys, err := keyring()
	if err != nil {
		return nil, err
	}
	identities, err := keys.Identities()
	if err != nil {
		return nil, err
	}
	inner, err := openInner(ctx, where)
	if err != nil {
		return nil, err
	}
	return Open(Config{Inner: inner, Identities: identities, Pin: keys.Pin(where),
		Group: strings.TrimPrefix(group, "#")}), nil
}

func openInner(ctx context.Context, url string) (remote.Remote, error) {
	cache := os.Getenv(helper.CacheVariable)
	if cache == "" {
		cache = "copy" // in the directory of this process alone
	}
	if path, ok := strings.CutPrefix(url, "dir:"); ok {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("%q is no absolute path", path)
		}
		// Neither the name of the machine nor the number of the process is for the host.
		return remote.OpenDir(path, &durable.FS{}, lock.Owner{Command: name})
	}
	if where, ok := strings.CutPrefix(url, "git+"); ok {
		return git.Open(ctx, git.Config{
			URL: where, Bare: cache, Now: time.Now, FS: &durable.FS{},
			Owner: environ.Env(name).Owner,
		})
	}
	if helper.Scheme(url) == "" {
		return nil, errors.New("no kind of remote is known for the URL behind age+")
	}
	return helper.Open(ctx, helper.Config{URL: url, Beside: environ.Beside(), Cache: cache})
}
