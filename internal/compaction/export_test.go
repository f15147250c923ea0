package compaction

// SetStretch changes how many messages graduate before their clusters are summarized.
func SetStretch(n int) (restore func()) {
	old := stretch
	stretch = n
	return func() { stretch = old }
}
