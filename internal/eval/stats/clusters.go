// Package stats compares clusterings and computes intervals. Its results are the same on every
// platform.
//
// A clustering is a slice of labels, one for each message. Messages with the same label are in one
// cluster; the value and the order of labels mean nothing.
package stats

// PRF is precision, recall and their harmonic mean, from 0 to 1.
type PRF struct{ P, R, F float64 }

// Plus returns the sums of the values of v and w.
func (v PRF) Plus(w PRF) PRF { return PRF{v.P + w.P, v.R + w.R, v.F + w.F} }

func prf(p, r float64) PRF {
	f := 0.0
	if p+r > 0 {
		f = float64(2*p*r) / (p + r)
	}
	return PRF{p, r, f}
}

// BCubed is the B-cubed measure (Bagga and Baldwin 1998), the mean over all messages. The precision
// of a message is the share of its predicted cluster that is in its gold cluster. Its recall is the
// share of its gold cluster that is in its predicted cluster.
func BCubed(gold, pred []int) PRF {
	golds, preds, both := map[int]int{}, map[int]int{}, map[[2]int]int{}
	for i := range gold {
		golds[gold[i]]++
		preds[pred[i]]++
		both[[2]int{gold[i], pred[i]}]++
	}
	p, r := 0.0, 0.0
	for i := range gold {
		n := both[[2]int{gold[i], pred[i]}]
		p += Share(n, preds[pred[i]])
		r += Share(n, golds[gold[i]])
	}
	n := float64(max(len(gold), 1))
	return prf(p/n, r/n)
}
