package history

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
)

// LabelRefs begins the names of the refs of the other stores that this one knows: the rest is the
// label of the store. The blob has its id and its public key, and never changes.
const LabelRefs = StateRefs + "label/"

// StoreRefs begins the names of the refs of other stores as this one last saw them on a remote: the
// rest is the label of the store and the name of the remote. The blob is the head of the store
// there, docs/format/remote.md.
const StoreRefs = StateRefs + "store/"

// StoreRef returns the name of the ref of a store on a remote.
func StoreRef(label, remote string) string { return StoreRefs + label + "/" + remote }

// RemoteRefs begins the names of the refs of what this store has put on remotes: the rest is the
// name of the remote. The blob is the head of this store there.
const RemoteRefs = StateRefs + "remote/"

// KeyRef is the ref of a blob that only the store's key gives. It is there from the first pull on:
// entries that another store made do not tell which key is this one's.
const KeyRef = StateRefs + "key"

// SharedName returns the name that a session of another store has in this one.
func SharedName(session, label string) string { return session + "@" + label }

// SharedForestRef returns the name of the ref of what the store of a label shares of its main
// forest. It comes with a pull. No decision of this store is about it, so no replay makes it.
func SharedForestRef(label string) string { return ForestRef + "@" + label }

// SharedForests returns the labels of the stores whose forests this one has, in order.
func SharedForests(view *refs.View) []string {
	return lists.Map(view.Names(SharedForestRef("")), func(ref string) string {
		return strings.TrimPrefix(ref, SharedForestRef(""))
	})
}

// SharedForest returns the forest that another store shares; nil for none.
func (s *Reader) SharedForest(view *refs.View, label string) (*forest.State, error) {
	id := view.Get(SharedForestRef(label)).ID
	if id.IsZero() {
		return nil, nil
	}
	return s.ReadForest(id)
}

// CheckOwn returns ErrRefused for a session of another store.
func CheckOwn(view *refs.View, session string) error {
	if label, shared := Owner(view, session); shared {
		return fmt.Errorf("%w: session %q is %s's, and only a pull changes it", ErrRefused,
			Clip(session), label)
	}
	return nil
}

// Owner returns the label of the store that a session belongs to; shared is false for a session of
// this store. Only a pull changes a session of another store.
func Owner(view *refs.View, session string) (label string, shared bool) {
	at := strings.LastIndexByte(session, '@')
	if at < 0 {
		return "", false
	}
	label = session[at+1:]
	return label, label != "" && view.Get(LabelRefs+label).Exists()
}
