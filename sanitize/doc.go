// Package sanitize cleans text before it is stored: it removes control
// characters, repairs UTF-8, and replaces secrets by a marker that names their
// kind. It runs before the first byte is hashed or written, so what it leaves
// is what "byte for byte" means everywhere else.
//
// A secret becomes [REDACTED:<class>]. The classes are:
//
//	age anthropic authorization aws digitalocean discord github gitlab google
//	huggingface jwt npm openai password pem pypi secret sendgrid slack stripe
//	telegram twilio url-password
//
// Two more classes are reported without leaving a marker: control (a C0
// control other than TAB, LF and CR, or DEL, removed) and utf8 (a byte that is
// not part of valid UTF-8, replaced by U+FFFD).
//
// Three kinds of rule find secrets. Formats recognised by themselves (a fixed
// prefix and a length) need no context. URLs and authorization headers are
// recognised by their structure, and only the credential in them goes. A key
// and a value count only when the key names a secret, a separator stands
// between them, and the value looks like a secret rather than like code, a
// path, a placeholder or a reference to a variable.
//
// The rules are code and constant tables. Nothing is compiled or loaded, so
// there is no state in which some of them are missing, and the package costs
// nothing until it is called. Time and memory are linear in the input.
//
// Cleaning is idempotent: cleaning what was cleaned changes nothing. That is
// enforced rather than hoped for: the rules run until they find nothing more,
// and text that does not settle is an error, so nothing half clean is handed
// out.
package sanitize
