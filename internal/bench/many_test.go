package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// many measures a store of generated sessions of ten messages each.
func (b *bench) many() error {
	if b.talks == 0 {
		return nil
	}
	files, err := generateSessions(filepath.Join(b.dir, "talks"), b.talks)
	if err != nil {
		return err
	}
	load := append([]string{"import", "jsonl"}, files...)
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	of := fmt.Sprintf(" of %d sessions", b.talks)
	for _, c := range []struct {
		what string
		args []string
	}{
		{"import jsonl", load},
		{"the same import again", load},
		{"compact --all", []string{"compact", "--all"}},
		{"gc", []string{"gc"}},
	} {
		if _, err := b.once(c.what+of, dir, c.args...); err != nil {
			return err
		}
	}
	if err := b.hasSessions(dir, b.talks); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"append", "-s", "s7", "--role", "user", "-m", "one more"},
		{"session", "list", "-n", "20"},
		{"log", "-s", "s7", "-n", "20"},
		{"status"},
		{"search", "zanzibar7"},
		{"render", "-s", "s7", "--budget", "4000"},
		{"brief", "-s", "s7"},
	} {
		if err := b.daily(dir, nil, of, [][]string{args}, ""); err != nil {
			return err
		}
	}
	folder, err := b.project(false)
	if err != nil {
		return err
	}
	if err := b.share(dir, "dir:"+folder); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		args []string
	}{
		{"status", []string{"status"}},
		{"search", []string{"search", "zanzibar7"}},
		{"the first push to a folder", []string{"push", "team"}},
	} {
		if err := dropCache(dir); err != nil {
			return err
		}
		if _, err := b.once(c.what+" without the cache,"+of, dir, c.args...); err != nil {
			return err
		}
	}
	return nil
}

// hasSessions checks that a store has n sessions.
func (b *bench) hasSessions(dir string, n int) error {
	t, err := b.run(dir, nil, b.ctx, "status", "--json")
	if err != nil {
		return err
	}
	var status struct{ Sessions int }
	if err := json.Unmarshal(t.out, &status); err != nil {
		return err
	}
	if status.Sessions != n {
		return fmt.Errorf("the store has %d sessions, not %d", status.Sessions, n)
	}
	return nil
}
