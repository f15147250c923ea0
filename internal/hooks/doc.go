// Package hooks connects ctx to an agent. Hooks copy each turn into the store and add to a prompt
// what other sessions said. Cursors make the copying quick. The package also installs the hooks in
// an agent's settings and checks that they work. A hook never disturbs its agent: it has a
// deadline, and it logs a failure instead of returning it.
package hooks
