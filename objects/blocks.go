package objects

import (
	"errors"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// Packed is an object as a pack has it. Body is nil where Stored is false.
type Packed = packs.Object

// EachBlock reads a pack block by block. It calls work with the objects of each block that can be
// read, and take with what work returns, in the order in which the blocks were written. It calls
// work for several blocks at a time, each in a goroutine of its own; the objects are shared and not
// to be changed. It ends with the first error of take. Other errors:
// as PackContents, once all was taken that can be read.
func EachBlock[T any](
	s *Store, pack format.ID, work func([]Packed) T, take func(T) error,
) (err error) {
	p := s.newPack(pack)
	defer func() { err = errors.Join(err, p.close()) }()
	r, err := p.open()
	if err != nil {
		return err
	}
	return eachBlock(s, r, func(_ packs.Span, list []packs.Object) T { return work(list) }, take)
}

// largeBlock is how many bytes a block has that is unpacked while no other block is in memory. One
// of forests of many clusters takes up to forestBytes, and as much again while it grows.
const largeBlock = blockBytes

// eachBlock is EachBlock for a pack that is open.
func eachBlock[T any](
	s *Store, r *packReader, work func(packs.Span, []packs.Object) T, take func(T) error,
) error {
	layout, err := r.layout()
	if err != nil {
		return err
	}
	type done struct {
		result T
		err    error
	}
	var unread error
	waiting := newTurns(func(d done) error {
		if d.err != nil {
			if unread == nil {
				unread = d.err
			}
			return nil
		}
		return take(d.result)
	})
	for _, span := range layout.Spans {
		one := func() (d done) {
			list, err := r.once(s, span)
			if err != nil {
				return done{err: err}
			}
			return done{result: work(span, list)}
		}
		begin := waiting.begin
		if span.Raw > largeBlock {
			begin = waiting.alone
		}
		if begin(one) != nil {
			break
		}
	}
	if err := waiting.end(); err != nil {
		return err
	}
	return unread
}
