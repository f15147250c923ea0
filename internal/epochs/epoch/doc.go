// Package epoch has the rules of context epochs: from the epoch in force and new observations it
// computes the next epoch and the text to send. It reads and writes nothing.
//
// An epoch records what the model was last told (its beliefs). An observation with an equal value
// is no change, even if its JSON is written differently. A source that cannot be read leaves its
// belief as it is. A text that was sent is never changed.
package epoch
