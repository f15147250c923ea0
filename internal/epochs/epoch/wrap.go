package epoch

import "strings"

// Wrap puts a text between lines that say that it tells what has changed. What is in it cannot
// close them: & becomes &amp;, < becomes &lt; and > becomes &gt;, in this order. The text itself is
// stored as it is.
func Wrap(text string) string {
	for _, c := range [][2]string{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}} {
		text = strings.ReplaceAll(text, c[0], c[1])
	}
	return "<system-update>\n" + text + "\n</system-update>"
}
