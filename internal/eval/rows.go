package eval

import "github.com/gemini-ctx/ctx/internal/eval/stats"

// Clustering is how well one rule put the messages of a set into clusters. Each share is the mean
// over the conversations. Messages without a topic are clustered too, but not counted.
type Clustering struct {
	Rule string      `json:"rule"`
	P    stats.Milli `json:"bcubed_p"`
	R    stats.Milli `json:"bcubed_r"`
	F    stats.Milli `json:"bcubed_f"`
	// the 95 % interval of F, by resampling the conversations
	Low      stats.Milli `json:"bcubed_f_low"`
	High     stats.Milli `json:"bcubed_f_high"`
	Clusters int         `json:"clusters"`
	Gold     int         `json:"gold"`
}

// Retention is what one way to shorten conversations keeps of their facts, at one size: the tokens
// of the conversation divided by Ratio. All that is printed counts.
type Retention struct {
	Way    string `json:"way"`
	Ratio  int    `json:"ratio"`
	Budget int    `json:"budget"` // tokens, over all conversations with facts
	Tokens int    `json:"tokens"` // that were printed

	// Facts whose answer is in the evidence word for word. They are kept if the answer is printed.
	// Case and white space are ignored.
	N     int         `json:"n"`
	Kept  int         `json:"kept"`
	Share stats.Milli `json:"share"`
	Low   stats.Milli `json:"low"` // of the 95 % interval
	High  stats.Milli `json:"high"`
	// In comparison with the first way at the same ratio: facts that only the first one keeps, facts
	// that only this one keeps, and the exact p of McNemar's test.
	Lost  int         `json:"lost"`
	Found int         `json:"found"`
	P     stats.Milli `json:"p"`

	Stale  int `json:"stale"`  // facts of which only what they replaced is printed
	Leaked int `json:"leaked"` // secrets that are printed

	// Facts whose answer is in other words than the evidence. Evidence is the mean share of their
	// evidence messages of which a piece is printed.
	Prose    int          `json:"prose"`
	Evidence *stats.Milli `json:"evidence"` // null without such facts
}

// Reach says how often a search for a question finds its evidence: as the first hit, and among the
// first five. MRR is the mean of 1/rank of the first hit that is evidence, and 0 beyond the
// twentieth.
type Reach struct {
	By   string      `json:"by"`
	N    int         `json:"n"`
	Hit1 stats.Milli `json:"hit_1"`
	Hit5 stats.Milli `json:"hit_5"`
	MRR  stats.Milli `json:"mrr"`
	Low1 stats.Milli `json:"hit_1_low"` // of the 95 % interval
	Low5 stats.Milli `json:"hit_5_low"`
}

// Cases says what becomes of one kind of facts that a compaction could harm: two similar topics
// with contradictory facts, a fact that a later one replaced, a secret.
type Cases struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
	// Found counts the questions whose answer is among the first five hits of a search. First counts
	// those of them with no earlier hit that has only what the other topic says or what was replaced.
	Found int `json:"found"`
	First int `json:"first"`
	// Asked counts the questions for which a rendering with the question, at a quarter of the size,
	// has the answer, and has nothing that was replaced without its replacement.
	Asked int `json:"asked"`
	// Stale4 and Stale10 count the renderings without the question, at a quarter and a tenth of the
	// size, that give something as the present state that was replaced.
	Stale4  int `json:"stale_4x"`
	Stale10 int `json:"stale_10x"`
	// Leaked counts the secrets that any of these show. It must be 0.
	Leaked int `json:"leaked"`
}

// Recovery says whether renderings lead back to the exact messages. Share must be 1.
type Recovery struct {
	IDs int `json:"ids"` // in renderings: of clusters, tombstones and messages
	// those that expand to messages as they were appended, byte for byte
	Exact    int `json:"exact"`
	Messages int `json:"messages"` // of the conversations
	// those that a printed id leads to, or an id of `ctx forest` where the rendering refers to it
	Reachable int         `json:"reachable"`
	Share     stats.Milli `json:"share"` // the smaller of Exact/IDs and Reachable/Messages
}
