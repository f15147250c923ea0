package state

// The limits that the tests go to.
const (
	MaxKey  = maxKey
	MaxKeys = maxKeys
)
