package sharing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// content is what one store has on a remote.
type content struct {
	log, packs []share.File // those that nothing needs as well
}

// list returns the files of a store.
func (x *Sharer) list(ctx context.Context, folder string) (content, error) {
	var c content
	root := share.Stores + folder + "/"
	files, err := x.r.List(ctx, root)
	if err != nil {
		return c, err
	}
	for _, f := range files {
		kind, file, err := share.ParseFileName(strings.TrimPrefix(f.Name, root))
		if err != nil {
			continue // nothing that a store writes
		}
		if kind == share.LogFolder {
			c.log = append(c.log, file)
		} else {
			c.packs = append(c.packs, file)
		}
	}
	return c, nil
}

// needed returns the files that have all pushes after known: of those with the same pushes the one
// that has most, the oldest first.
func needed(files []share.File, known uint64) []share.File {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b share.File) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(b.Last, a.Last),
			a.Digest.Compare(b.Digest))
	})
	var out []share.File
	for _, f := range files {
		if f.Last <= known {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Covers(f) && !f.Covers(out[n-1]) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// step is a push with its bytes and digest.
type step struct {
	*share.Push
	bytes  []byte
	digest format.ID
}

// maxLog is how many bytes of segments one pull reads of a store, so that no store takes the memory
// of those who read it.
const maxLog = 1 << 30

// pushes returns the pushes of a store after known, oldest first, up to the newest one that the
// head names. The chain is followed from the head back to the known push, so what a push that was
// stopped has left there does no harm.
func (x *Sharer) pushes(
	ctx context.Context, h *share.Head, c content, known uint64, after format.ID,
) ([]step, error) {
	met := map[format.ID]step{}
	size := 0
	for _, f := range needed(c.log, known) {
		if f.First > h.Number {
			continue // of a push that is under way
		}
		b, err := x.r.Get(ctx, share.Stores+folder(h.Store)+"/"+share.LogFolder+f.Name())
		if errors.Is(err, remote.ErrNotFound) {
			continue // it was replaced meanwhile, or the chain shows that it is missing
		}
		if err != nil {
			return nil, err
		}
		if format.Sum(b) != f.Digest {
			if segmentIsCut(b) {
				return nil, incomplete("store %s: the log's segment %s", h.Store, f.Name())
			}
			return nil,
				tampered("store %s: the log's segment %s is not what its name says",
					h.Store, f.Name())
		}
		list, err := x.unpackSegment(b)
		if err != nil {
			return nil, tampered("store %s: %s: %v", h.Store, f.Name(), err)
		}
		for i, b := range list {
			if size += len(b); size > maxLog {
				return nil, fmt.Errorf("store %s: its log is too long for one pull", h.Store)
			}
			p, digest, err := share.DecodePush(b)
			if err != nil {
				return nil, unread(err, "store %s: %s", h.Store, f.Name())
			}
			if p.Number != f.First+uint64(i) || p.Store != h.Store {
				return nil, tampered("store %s: %s has another push", h.Store, f.Name())
			}
			met[digest] = step{p, b, digest}
		}
	}
	return chain(h, met, known, after)
}

// chain returns the pushes from the one after known up to the newest.
func chain(h *share.Head, met map[format.ID]step, known uint64, after format.ID) ([]step, error) {
	if h.Number < known || h.Number-known > uint64(len(met)) {
		return nil,
			incomplete("store %s: pushes between %d and %d are missing", h.Store, known, h.Number)
	}
	steps := make([]step, h.Number-known)
	digest := h.Digest
	for n := h.Number; n > known; n-- {
		s, ok := met[digest]
		if !ok || s.Number != n {
			return nil, incomplete("store %s: push %d is missing", h.Store, n)
		}
		steps[n-known-1], digest = s, s.Before
	}
	if digest != after {
		return nil, tampered("store %s: push %d does not follow from push %d: the log was forked",
			h.Store, known+1, known)
	}
	return steps, nil
}

const segmentMagic = "ctx segment 1 "

// packSegment returns the file of a segment with these pushes.
func (x *Sharer) packSegment(pushes [][]byte) ([]byte, error) {
	raw := share.EncodeSegment(pushes)
	frame, err := x.s.Objects.CompressLog(raw)
	return append(fmt.Appendf(nil, "%s%d\n", segmentMagic, len(raw)), frame...), err
}

// unpackSegment returns the pushes of a segment.
func (x *Sharer) unpackSegment(b []byte) ([][]byte, error) {
	first, frame, _ := bytes.Cut(b, []byte{'\n'})
	digits, ok := strings.CutPrefix(string(first), segmentMagic)
	size, err := strconv.Atoi(digits)
	if !ok || err != nil || size < 0 || size > share.MaxSegment || strconv.Itoa(size) != digits {
		return nil, errors.New("not a segment")
	}
	raw, err := x.s.Objects.DecompressLog(size, frame)
	if err != nil {
		return nil, err
	}
	return share.DecodeSegment(raw)
}
