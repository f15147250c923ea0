package main

import (
	"fmt"
	"path/filepath"
)

// many measures a store of generated sessions of ten messages each.
func (b *bench) many() error {
	if b.talks == 0 {
		return nil
	}
	file := filepath.Join(b.dir, "talks")
	if err := generate(10*b.talks, inSessions(file)); err != nil {
		return err
	}
	dir, err := b.project(true)
	if err != nil {
		return err
	}
	of := fmt.Sprintf(" of %d sessions", b.talks)
	for _, c := range []struct {
		what string
		args []string
	}{
		{"import jsonl", []string{"import", "jsonl", file}},
		{"the same import again", []string{"import", "jsonl", file}},
		{"compact --all", []string{"compact", "--all"}},
		{"gc", []string{"gc"}},
	} {
		if _, err := b.once(c.what+of, dir, c.args...); err != nil {
			return err
		}
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
	return nil
}
