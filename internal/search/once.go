package search

import "sync"

// madeOnce is a map that is made when it is first asked for, because most commands do not search. A
// variable with a sync.OnceValue would be made at the start of every program.
type madeOnce[K comparable] struct {
	make func() map[K]string
	once sync.Once
	made map[K]string
}

func (m *madeOnce[K]) get() map[K]string {
	m.once.Do(func() { m.made = m.make() })
	return m.made
}
