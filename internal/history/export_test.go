package history

// HeadStamp is the stamp under which the cache has the state of a branch.
var HeadStamp = headStamp

// SetBacklogHeld changes how many messages of a backlog are in memory.
func SetBacklogHeld(n int) (restore func()) {
	old := backlogHeld
	backlogHeld = n
	return func() { backlogHeld = old }
}
