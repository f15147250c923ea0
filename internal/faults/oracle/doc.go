// Package oracle lets several stores live with one remote, with every kind of command that a person
// uses, some of them killed, and knows after each command what has to be true:
//
//   - What a store has said itself is there, byte for byte, until it forgets it itself.
//   - A pull succeeds, and what one store has of another is what that one has.
//   - fsck finds nothing.
//   - What was forgotten is in no file of the store, of the remote, and of those who pull.
//
// A run is small by default. CTX_ORACLE=1h runs worlds for an hour, CTX_ORACLE=50 runs 50 worlds,
// and CTX_ORACLE_SEED=n begins with the world n. The commands of a world follow from its seed; when
// a killed command ends does not.
package oracle
