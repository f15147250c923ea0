// Package epoch holds the rules of context epochs: what a model was last told, and what it has to
// be told next. It is pure: observations and the epoch in force go in, the next epoch comes out.
//
// One rule is behind all of them: the epoch records what the model was last told. An observation
// that says the same is no change, however it is worded; one that cannot be made leaves the belief
// as it is; and what was sent is kept as it was sent.
package epoch
