package report

import "github.com/gemini-ctx/ctx/internal/eval/stats"

// Clustering is how well one rule put the messages of a set into clusters. Shares are means over
// the conversations, each counting once; the pooled ones are over all messages of the set. Messages
// without a topic are clustered like the others, and not counted.
type Clustering struct {
	Rule       string       `json:"rule"`
	P          stats.Milli  `json:"bcubed_p"`
	R          stats.Milli  `json:"bcubed_r"`
	F          stats.Milli  `json:"bcubed_f"`
	Low        stats.Milli  `json:"bcubed_f_low"` // of the 95 % interval of F, by drawing conversations anew
	High       stats.Milli  `json:"bcubed_f_high"`
	PooledP    stats.Milli  `json:"pooled_p"`
	PooledR    stats.Milli  `json:"pooled_r"`
	PooledF    stats.Milli  `json:"pooled_f"`
	OneToOne   stats.Milli  `json:"one_to_one"`
	VI         stats.Milli  `json:"scaled_vi"`
	ARI        stats.Milli  `json:"ari"`
	ExactP     stats.Milli  `json:"exact_p"`
	ExactR     stats.Milli  `json:"exact_r"`
	ExactF     stats.Milli  `json:"exact_f"`
	BoundaryP  stats.Milli  `json:"boundary_p"`
	BoundaryR  stats.Milli  `json:"boundary_r"`
	BoundaryF  stats.Milli  `json:"boundary_f"`
	Pk         *stats.Milli `json:"pk"`         // over the conversations whose topics are contiguous; null without any
	WindowDiff *stats.Milli `json:"windowdiff"` // likewise
	Clusters   int          `json:"clusters"`
	Gold       int          `json:"gold"`
	Ratio      stats.Milli  `json:"ratio"` // Clusters to Gold
}

// Retention is what one way to shorten conversations keeps of what is asked about, at one size: the
// tokens of the conversation divided by Ratio, counted on all that is printed.
type Retention struct {
	Way    string `json:"way"`
	Ratio  int    `json:"ratio"`
	Budget int    `json:"budget"` // tokens, over all conversations with facts
	Tokens int    `json:"tokens"` // that were printed

	// Facts whose answer is a string that the evidence holds word for word: kept where it is printed,
	// whatever the case and the white space.
	N     int         `json:"n"`
	Kept  int         `json:"kept"`
	Share stats.Milli `json:"share"`
	Low   stats.Milli `json:"low"` // of the 95 % interval
	High  stats.Milli `json:"high"`
	// Against the first way at the same ratio: facts that only the first one keeps, that only this one
	// keeps, and the exact p of McNemar.
	Lost  int         `json:"lost"`
	Found int         `json:"found"`
	P     stats.Milli `json:"p"`

	Stale  int `json:"stale"`  // facts of which only what was said before it is printed
	Leaked int `json:"leaked"` // secrets that are printed

	// Facts whose answer was written by somebody who had read all of the evidence: the mean share of
	// evidence messages with a sentence, or a long piece of one, that is printed.
	Prose    int          `json:"prose"`
	Evidence *stats.Milli `json:"evidence"` // null without such facts
}

// Reach says how often a question leads to what answers it: of the questions with evidence, those
// whose first hit, or one of the first five, is evidence, and the mean of one over the rank of the
// first hit that is (0 beyond the twentieth).
type Reach struct {
	By   string      `json:"by"`
	N    int         `json:"n"`
	Hit1 stats.Milli `json:"hit_1"`
	Hit5 stats.Milli `json:"hit_5"`
	MRR  stats.Milli `json:"mrr"`
	Low1 stats.Milli `json:"hit_1_low"` // of the 95 % interval
	Low5 stats.Milli `json:"hit_5_low"`
}

// Cases says what becomes of facts that a compaction could do harm to, of one kind: where two close
// topics say different things, where something was said before and holds no more, and where there
// was a secret.
type Cases struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
	// Found: a search for the question has the answer among its first five hits; First: and no hit
	// before it has what the other topic says, or what was said before, alone.
	Found int `json:"found"`
	First int `json:"first"`
	// Asked: a rendering for the question at a quarter of the size has the answer, and nothing that
	// holds no more stands without what replaced it.
	Asked int `json:"asked"`
	// Stale: renderings without the question, at a quarter and at a tenth, in which something stands
	// that holds no more.
	Stale4  int `json:"stale_4x"`
	Stale10 int `json:"stale_10x"`
	// Leaked: secrets that come back in any of these. There may be none.
	Leaked int `json:"leaked"`
}

// Recovery says whether what is rendered leads back to the exact words. Both shares have to be 1.
type Recovery struct {
	IDs       int         `json:"ids"`       // that renderings printed: of clusters, tombstones and messages
	Exact     int         `json:"exact"`     // those that expand to nothing but what was appended, byte for byte
	Messages  int         `json:"messages"`  // of the conversations
	Reachable int         `json:"reachable"` // those that an id leads to which is printed, or which `ctx forest` lists where the rendering says so
	Share     stats.Milli `json:"share"`     // of both, the smaller
}

// Artifacts says what is left of one kind of thing in the traffic between a model and its tools:
// each counts once a conversation.
type Artifacts struct {
	Kind        string      `json:"kind"`
	N           int         `json:"n"`
	At4         int         `json:"kept_4x"`
	At10        int         `json:"kept_10x"`
	Share4      stats.Milli `json:"share_4x"`
	Share10     stats.Milli `json:"share_10x"`
	Recoverable int         `json:"recoverable"` // a message with it is found by expanding what a rendering without a budget prints
	Searched    int         `json:"searched"`    // those that were looked for: the first thousand of a conversation
	Found       int         `json:"found"`       // of these, a search has one among its first five hits
}

