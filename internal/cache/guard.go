package cache

import "errors"

// ErrForgot says that a file was removed again because it may contain forgotten text.
var ErrForgot = errors.New("something was forgotten meanwhile")

// Guard keeps forgotten text out of the cache. mark returns a number that changes when something is
// forgotten. A reader holds no lock and may read text before it is forgotten and store it
// afterwards; the cache then removes the file again.
func (c *Cache) Guard(mark func() (int, error)) { c.mark = mark }

// Begin notes the result of mark at the first call. Load calls it. A caller that reads text to be
// cached must call Begin before it reads.
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

// Renew makes the next Begin call mark again. It is for a caller that has just forgotten something
// and keeps no forgotten text.
func (c *Cache) Renew() {
	c.mu.Lock()
	c.begun = false
	c.mu.Unlock()
}

// Leave makes the cache keep nothing that is written from now on: it may be made of a part of what
// the store has.
func (c *Cache) Leave() { c.left.Store(true) }

// keep removes a file that was just written if something was forgotten since Begin, or after Leave.
func (c *Cache) keep(path string) error {
	if c.left.Load() {
		return c.fs.RemoveNoSync(path)
	}
	if c.mark == nil {
		return nil
	}
	c.Begin()
	c.mu.Lock()
	seen, err := c.seen, c.failed
	c.mu.Unlock()
	now, markErr := c.mark()
	// A negative number: something is being forgotten
	if err == nil && markErr == nil && now == seen && now >= 0 {
		return nil
	}
	return errors.Join(ErrForgot, c.fs.RemoveNoSync(path))
}
