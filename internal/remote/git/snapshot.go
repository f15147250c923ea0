package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// tree is what a ref names.
type tree struct {
	commit string
	blobs  map[string]string // by path; nil before it is loaded
}

// fetched makes sure that the bare repository has what the remote has. Everything that is read
// afterwards is of one moment, until a Swap or a Delete.
func (r *Remote) fetched(ctx context.Context) error {
	if err := r.make(ctx); err != nil {
		return err
	}
	if r.refs != nil {
		return nil
	}
	return r.fetch(ctx)
}

// fetch brings the refs of all stores, and removes those that are gone.
func (r *Remote) fetch(ctx context.Context) error {
	var before, out []byte
	var unmark func() error
	list := func() ([]byte, error) {
		return r.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", refPrefix)
	}
	err := r.locked(ctx, func() (err error) {
		same, err := r.still()
		if err != nil {
			return err
		}
		if before, err = list(); err != nil {
			return err
		}
		if unmark, err = r.mark(); err != nil {
			return err
		}
		err = r.bounded(ctx, func(ctx context.Context) error {
			_, err := r.git(ctx, nil, "fetch", "--quiet", "--prune", "--no-tags",
				"--no-write-fetch-head", "--force",
				"--no-recurse-submodules", "--", r.c.URL, "+"+refPrefix+"*:"+refPrefix+"*")
			return err
		})
		if err == nil {
			out, err = list()
		}
		if err == nil && !same() {
			err = errAnew
		}
		return err
	})
	if err != nil {
		return err
	}
	r.refs = map[string]*tree{}
	for line := range strings.Lines(string(out)) {
		if commit, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			r.refs[ref] = &tree{commit: commit}
		}
	}
	for line := range strings.Lines(string(before)) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		now := r.refs[ref]
		if now == nil || now.commit != commit && !r.leads(ctx, now.commit, commit) {
			r.rewritten = true
		}
	}
	if r.rewritten {
		return nil // Close prunes, and removes the mark then
	}
	return unmark()
}

// errAnew says that the copy was removed while it was read, and perhaps made anew: an empty one
// would say that the remote has nothing. A forget does not wait for the lock, which goes with it.
var errAnew = errors.New("the copy of the remote was removed meanwhile")

// still returns what reports whether the copy is the one that is there now.
func (r *Remote) still() (same func() bool, err error) {
	name := filepath.Join(r.c.Bare, "HEAD") // written when the copy is made, and never again
	was, err := os.Stat(name)
	return func() bool {
		is, err := os.Stat(name)
		return err == nil && os.SameFile(was, is) && is.ModTime().Equal(was.ModTime())
	}, err
}

// leads reports whether a commit has another one in its history.
func (r *Remote) leads(ctx context.Context, commit, before string) bool {
	_, err := r.git(ctx, nil, "merge-base", "--is-ancestor", before, commit)
	return err == nil
}

// load reads which blobs a ref has.
func (r *Remote) load(ctx context.Context, t *tree) error {
	if t.blobs != nil {
		return nil
	}
	blobs := map[string]string{}
	if err := r.walk(ctx, t.commit+"^{tree}", "", blobs, 0); err != nil {
		return err
	}
	t.blobs = blobs
	return nil
}

// maxDepth limits how deep the trees of a stranger's repository are read.
const maxDepth = 8

