package sanitize

import (
	"strings"
	"sync"
)

// Escape makes s safe inside the <context_clusters> element and inside a Markdown fence: & becomes
// &amp;, < becomes &lt;, > becomes &gt;, and three backticks become three apostrophes. Stored text
// is never escaped. Text for a prompt is escaped once, because a second time would show.
func Escape(s string) string {
	makeEscapes.Do(func() {
		escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "```", "'''")
	})
	return escapes.Replace(s)
}

// escapes is made at first use, so that no program pays for it when it starts.
var (
	escapes     *strings.Replacer
	makeEscapes sync.Once
)
