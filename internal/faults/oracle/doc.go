// Package oracle lets several stores live with one remote or two, with every kind of command that a
// person uses, and knows after each command what has to be true:
//
//   - What a store has said itself is there, byte for byte, until it forgets it itself.
//   - A pull succeeds, and what one store has of another is then what that one has pushed.
//   - fsck finds nothing, and a repair loses nothing that could be read.
//   - What was forgotten is in no file of the store, in none that its push leaves on the remote,
//     and in the end in none of those who pull.
//   - A session that was removed does not come back by itself.
//
// Commands are stopped at a step of durable.FS or killed by a signal, others run beside them, files
// of a remote arrive in part, and a store is damaged. Each world does some of this often and some
// not at all.
//
// A run takes four seconds by default, and its seed is the number of the commit. CTX_ORACLE=1h
// runs worlds for an hour, CTX_ORACLE=50 runs 50 worlds, and CTX_ORACLE_SEED=n begins with the
// world n. CTX_ORACLE_KEEP=DIR keeps the files of a world that fails. The commands of a world
// follow from its seed, its clock and its random bytes, too; when a signal arrives, and which of
// two commands has a lock first, does not.
package oracle
