// Package sanitize cleans text before it is stored: it removes control characters, repairs UTF-8,
// and replaces secrets by a marker that names their kind. It runs before the first byte is hashed
// or written, so "byte for byte" elsewhere means the cleaned text.
//
// A secret becomes [REDACTED:<class>]. The class of a token that is known by its form is in the
// table of internal/sanitize/tokens, for example github or slack; the user's own patterns have the
// class "extra".
// The other classes are:
//
//	authorization cookie mailgun jwt password pem secret url-password
//
// Two more classes are reported without a marker: control (a removed C0 control other than TAB, LF
// and CR, a DEL, or a C1 control) and utf8 (a byte that is not part of valid UTF-8, replaced by
// U+FFFD). Marks of direction and characters without width stay, because languages and emoji need
// them. They are removed from a model's or a helper's words in a prompt, and from names and errors.
//
// Five kinds of rules find secrets, in internal/sanitize/secrets:
//
//   - The forms of internal/sanitize/tokens (a fixed beginning and a length) need no context. The
//     form alone is not enough: the letters must look random.
//   - URLs, headers, cookies and connection strings are recognized by their structure. Only the
//     credential in them is replaced.
//   - Some files and commands are recognized as a whole, because no name in them says what a secret
//     is: .netrc, .pgpass, a PuTTY key, the data of a Kubernetes Secret, and the arguments of
//     programs that take a password.
//   - A key and a value count only if the key names a secret, the value stands where a value does
//     (behind a separator or a flag, in a call, an element, a table), and the value looks like a
//     secret rather than like code, a path, a placeholder or a reference to a variable.
//   - Where no rule knows the form of a text, two questions decide: is a word that tells of a
//     secret on the same line or the one before, or in the command that printed the text, and does
//     the value look like one that a person or a generator made?
//
// A text is also read without percent-encoding, without the entities of HTML, and without the line
// ends at which a terminal may have wrapped it. The texts of one message are also read as one. A
// secret that was drawn by lot is replaced wherever it stands again in its text.
//
// The rules make one pass over a text: a table gives the rules and forms that begin with the next
// three bytes, and only these are tried. The rules are code and constant tables. The table of
// beginnings is made at first use, in microseconds, so the package costs nothing until it is
// called. Time and memory are linear in the input.
//
// The only state is that of UsePatterns: the user's patterns, which hold for the whole program.
//
// Cleaning is idempotent: cleaning a cleaned text changes nothing. This is enforced: the rules run
// until they find nothing more, and a text that does not settle is an error, so that no
// half-cleaned text is returned.
//
// Begin with Text, JSON and Find.
package sanitize
