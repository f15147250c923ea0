// Package capture is how ctx is part of an agent's work: the hooks that copy each turn and tell the model what other sessions said, the cursors that
// make them quick, and what puts them into an agent's settings and proves that they work. A hook never gets in its agent's way: it has a deadline, and
// what goes wrong is noted, not raised.
package capture
