package summarize

// rivals says, by index of a sentence, which sentences are not to be taken beside it: near-duplicates of it, and what it
// supersedes.
type rivals struct {
	by [][]int32
}

func findRivals(list []valued) rivals { return rivals{} }

func (r rivals) of(i int) []int32 {
	if r.by == nil {
		return nil
	}
	return r.by[i]
}
