package conversation

// The limits that the tests go to.
const (
	MaxDepth = maxDepth
)
