package remotetest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// Memory is a remote in memory, for tests that are not about remotes. The zero value is empty. All
// who use one share its files.
type Memory struct {
	mu    sync.Mutex
	files map[string][]byte
}

// Clone returns another remote with the same files.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{files: maps.Clone(m.files)}
}

// List implements remote.Remote.
func (m *Memory) List(_ context.Context, prefix string) (list []remote.File, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if strings.HasPrefix(name, prefix) {
			list = append(list, remote.File{Name: name, Size: int64(len(m.files[name]))})
		}
	}
	return list, nil
}

// Get implements remote.Remote.
func (m *Memory) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[name]
	switch {
	case remote.CheckName(name) != nil:
		return nil, remote.CheckName(name)
	case !ok:
		return nil, fmt.Errorf("%w: %s", remote.ErrNotFound, name)
	}
	return bytes.Clone(b), nil
}

// PutNew implements remote.Remote.
func (m *Memory) PutNew(_ context.Context, name string, data []byte) error {
	return m.put(name, data, func(old []byte, there bool) error {
		if there && !bytes.Equal(old, data) {
			return fmt.Errorf("%w: %s", remote.ErrExists, name)
		}
		return nil
	})
}

// Swap implements remote.Remote.
func (m *Memory) Swap(ctx context.Context, name string, old, new []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.put(name, new, func(now []byte, there bool) error {
		if there != (old != nil) || !bytes.Equal(now, old) {
			return fmt.Errorf("%w: %s", remote.ErrStale, name)
		}
		return nil
	})
}

func (m *Memory) put(name string, data []byte, may func(old []byte, there bool) error) error {
	if err := remote.CheckName(name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, there := m.files[name]
	if err := may(old, there); err != nil {
		return err
	}
	if m.files == nil {
		m.files = map[string][]byte{}
	}
	m.files[name] = append([]byte{}, data...)
	return nil
}

// Delete implements remote.Remote.
func (m *Memory) Delete(_ context.Context, names []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if err := remote.CheckName(name); err != nil {
			return err
		}
		delete(m.files, name)
	}
	return nil
}

// Close implements remote.Remote.
func (m *Memory) Close() error { return nil }
