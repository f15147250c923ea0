package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL of its own, which listens on a socket in its directory alone.
type server struct {
	bin, dir string
	why      string // why there is none
	running  *exec.Cmd
	ended    chan struct{} // closed when running has ended
}

// here is the server of all tests of this package. The first test that needs it starts it.
var here *server

func TestMain(m *testing.M) {
	code := m.Run()
	if here != nil {
		here.stop(os.Interrupt) // SIGINT is a fast shutdown
		_ = os.RemoveAll(here.dir)
	}
	os.Exit(code)
}

// started returns the running server with the tables of ctx, owned by a role that is no superuser.
// It skips the test where PostgreSQL is not installed.
func started(t *testing.T) *server {
	t.Helper()
	if here == nil {
		here = &server{}
		if err := here.make(t); err != nil {
			here.why = err.Error()
		}
	}
	if here.why != "" {
		t.Skipf("NO POSTGRESQL: nothing of this engine is tested: %s", here.why)
	}
	return here
}

// programs returns the directory of initdb and postgres.
func programs() (string, error) {
	var dirs []string
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); found != nil {
		slices.Reverse(found)
		dirs = found
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, dir := range dirs {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no initdb in /usr/lib/postgresql, on PATH or where pg_config says")
}

func (s *server) make(t *testing.T) (err error) {
	if s.bin, err = programs(); err != nil {
		return err
	}
	// The path of a socket has at most 107 bytes, so the directory is not one of the test's. It is in
	// memory where there is such a file system: a killed server loses nothing that it has written.
	top := "/dev/shm"
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		top = ""
	}
	if s.dir, err = os.MkdirTemp(top, "ctxpg"); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		// The server refuses to run as root.
		if err := s.give(); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, "data")
	if out, err := s.command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C.UTF-8", "--no-sync").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := s.start(t); err != nil {
		return err
	}
	s.sql(t, "postgres", "create role boss login", "create role ann login", "create role bob login",
		"create role carl login", "create role friends", "grant friends to carl",
		"create database team owner boss")
	_, err = initialize(t.Context(), s.url("boss", ""))
	return err
}

// give gives the directory to a user that may run a server.
func (s *server) give() error {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		var uid, gid int
		if _, err := fmt.Sscan(u.Uid+" "+u.Gid, &uid, &gid); err != nil {
			return err
		}
		return os.Chown(s.dir, uid, gid)
	}
	return errors.New("no user postgres or nobody to run it as")
}

// start starts the server and waits until it answers. After a kill it starts only when the last
// process of the one before has ended.
func (s *server) start(t *testing.T) error {
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	for try := time.Millisecond; ; try *= 2 {
		s.running = s.command("postgres", "-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-c",
			"listen_addresses=", "-c", "max_connections=60", "-c", "max_wal_size=4GB")
		s.running.Stdout, s.running.Stderr = log, log
		if err := s.running.Start(); err != nil {
			return err
		}
		ended := make(chan struct{})
		s.ended = ended
		go func(c *exec.Cmd) { defer close(ended); _ = c.Wait() }(s.running)
		for {
			conn, err := pgx.Connect(t.Context(), s.admin("postgres"))
			if err == nil {
				return conn.Close(t.Context())
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Millisecond):
				continue
			}
			break
		}
		if try > 30*time.Second {
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("postgres does not start: %s", text)
		}
		time.Sleep(try)
	}
}

func (s *server) stop(how os.Signal) {
	if s.ended != nil {
		_ = s.running.Process.Signal(how)
		<-s.ended
	}
}

// admin is the URL of the superuser.
func (s *server) admin(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// url is the URL of a remote.
func (s *server) url(role, team string) string {
	text := "postgres://" + role + "@/team?host=" + url.QueryEscape(s.dir)
	if team != "" {
		text += "&team=" + team
	}
	return text
}

// sql runs statements as the superuser.
func (s *server) sql(t *testing.T, database string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.admin(database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, text := range statements {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// psql runs statements with psql as a role, and returns what it prints, errors too.
func (s *server) psql(t *testing.T, role string, statements ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, "psql"), "-X", "-A", "-t", "-q", "-h", s.dir, "-U",
		role, "-d", "team")
	cmd.Stdin = strings.NewReader(strings.Join(statements, ";\n") + ";\n")
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

func (s *server) granted(t *testing.T, team, role string) {
	t.Helper()
	if err := grant(t.Context(), s.url("boss", ""), team, role); err != nil {
		t.Fatal(err)
	}
}

func (s *server) open(t *testing.T, role, team string) *database {
	t.Helper()
	r, err := openDatabase(t.Context(), s.url(role, team))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
