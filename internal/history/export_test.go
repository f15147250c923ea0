package history

// SetBacklogHeld changes how many messages of a backlog are in memory.
func SetBacklogHeld(n int) (restore func()) {
	old := backlogHeld
	backlogHeld = n
	return func() { backlogHeld = old }
}
