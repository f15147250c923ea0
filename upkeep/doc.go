// Package upkeep keeps a store in order: it collects garbage, finds damage, makes derived objects again, copies a store into one file
// and back, and takes one away. It judges by what refs and the log name; it never scores, and it never decides what belongs together.
package upkeep
