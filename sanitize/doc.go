// Package sanitize cleans text before it is stored: it removes control
// characters, repairs UTF-8, and replaces secrets by a marker that names their
// kind. It runs before the first byte is hashed or written, so what it leaves
// is what "byte for byte" means everywhere else.
//
// A secret becomes [REDACTED:<class>]. The classes are:
//
//	age airtable alibaba anthropic atlassian authorization aws azure braintree brevo cargo clojars
//	cookie databricks digitalocean discord docker doppler figma fireworks fly github gitlab google
//	grafana groq heroku huggingface jfrog jwt langsmith linear mailchimp mailgun netlify newrelic notion
//	npm nuget nvidia openai password pem perplexity pinecone planetscale postman pulumi pypi replicate
//	rubygems secret sendgrid sentry shopify slack sonarqube square stripe supabase tailscale tavily
//	teams telegram tencent terraform twilio url-password vault xai
//
// Two more classes are reported without leaving a marker: control (a C0
// control other than TAB, LF and CR, or DEL, or a C1 control, removed) and utf8
// (a byte that is not part of valid UTF-8, replaced by U+FFFD). Marks of
// direction and characters without width stay: languages and emoji need them.
// Where a model's or a helper's words are made part of a prompt, and in names and
// errors, they go.
//
// Four kinds of rule find secrets. Formats recognised by themselves (a fixed
// prefix and a length) need no context. URLs, headers, cookies and connection
// strings are recognised by their structure, and only the credential in them
// goes. So are files in which no name says what a secret is: .netrc, .pgpass, a
// PuTTY key, the data of a Kubernetes Secret, and the arguments of programs that
// take a password. A key and a value count only when the key names a secret, the
// value stands where a value does (behind a separator or a flag, in a call, an
// element, a table), and looks like a secret rather than like code, a path, a
// placeholder or a reference to a variable.
//
// A text is read in other ways, too: without percent-encoding, and without the
// line ends at which a terminal may have wrapped it. Texts of one message are
// read as one.
//
// The rules are code and constant tables. Nothing is compiled or loaded; one
// table is made from another at first use, in microseconds, so there is no state
// in which some of them are missing, and the package costs nothing until it is
// called. Time and memory are linear in the input.
//
// Cleaning is idempotent: cleaning what was cleaned changes nothing. That is
// enforced rather than hoped for: the rules run until they find nothing more,
// and text that does not settle is an error, so nothing half clean is handed
// out.
package sanitize
