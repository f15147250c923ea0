// Package score says which cluster of the forest a unit belongs to, a message in talk between people or an exchange where a model takes part, or that
// it opens a new one.
//
// It is pure: features and candidates in, a decision out. All that decides is computed in integers, so that a decision is the same on every platform.
// What it keeps is bounded, and the cost of a decision does not depend on how long the history is.
//
// # Method
//
// A message is reduced to Features when it is appended. When it has left the hot window, Place gives each of the candidates a score, which is a weighted
// sum of signs, and gives one to a new cluster; the best wins. Taken as logarithms of odds the scores make the threshold a probability. There is one
// set of weights for everything. What kind of talk it is shows in the signs, which are measured as it goes on:
//
//   - In a crowd (eight or more people in twenty minutes, as on IRC) it counts who speaks to whom and which words are said. The words are compared
//     together with what the same author says next and what is said to that author: the hot window is there to be looked at.
//   - Where few people talk (up to three, as in a room of a project) there is mostly one dialogue at a time. Words count little, silence much.
//   - In a meeting nobody is spoken to by name. Topics follow each other, and how much was said tells best when the next one is due; see meeting.go.
//   - Where messages are hours apart, as comments on an issue, a minute is as long as the pace makes it; see beat.go.
//   - Where a model takes part, words, paths, identifiers and the exchange before count, and people do not. A tool's output counts with its artifacts only.
//
// The likeness of words is the share of the unit's weight that a cluster has. A term weighs by how rare it was in late units, with a list of ordinary
// words for the beginning, when nothing is known to be common.
//
// # Weights
//
// They are a conditional logistic regression (one choice among the candidates and a new cluster) on developer chat, interleaved IRC, and agent sessions
// spliced at prompts, rounded to quarters, small ones to tenths. It was fitted three times over: first on clusters as they should be, then on those
// that its own decisions had made, with the choice that serves B-cubed best as the right one. That is worth more than any sign: a wrong merge early on
// costs all that follows, which decisions on perfect clusters never show. The bounds and sizes in meeting.go were set by hand, and so was how firmly a nod
// goes on with the exchange before.
//
// What carried no weight was left out: likeness of artifacts beside that of all terms, a question that nobody has answered, length, how long an author was
// silent, whether two people talked before, the age of an author's last message in a cluster, acknowledgements of what was last said (the author and
// the time tell already), and dips of likeness in meetings.
package score
