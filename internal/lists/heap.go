package lists

import "container/heap"

// Heap is a list in which the element stands first that is before all others.
type Heap[T any] struct {
	List   []T
	Before func(a, b T) bool
}

// Init brings List in order.
func (h *Heap[T]) Init() { heap.Init((*heaped[T])(h)) }

// Add adds an element.
func (h *Heap[T]) Add(v T) { heap.Push((*heaped[T])(h), v) }

// Take takes the first element out.
func (h *Heap[T]) Take() T { return heap.Pop((*heaped[T])(h)).(T) }

// Settle finds the place of the first element, which has changed.
func (h *Heap[T]) Settle() { heap.Fix((*heaped[T])(h), 0) }

// heaped has the methods that container/heap asks for.
type heaped[T any] Heap[T]

func (h *heaped[T]) Len() int           { return len(h.List) }
func (h *heaped[T]) Less(i, j int) bool { return h.Before(h.List[i], h.List[j]) }
func (h *heaped[T]) Swap(i, j int)      { h.List[i], h.List[j] = h.List[j], h.List[i] }
func (h *heaped[T]) Push(v any)         { h.List = append(h.List, v.(T)) }

func (h *heaped[T]) Pop() any {
	last := len(h.List) - 1
	v := h.List[last]
	h.List = h.List[:last]
	return v
}
