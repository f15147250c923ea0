package session

// flatCluster is the one cluster of the flat forest.
const flatCluster = 0

// forestNames are the forests of a store, in the order in which operations name them.
var forestNames = []string{FlatForest, MainForest}

// hasFlat reports whether the flat forest was begun.
func (t *tx) hasFlat() bool { return t.view.Get(forestRefOf(FlatForest)).Exists() }
