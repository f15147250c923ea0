// Package packaging_test holds the scripts that install a release to what they promise.
package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ours and foreign are programs that answer `ctx version --json`: one as ctx does.
const (
	ours    = "#!/bin/sh\necho '{\"v\":1,\"version\":\"v1.2.3\",\"go\":\"go1\",\"platform\":\"x/y\",\"format\":2}'\n"
	foreign = "#!/bin/sh\necho something else\n"
	mcp     = "#!/bin/sh\necho mcp \"$1\"; exit 3\n"
)

// release makes a release for this machine in a directory.
func release(t *testing.T) (dir, archive string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{{"ctx", ours}, {"ctx-mcp", mcp},
		{"share/man/man1/ctx.1.gz", "page"}, {"LICENSE", "text"}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755,
			Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	name := fmt.Sprintf("ctx_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	write(t, filepath.Join(dir, name), b.Bytes(), 0o644)
	write(t, filepath.Join(dir, "checksums.txt"),
		fmt.Appendf(nil, "%064x  other.zip\n%x  %s\n", 0, sha256.Sum256(b.Bytes()), name), 0o644)
	return dir, filepath.Join(dir, name)
}

func write(t *testing.T, path string, b []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, mode); err != nil {
		t.Fatal(err)
	}
}

// install runs install.sh with a release from a directory.
func install(from, prefix string, env ...string) (string, error) {
	cmd := exec.Command("sh", "install.sh")
	cmd.Env = append(os.Environ(), append(env, "CTX_FROM=file://"+from, "PREFIX="+prefix)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: install.sh is for other systems")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: curl is not installed, and wget takes no file URLs")
	}
	from, archive := release(t)
	prefix := t.TempDir()
	out, err := install(from, prefix)
	if err != nil || !strings.Contains(out, "v1.2.3") || !strings.Contains(out, "to PATH") {
		t.Fatalf("%v: %s", err, out)
	}
	for name, text := range map[string]string{"bin/ctx": ours, "bin/ctx-mcp": mcp,
		"share/man/man1/ctx.1.gz": "page"} {
		if b, err := os.ReadFile(filepath.Join(prefix, name)); err != nil || string(b) != text {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if out, err = install(from, prefix); err != nil {
		t.Errorf("a second time: %v: %s", err, out)
	}

	write(t, filepath.Join(prefix, "bin/ctx"), []byte(foreign), 0o755)
	if out, err = install(from, prefix); err == nil || !strings.Contains(out, "CTX_NAME=gctx") {
		t.Errorf("another program was replaced: %v: %s", err, out)
	}
	if out, err = install(from, prefix, "CTX_NAME=gctx"); err != nil {
		t.Errorf("as gctx: %v: %s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(prefix, "bin/ctx")); err != nil || string(b) != foreign {
		t.Errorf("the other program is %q now, %v", b, err)
	}

	b, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	write(t, archive, append(b, 0), 0o644)
	empty := t.TempDir()
	if out, err = install(from, empty); err == nil || !strings.Contains(out, "checksum") {
		t.Errorf("a changed archive was taken: %v: %s", err, out)
	}
	if files, err := os.ReadDir(empty); err != nil || len(files) > 0 {
		t.Errorf("it left %v, %v", files, err)
	}
}

// TestNpm makes the packages of a release, and has the shim run the programs for this machine: each
// by its own name, with its arguments and its exit code.
func TestNpm(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip(
			"SKIPPED: the programs of this test are shell scripts, for the platforms of a release")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIPPED: node is not installed")
	}
	from, _ := release(t)
	out := filepath.Join(t.TempDir(), "node_modules", "@gemini-ctx")
	if said, err := exec.Command("node", "npm/make.mjs", "1.2.3", from,
		out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, c := range []struct {
		shim, want string
		code       int
	}{{"ctx.js", `"version":"v1.2.3"`, 0}, {"ctx-mcp.js", "mcp --serve", 3}} {
		cmd := exec.Command("node", filepath.Join(out, "ctx", "bin", c.shim), "--serve")
		said, _ := cmd.CombinedOutput()
		if !strings.Contains(string(said), c.want) || cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%s: exit %d: %s", c.shim, cmd.ProcessState.ExitCode(), said)
		}
	}
	var doc struct {
		Bin, OptionalDependencies map[string]string
	}
	b, err := os.ReadFile(filepath.Join(out, "ctx", "package.json"))
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil || len(doc.OptionalDependencies) != 1 {
		t.Errorf("%v: %s", err, b)
	}
	for name, file := range doc.Bin {
		if _, err := os.Stat(filepath.Join(out, "ctx", file)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManifests holds the files for other programs to the form that these read.
func TestManifests(t *testing.T) {
	for file, keys := range map[string][]string{
		"npm/ctx/package.json": {"name", "version", "bin",
			"optionalDependencies", "license"},
		"mcpb/manifest.json": {"manifest_version", "name", "version",
			"description", "author", "server"},
		"claude-plugin/.claude-plugin/plugin.json": {"name", "description", "version"},
		"claude-plugin/hooks/hooks.json":           {"hooks"},
		"../.claude-plugin/marketplace.json":       {"name", "owner", "plugins"},
	} {
		b, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Error(err)
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, key := range keys {
			if doc[key] == nil {
				t.Errorf("%s: no %s", file, key)
			}
		}
	}
}

// TestPrograms: a release has every program of cmd, and installs all of them.
func TestPrograms(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := strings.ReplaceAll(string(b), "\r\n", "\n")
	_, after, _ := strings.Cut(config, "binaries: [")
	cask, _, _ := strings.Cut(after, "]")
	programs, err := os.ReadDir(filepath.Join("..", "cmd"))
	if err != nil || len(programs) < 10 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	for _, p := range programs {
		if !strings.Contains(config, "\n    main: ./cmd/"+p.Name()+"\n") {
			t.Errorf("a release does not have %s", p.Name())
		}
		if !strings.Contains(", "+cask+",", ", "+p.Name()+",") {
			t.Errorf("the cask does not install %s", p.Name())
		}
	}
}
