package sanitize

import "strings"

// Escape makes s safe inside the <context_clusters> element and inside a Markdown fence: & becomes
// &amp;, < becomes &lt;, > becomes &gt;, and three backticks become three apostrophes. Stored text
// is never escaped. Text for a prompt is escaped once, because a second time would show.
func Escape(s string) string {
	return escapes.Replace(s)
}

// escapes builds its table once, at first use.
var escapes = strings.NewReplacer(
	"&", "&amp;",
	"<", "&lt;",
	">", "&gt;",
	"```", "'''",
)
