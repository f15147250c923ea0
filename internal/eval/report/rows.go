package report

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

// Artifacts says what renderings keep of the traffic between a model and its tools, for one kind of
// artifacts. Each artifact counts once in a conversation.
type Artifacts struct {
	Kind    string      `json:"kind"`
	N       int         `json:"n"`
	At4     int         `json:"kept_4x"`
	At10    int         `json:"kept_10x"`
	Share4  stats.Milli `json:"share_4x"`
	Share10 stats.Milli `json:"share_10x"`
	// those in a message that the ids of a rendering without a budget lead to
	Recoverable int `json:"recoverable"`
	// those that were searched for: the first thousand of a conversation
	Searched int `json:"searched"`
	// those of Searched that are among the first five hits
	Found int `json:"found"`
}

// UserWords says how many of the user's requests and corrections a rendering has word for word.
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

// Fidelity says whether summaries and tombstones say what is in their clusters.
type Fidelity struct {
	Sentences int         `json:"sentences"` // of the live clusters' summaries
	Verbatim  int         `json:"verbatim"`  // those that their message has word for word
	Lines     int         `json:"lines"`     // of tombstones
	Labels    int         `json:"labels"`    // in these lines
	InCluster int         `json:"in_cluster"`
	Share     stats.Milli `json:"label_share"` // of InCluster
	// The labels of a line are a query, by BM25, over all clusters of its store. First is how often
	// the line's own cluster is the first hit, MRR the mean of 1/rank of that cluster.
	First stats.Milli `json:"hit_1"`
	MRR   stats.Milli `json:"mrr"`
}

// Continuation says how well an agent could go on from the contexts that are made in one way: how
// much of what the next records say, call and touch is in the context. It is measured at the
// compactions of the agent's client, with as many tokens as the client's summary has. Sessions
// without a compaction are cut at one place.
type Continuation struct {
	At     string `json:"at"` // atCompaction or atCut
	Way    string `json:"way"`
	N      int    `json:"n"`      // contexts
	Budget int    `json:"budget"` // tokens, over all contexts
	Tokens int    `json:"tokens"` // that the contexts have

	// Means over the contexts, or null if nothing of the kind comes next. Said and Called are shares
	// of the weight of terms, Files of the names of files, and Lines of the lines with any of these.
	Said   *stats.Milli `json:"said"`
	Called *stats.Milli `json:"called"`
	Files  *stats.Milli `json:"files"`
	Lines  *stats.Milli `json:"useful_lines"`
	// Junk is the share of junk lines among all lines of the contexts.
	Junk stats.Milli `json:"junk_lines"`
}

// Known says how often a search among all messages of a set finds a prompt by its exact words: as
// the first hit, and among the first ten.
type Known struct {
	By    string `json:"by"`
	N     int    `json:"n"` // prompts
	First int    `json:"first"`
	Ten   int    `json:"in_ten"`
	// Shares of N.
	FirstShare stats.Milli `json:"first_share"`
	TenShare   stats.Milli `json:"in_ten_share"`
}

// Add adds a prompt by its place among the hits, which is negative if it is none of them.
func (k *Known) Add(rank int) {
	k.N++
	k.First += stats.One(rank == 0)
	k.Ten += stats.One(rank >= 0)
	k.FirstShare, k.TenShare = stats.MilliShare(k.First, k.N), stats.MilliShare(k.Ten, k.N)
}

// SessionSearch says how often a search finds the right session: as the first one, and among the
// first three.
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

// Add adds a query by the place of the right session, which is negative if it was not found.
func (s *SessionSearch) Add(rank int) {
	s.N++
	s.First += stats.One(rank == 0)
	s.Three += stats.One(rank >= 0 && rank < 3)
	s.FirstShare, s.ThreeShare = stats.MilliShare(s.First, s.N), stats.MilliShare(s.Three, s.N)
}

// Recalled says what the hook of Claude Code gives at prompts: of the set, each with what was said
// before it as the store, and of other sets, to whom nothing should be given.
type Recalled struct {
	Of    string `json:"of"`
	Half  string `json:"half"`  // of the sessions
	N     int    `json:"n"`     // prompts
	Given int    `json:"given"` // those at which something is given
	// Those at which it has a file, or three words of calls, of the next 20 records that the prompt
	// does not have; and the same of what was given before in another session.
	Held   int         `json:"held"`
	Chance int         `json:"chance"`
	Tokens int         `json:"tokens"` // of all that is given
	Most   int         `json:"most_tokens"`
	Share  stats.Milli `json:"given_share"`
}

// Add adds a prompt by the tokens of what is given.
func (r *Recalled) Add(tokens int) {
	r.N++
	r.Given += stats.One(tokens > 0)
	r.Tokens += tokens
	r.Most, r.Share = max(r.Most, tokens), stats.MilliShare(r.Given, r.N)
}
