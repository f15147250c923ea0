package index

import "errors"

// ErrForgot says that a file was not kept, since something was forgotten that it may hold.
var ErrForgot = errors.New("something was forgotten meanwhile")

// Guard has the cache keep nothing that was made of words which were forgotten since: mark returns another number then. A reader holds no lock, and may have
// read before and write after; its file is removed again.
func (c *Cache) Guard(mark func() (int, error)) { c.mark = mark }

// Begin notes what was forgotten so far, the first time it is called; Load calls it. Whoever reads words that are to be cached calls it before.
func (c *Cache) Begin() {
	if c.mark == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun {
		c.seen, c.failed = c.mark()
		c.begun = true
	}
}

// Renew has Begin count from now on: for whoever has forgotten something and keeps nothing of it.
func (c *Cache) Renew() {
	c.mu.Lock()
	c.begun = false
	c.mu.Unlock()
}

// keep removes a file that was just written if it may hold what was forgotten since Begin.
func (c *Cache) keep(path string) error {
	if c.mark == nil {
		return nil
	}
	c.Begin()
	c.mu.Lock()
	seen, err := c.seen, c.failed
	c.mu.Unlock()
	now, markErr := c.mark()
	if err == nil && markErr == nil && now == seen && now >= 0 { // below zero: it is being forgotten
		return nil
	}
	return errors.Join(ErrForgot, c.fs.RemoveHint(path))
}