// UserWords says which of the user's own words stand in a rendering, word for word.
type UserWords struct {
	Ratio int `json:"ratio"`
	// The last requests of every conversation.
	Requests     int `json:"requests"`
	RequestsFit  int `json:"requests_fit"`  // those that the budget holds, the newest first
	RequestsKept int `json:"requests_kept"` // of those that fit
	// Every correction.
	Corrections     int `json:"corrections"`
	CorrectionsFit  int `json:"corrections_fit"`
	CorrectionsKept int `json:"corrections_kept"`
}

// Fidelity says whether what stands for a cluster says what is in it.
type Fidelity struct {
	Sentences int         `json:"sentences"` // of the live clusters' summaries
	Verbatim  int         `json:"verbatim"`  // those that their message has word for word
	Lines     int         `json:"lines"`     // of tombstones
	Labels    int         `json:"labels"`    // in these lines
	InCluster int         `json:"in_cluster"`
	Share     stats.Milli `json:"label_share"` // of InCluster
	// A line's labels as a query over all clusters of its store, by BM25: how often its own cluster is
	// the first, and the mean of one over its rank.
	First stats.Milli `json:"hit_1"`
	MRR   stats.Milli `json:"mrr"`
}

// Stability says how much of a rendering a provider's prompt cache can still use at the next turn,
// over replays of the conversations, of long ones the first mostReplayed messages.
type Stability struct {
	Budget string      `json:"budget"` // "none" or "4x"
	Turns  int         `json:"turns"`
	Share  stats.Milli `json:"share"` // of the bytes of a turn's rendering, those that the next one begins with
	// Kept is the share of turns after which everything that was rendered before is still there, with
	// more behind it.
	Kept   stats.Milli `json:"kept"`
	Tokens int         `json:"tokens"` // of all renderings: what a model is given to read over the conversation
	Whole  int         `json:"whole"`  // what it would be without ctx: everything that was said so far, word for word, at every turn
}

// Steadiness is Stability from message to message: what a branch that leaves now and then keeps,
// beside one that lets a message go whenever one comes.
type Steadiness struct {
	Rule     string      `json:"rule"` // "leaves" by the window's settings, or "one a message": evict_at as small as graduate_at
	Messages int         `json:"messages"`
	Share    stats.Milli `json:"share"`
	Kept     stats.Milli `json:"kept"`
}

// Continuation says how well an agent could go on from a context, of one way to make it: at every
// place where the session was continued, how much of what the next records say, call and touch is
// in the context. It is measured at the client's own compactions, with the tokens of the client's
// summary; sessions without one are cut.
type Continuation struct {
	At     string `json:"at"` // atCompaction or atCut
	Way    string `json:"way"`
	N      int    `json:"n"`      // contexts
	Budget int    `json:"budget"` // tokens, over all contexts
	Tokens int    `json:"tokens"` // that the contexts have

	// Means over the contexts; null where nothing of the kind comes next. Said and called are shares
	// of the weight of terms, files of the names of files, lines of the lines that have any of them.
	Said   *stats.Milli `json:"said"`
	Called *stats.Milli `json:"called"`
	Files  *stats.Milli `json:"files"`
	Lines  *stats.Milli `json:"useful_lines"`
	// Junk is the share of all lines together that tell nothing.
	Junk stats.Milli `json:"junk_lines"`
}

// Known says how often a prompt is found by its exact words, among all messages of a set: as the
// first hit, and among the first ten.
type Known struct {
	By    string `json:"by"`
	N     int    `json:"n"` // prompts
	First int    `json:"first"`
	Ten   int    `json:"in_ten"`
	// Shares of N.
	FirstShare stats.Milli `json:"first_share"`
	TenShare   stats.Milli `json:"in_ten_share"`
}

// Add takes the place of the prompt among the hits; below 0 it is none of them.
func (k *Known) Add(rank int) {
	k.N++
	k.First += stats.One(rank == 0)
	k.Ten += stats.One(rank >= 0)
	k.FirstShare, k.TenShare = stats.MilliOf(stats.Share(k.First, k.N)), stats.MilliOf(stats.Share(k.Ten, k.N))
}

// SessionSearch says how often a search finds the session that something was said in: as the first
// session, and among the first three.
type SessionSearch struct {
	Of       string `json:"of"` // ofPrompts or ofQuestions
	By       string `json:"by"`
	Sessions int    `json:"sessions"`
	N        int    `json:"n"`
	First    int    `json:"first"`
	Three    int    `json:"in_three"`
	// Shares of N.
	FirstShare stats.Milli `json:"first_share"`
	ThreeShare stats.Milli `json:"in_three_share"`
}

// Add takes the place of the right session; below 0 it was not found.
func (s *SessionSearch) Add(rank int) {
	s.N++
	s.First += stats.One(rank == 0)
	s.Three += stats.One(rank >= 0 && rank < 3)
	s.FirstShare, s.ThreeShare = stats.MilliOf(stats.Share(s.First, s.N)), stats.MilliOf(stats.Share(s.Three, s.N))
}

// Timing is how long the verbs took in this process, a message at a time. It is another one in
// every run, and so is never part of a report unless it is asked for.
type Timing struct {
	Verb string  `json:"verb"`
	N    int     `json:"n"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
}
