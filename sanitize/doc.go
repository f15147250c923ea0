// Package sanitize cleans text before it is stored: it removes control
// characters, repairs UTF-8, and replaces secrets by a marker that names their
// kind. It runs before the first byte is hashed or written, so what it leaves
// is what "byte for byte" means everywhere else.
//
// A secret becomes [REDACTED:<class>]. The classes of tokens that are known by their form are those
// of the table in shapes.go, such as github or slack, and "extra" for the user's own patterns.
// The other classes are:
//
//	authorization cookie mailgun jwt password pem secret url-password
//
// Two more classes are reported without leaving a marker: control (a C0
// control other than TAB, LF and CR, or DEL, or a C1 control, removed) and utf8
// (a byte that is not part of valid UTF-8, replaced by U+FFFD). Marks of
// direction and characters without width stay: languages and emoji need them.
// Where a model's or a helper's words are made part of a prompt, and in names and
// errors, they go.
//
// Four kinds of rule find secrets. Forms that are known by themselves (a fixed beginning and a
// length) need no context; shapes.go lists them, and the form alone is not enough: its letters must
// look as if they were drawn by lot. URLs, headers, cookies and connection strings are recognised
// by their structure, and only the credential in them goes. So are files in which no name says what
// a secret is: .netrc, .pgpass, a PuTTY key, the data of a Kubernetes Secret, and the arguments of
// programs that take a password. A key and a value count only when the key names a secret, the
// value stands where a value does (behind a separator or a flag, in a call, an element, a table),
// and looks like a secret rather than like code, a path, a placeholder or a reference to a
// variable.
//
// A text is read in other ways, too: without percent-encoding, and without the
// line ends at which a terminal may have wrapped it. Texts of one message are
// read as one.
//
// A text is gone over once: a table says which three bytes a rule or a form begins with, and only
// those rules are tried. The rules are code and constant tables. The table of beginnings is made at
// first use, in microseconds, so the package costs nothing until it is called. Time and memory are
// linear in the input.
//
// The only state is UsePatterns: the patterns of the user, which hold for the whole program.
//
// Cleaning is idempotent: cleaning what was cleaned changes nothing. That is
// enforced rather than hoped for: the rules run until they find nothing more,
// and text that does not settle is an error, so nothing half clean is handed
// out.
package sanitize
