// Package lists makes lists of lists.
package lists

// Map returns what f makes of each element of a list. It is never nil.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