func (r *Remote) walk(
	ctx context.Context, of, folder string, blobs map[string]string, depth int,
) error {
	kind, b, err := r.object(ctx, of)
	switch {
	case err != nil:
		return err
	case kind != "tree" || depth > maxDepth:
		return fmt.Errorf("the ref of a store has a %s in the place of a folder", kind)
	}
	for len(b) > 0 {
		mode, rest, ok := bytes.Cut(b, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if size := r.cat.idSize; ok && ok2 && len(rest) >= size {
			id := fmt.Sprintf("%x", rest[:size])
			b = rest[size:]
			if !isName(folder, string(name)) {
				continue // nothing that a remote of ctx writes
			}
			if len(blobs) > maxFiles {
				return errors.New("the ref of a store has too many files")
			}
			if string(mode) == "40000" {
				if err := r.walk(ctx, id, folder+string(name)+"/", blobs, depth+1); err != nil {
					return err
				}
			} else if string(mode) == "100644" {
				blobs[folder+string(name)] = id
			}
			continue
		}
		return errors.New("a tree of the remote is damaged")
	}
	return nil
}

// maxFiles limits how many files of a store are listed.
const maxFiles = 1 << 20

// isName reports whether a part of a tree may be a part of a file's name.
func isName(folder, name string) bool {
	return remote.CheckName(name) == nil && !strings.Contains(name, "/") ||
		folder == "" && name == headPath
}

// blob returns the bytes of a blob.
func (r *Remote) blob(ctx context.Context, id string) ([]byte, error) {
	kind, b, err := r.object(ctx, id)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("the remote has a %s in the place of a file", kind)
	}
	return b, err
}

// catFile is a git that prints objects as it is asked for them.
type catFile struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   *bytes.Buffer
	cancel context.CancelFunc
	idSize int // bytes of an id
}

// ask sends a line to the git that prints objects, and reads the head of the answer.
func (r *Remote) ask(ctx context.Context, request string) (kind string, size int64, err error) {
	if r.cat == nil {
		run, cancel := context.WithCancel(context.WithoutCancel(ctx))
		c := &catFile{cmd: r.command(run, "cat-file", "--batch-command"), said: &bytes.Buffer{},
			cancel: cancel, idSize: 20}
		c.cmd.Stderr = c.said
		in, err1 := c.cmd.StdinPipe()
		out, err2 := c.cmd.StdoutPipe()
		if err := errors.Join(err1, err2); err != nil {
			cancel()
			return "", 0, err
		}
		c.in, c.out = in, bufio.NewReaderSize(out, 64<<10)
		if err := c.cmd.Start(); err != nil {
			cancel()
			return "", 0, r.failure(ctx, "cat-file", "", err)
		}
		r.cat = c
	}
	if _, err := io.WriteString(r.cat.in, request+"\n"); err != nil {
		return "", 0, r.failure(ctx, "cat-file", r.cat.said.String(), err)
	}
	line, err := r.cat.out.ReadString('\n')
	if err != nil {
		return "", 0, r.failure(ctx, "cat-file", r.cat.said.String(), err)
	}
	f := strings.Fields(line)
	if len(f) != 3 {
		return "", 0,
			fmt.Errorf("git has lost an object that it fetched: %.100s", strings.TrimSpace(line))
	}
	r.cat.idSize = len(f[0]) / 2
	size, err = strconv.ParseInt(f[2], 10, 64)
	return f[1], size, err
}

// maxTree is the most bytes of a tree that is read.
const maxTree = 256 << 20

// object reads an object.
func (r *Remote) object(ctx context.Context, name string) (kind string, data []byte, err error) {
	kind, size, err := r.ask(ctx, "contents "+name)
	if err != nil {
		return "", nil, err
	}
	if kind == "blob" && size > remote.MaxFile || size > maxTree {
		r.stopCat()
		return "", nil, fmt.Errorf("the remote has a file of %d bytes: at most %d", size,
			remote.MaxFile)
	}
	data = make([]byte, size+1) // and a newline
	if _, err := io.ReadFull(r.cat.out, data); err != nil {
		return "", nil, r.failure(ctx, "cat-file", r.cat.said.String(), err)
	}
	return kind, data[:size], nil
}

// size returns the size of a blob.
func (r *Remote) size(ctx context.Context, id string) (int64, error) {
	_, size, err := r.ask(ctx, "info "+id)
	return size, err
}

// stopCat ends the git that prints objects.
func (r *Remote) stopCat() {
	c := r.cat
	if c == nil {
		return
	}
	r.cat = nil
	_ = c.in.Close() // it ends then
	c.cancel()
	_ = c.cmd.Wait() // it was killed, or has ended
}
