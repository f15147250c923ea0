// Package lists makes lists and sets of lists, keeps some in order, and goes through them on all
// processors.
package lists

// Map returns what f makes of each element of a list. It is never nil.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// By returns a list in the order into which sort brings the keys of its elements.
func By[T any, K comparable](list []T, key func(T) K, sort func([]K)) []T {
	of := make(map[K][]T, len(list))
	keys := make([]K, 0, len(list))
	for _, v := range list {
		k := key(v)
		if of[k] == nil {
			keys = append(keys, k)
		}
		of[k] = append(of[k], v)
	}
	sort(keys)
	out := make([]T, 0, len(list))
	for _, k := range keys {
		out = append(out, of[k]...)
	}
	return out
}

// Set returns the set of the elements of a list.
func Set[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// Ascend reports whether each element of a list is before the next one.
func Ascend[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

// Unique returns the distinct elements of a list, each at its first place. It uses the list's
// memory.
func Unique[T comparable](list []T) []T {
	seen := map[T]bool{}
	out := list[:0]
	for _, one := range list {
		if !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}
