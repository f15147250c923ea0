package sanitize

import "strings"

// Escape makes s safe inside the <context_clusters> element and inside a
// Markdown fence: & becomes &amp;, < becomes &lt;, > becomes &gt;, and three
// backticks become three apostrophes. Stored text is never escaped, only text
// on its way into a prompt, once: escaping twice shows.
func Escape(s string) string {
	return escapes.Replace(s)
}

// escapes builds its table at first use, once.
var escapes = strings.NewReplacer(
	"&", "&amp;",
	"<", "&lt;",
	">", "&gt;",
	"```", "'''",
)
