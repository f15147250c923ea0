package history

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// headForm is the first byte of a head in the cache. A head with any other byte is made anew.
const headForm = 1

// Append appends the encoded head to b. Session, Branch and Value are not part of it.
func (h *Head) Append(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(append(b, headForm), h.Seq)
	at, err := h.Time.AppendBinary(make([]byte, 0, 16))
	if err != nil {
		return nil, err
	}
	b = varint.AppendString(b, string(at))
	flags := byte(0)
	for i, set := range h.flags() {
		if *set {
			flags |= 1 << i
		}
	}
	b = binary.AppendUvarint(append(b, flags), h.Cluster)
	b = binary.AppendUvarint(varint.AppendString(b, h.Fork), h.Alone)
	b = binary.AppendUvarint(b, h.Sought)
	b = appendStrings(varint.AppendString(b, h.Invocation), h.Forks)
	b = binary.AppendUvarint(b, uint64(len(h.Had)))
	for _, child := range slices.Sorted(maps.Keys(h.Had)) {
		b = varint.AppendString(varint.AppendString(b, child), h.Had[child])
	}
	b = binary.AppendVarint(b, int64(h.Looks))
	b = binary.AppendUvarint(b, uint64(len(h.Items)))
	for i := range h.Items {
		it := &h.Items[i]
		b = varint.AppendString(append(b, it.ID[:]...), it.Role)
		b = varint.AppendString(appendStrings(appendStrings(b, it.Calls), it.Results), it.Version)
		b = append(binary.AppendUvarint(b, uint64(len(it.Features))), it.Features...)
	}
	return b, nil
}

// flags lists the fields that are stored as one bit.
func (h *Head) flags() [4]*bool { return [...]*bool{&h.Model, &h.Joined, &h.ForksKnown, &h.Lags} }

// decode reads what Append wrote. It reports whether b is that; if not, the head is of no use. The
// features of the items share the memory of b.
func (h *Head) decode(b []byte) bool {
	r := varint.Reader{Rest: b}
	if r.Byte() != headForm {
		return false
	}
	h.Seq = r.Uvarint()
	if h.Time.UnmarshalBinary(r.Take(r.Uvarint())) != nil {
		return false
	}
	flags := r.Byte()
	for i, set := range h.flags() {
		*set = flags&(1<<i) != 0
	}
	h.Cluster, h.Fork, h.Alone = r.Uvarint(), r.String(), r.Uvarint()
	h.Sought, h.Invocation = r.Uvarint(), r.String()
	h.Forks = readStrings(&r)
	if n := r.Count(2); n > 0 {
		h.Had = make(map[string]string, n)
		for range n {
			child := r.String()
			h.Had[child] = r.String()
		}
	}
	h.Looks = int(r.Varint())
	if n := r.Count(len(format.ID{}) + 5); n > 0 {
		h.Items = make([]Item, n, n+1) // an append adds one
	}
	for i := range h.Items {
		it := &h.Items[i]
		copy(it.ID[:], r.Take(uint64(len(it.ID))))
		it.Role, it.Calls, it.Results, it.Version = r.String(), readStrings(&r),
			readStrings(&r), r.String()
		if n := r.Uvarint(); n > 0 && h.Looks == LooksVersion {
			it.Features = slices.Clip(r.Take(n))
		} else {
			r.Take(n) // looked at again where it is needed
		}
	}
	return r.Err == nil && len(r.Rest) == 0
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = varint.AppendString(b, s)
	}
	return b
}

func readStrings(r *varint.Reader) []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.String()
	}
	return list
}
