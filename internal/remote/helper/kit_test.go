package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/lock"
)

// partVariable makes this test binary a helper that plays a part.
const partVariable = "CTX_TEST_PART"

func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		if err := play(part); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const greeting = `{"ctx":"remote","v":1,"name":"player","version":"0.1","features":["search","check"]}` + "\n"

// deaf is how long a helper that does not listen runs, unless it is killed. It ends by itself some
// time after a test that was killed.
const deaf = time.Minute

// play plays the part of a helper. All parts but "good" misbehave: the text is what they write.
func play(part string) error {
	in, out := io.Reader(os.Stdin), io.Writer(os.Stdout)
	switch part {
	case "good":
		return Serve(context.Background(), program(), in, out)
	case "members":
		return Serve(context.Background(), group(), in, out)
	case "mute":
		_, err := io.Copy(io.Discard, in)
		time.Sleep(deaf)
		return err
	case "dies":
		return errors.New("no such bucket; password=hunter2hunter2X9")
	case "deaf": // says that it can, and never reads
		fmt.Fprint(out, greeting)
		time.Sleep(deaf)
	}
	if _, err := io.WriteString(out, part); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// program serves a folder that the URL names, with a search in memory.
func program() Program {
	return Program{Name: "ctx-remote-play",
		Features: []string{FeatureSearch, FeatureCheck},
		Open: func(_ context.Context, url string) (remote.Remote, error) {
			d, err := remote.OpenDir(filepath.FromSlash(strings.TrimPrefix(url, "play://")), nil,
				lock.Owner{Command: "a test"})
			if err != nil {
				return nil, err
			}
			return &engine{Dir: d}, nil
		}}
}

// engine is a folder that can search and has a check. It keeps messages in memory.
type engine struct {
	*remote.Dir
	messages []remote.Message
}

func (e *engine) Check(context.Context) error { return errors.New("the check ran") }

func (e *engine) Index(_ context.Context, m []remote.Message) error {
	e.messages = append(e.messages, m...)
	return nil
}

func (e *engine) Forget(_ context.Context, store string, ids []string) error {
	e.messages = slices.DeleteFunc(e.messages,
		func(m remote.Message) bool { return m.Store == store && slices.Contains(ids, m.ID) })
	return nil
}

func (e *engine) Search(_ context.Context, query string, n int) ([]remote.Hit, error) {
	var hits []remote.Hit
	for _, m := range e.messages {
		if strings.Contains(m.Text, query) && len(hits) < n {
			hits = append(hits,
				remote.Hit{ID: m.ID, Store: m.Store, Session: m.Session, At: m.At, Role: m.Role,
					Text: m.Text})
		}
	}
	return hits, nil
}

// players makes a folder in which this test binary is the program ctx-remote-play, with a part.
func players(t *testing.T, part string) string {
	t.Helper()
	t.Setenv(partVariable, part)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside, name := t.TempDir(), "ctx-remote-play"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if os.Symlink(self, filepath.Join(beside, name)) == nil {
		return beside
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(beside, name), b, 0o700); err != nil {
		t.Fatal(err)
	}
	return beside
}

// playing opens a remote that a good helper serves.
func playing(t *testing.T) remote.Remote {
	t.Helper()
	r, err := Open(t.Context(),
		Config{URL: "play://" + filepath.ToSlash(t.TempDir()), Beside: players(t, "good")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
