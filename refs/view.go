package refs

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// View is one consistent set of refs: the checkpoint and every whole record after it, read once.
type View struct {
	Number uint64    // of the newest operation; 0 in a new store
	Digest format.ID // of the newest operation
	Since  []Record  // the operations after the checkpoint, oldest first
	Torn   int64     // bytes of a torn tail, which Begin moves away

	base []format.Ref // of the checkpoint, sorted by name; shared, and never changed
	// Refs that the log has changed since; not Exists for a deleted one
	over  map[string]format.Value
	names []string // of over, sorted
	start cursor   // where the log continues after the checkpoint
	end   cursor
}

// Read returns the current refs. It takes no lock and writes nothing.
func (db *DB) Read() (*View, error) {
	for try := 0; ; try++ {
		v, err := db.read()
		// Between the two reads, a writer can replace the checkpoint and remove the segment that it
		// named.
		if err == nil && db.Objects != nil {
			db.Objects.SetLogged(v.Carried())
			db.tell(v)
		}
		if err == nil || try == 3 || !errors.Is(err, fs.ErrNotExist) {
			return v, missing(err)
		}
	}
}

func (db *DB) read() (*View, error) {
	c, err := db.readCheckpoint(db.checkpointPath())
	if err != nil {
		return nil, err
	}
	v := viewOf(c)
	v.end, v.Torn, err = db.scanLog(v.end, true, func(records []Record) error {
		for _, r := range records {
			v.follow(r)
		}
		return nil
	})
	v.sortNames()
	return v, err
}

func viewOf(c *format.Checkpoint) *View {
	v := &View{Number: c.Number, Digest: c.Digest, base: c.Refs, over: map[string]format.Value{}}
	v.start = cursorOf(c)
	v.end = v.start
	return v
}

// apply brings the view up to date with a record.
func (v *View) apply(r Record) {
	for _, u := range r.Op.Refs {
		if i, there := slices.BinarySearch(v.names, u.Name); !there {
			v.names = slices.Insert(v.names, i, u.Name)
		}
	}
	v.follow(r)
}

// follow is apply for many records, after which sortNames is called once.
func (v *View) follow(r Record) {
	for _, u := range r.Op.Refs {
		v.over[u.Name] = u.New
	}
	v.Since = append(v.Since, r)
	v.Number, v.Digest = r.Op.Number, r.Digest
	v.end = cursor{segment: r.Segment, offset: r.Offset + int64(r.Size), number: r.Op.Number,
		digest: r.Digest}
}

func (v *View) sortNames() { v.names = slices.Sorted(maps.Keys(v.over)) }

// Checkpoint returns the number of the last operation that the checkpoint includes.
func (v *View) Checkpoint() uint64 { return v.start.number }

// Long reports whether the log after the checkpoint is so long that a new checkpoint is due.
func (v *View) Long() bool {
	size := 0
	for _, r := range v.Since {
		size += r.Size
	}
	switch {
	case len(v.Since) >= CheckpointEvery, size >= carriedBytes:
		return true
	case len(v.Since) < fewRecords:
		size = v.Overlay()
	}
	return size >= checkpointBytes
}

// Lost reports whether a record of Since is Lost.
func (v *View) Lost() bool {
	return slices.ContainsFunc(v.Since, func(r Record) bool { return r.Lost != nil })
}

// Before returns the value that a ref has in the checkpoint.
func (v *View) Before(name string) (before format.Value) {
	if i, ok := v.find(name); ok {
		before = v.base[i].Value
	}
	return before
}

// Overlay returns the number of bytes of operations that a reader applies to the checkpoint,
// without the objects that their records carry.
func (v *View) Overlay() int {
	size := 0
	for _, r := range v.Since {
		size += r.OperationSize()
	}
	return size
}

// Carried returns the objects that the log carries after the checkpoint, oldest first.
func (v *View) Carried() []format.Raw {
	var raws []format.Raw
	for _, r := range v.Since {
		raws = append(raws, r.Op.Objects...)
	}
	return raws
}

// Get returns the value of a ref. It returns the zero Value if the ref does not exist.
func (v *View) Get(name string) format.Value {
	if value, ok := v.over[name]; ok {
		return value
	}
	return v.Before(name)
}

// find returns the place of a name among the refs of the checkpoint, or where it would be.
func (v *View) find(name string) (i int, ok bool) {
	return slices.BinarySearchFunc(v.base, name,
		func(r format.Ref, name string) int { return strings.Compare(r.Name, name) })
}

// Names returns the names of the refs that start with prefix, sorted. It takes time with their
// number only.
func (v *View) Names(prefix string) []string {
	var names []string
	from, _ := v.find(prefix)
	for _, r := range v.base[from:] {
		if !strings.HasPrefix(r.Name, prefix) {
			break
		}
		if _, changed := v.over[r.Name]; !changed {
			names = append(names, r.Name)
		}
	}
	unchanged := len(names)
	from, _ = slices.BinarySearch(v.names, prefix)
	for _, name := range v.names[from:] {
		if !strings.HasPrefix(name, prefix) {
			break
		}
		if v.over[name].Exists() {
			names = append(names, name)
		}
	}
	if 0 < unchanged && unchanged < len(names) {
		slices.Sort(names)
	}
	return names
}

// All returns all refs.
func (v *View) All() map[string]format.Value {
	all := make(map[string]format.Value, len(v.base)+len(v.over))
	for _, r := range v.base {
		all[r.Name] = r.Value
	}
	for name, value := range v.over {
		if all[name] = value; !value.Exists() {
			delete(all, name)
		}
	}
	return all
}

// Pending returns the decisions about a forest that came after the last write of its ref, oldest
// first, without the first n of them. n must not be above PendingCount.
func (v *View) Pending(forest string, n int) []format.Decision {
	total := v.PendingCount(forest)
	if total == n {
		return nil
	}
	pending := make([]format.Decision, 0, total-n) // at once: there can be very many
	for _, r := range v.sinceWritten(forest) {
		for _, f := range r.Op.Forests {
			if f.Name != forest {
				continue
			}
			skipped := min(n, len(f.Decisions))
			pending = append(pending, f.Decisions[skipped:]...)
			n -= skipped
		}
	}
	return pending
}

// PendingCount returns the number of decisions about a forest that came after the last write of its
// ref.
func (v *View) PendingCount(forest string) (n int) {
	for _, r := range v.sinceWritten(forest) {
		for _, f := range r.Op.Forests {
			if f.Name == forest {
				n += len(f.Decisions)
			}
		}
	}
	return n
}

// sinceWritten returns the records of Since after the last one that wrote the ref of a forest.
func (v *View) sinceWritten(forest string) []Record {
	start, ref := len(v.Since), "forests/"+forest
	for start > 0 &&
		!slices.ContainsFunc(v.Since[start-1].Op.Refs,
			func(u format.RefUpdate) bool { return u.Name == ref }) {
		start--
	}
	return v.Since[start:]
}

// clone returns a copy that can be changed without changing v.
func (v *View) clone() *View {
	c := *v
	c.over, c.names = maps.Clone(v.over), slices.Clone(v.names)
	c.Since = slices.Clip(v.Since)
	return &c
}
