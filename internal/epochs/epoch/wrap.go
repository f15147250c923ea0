package epoch

import "strings"

// Wrap puts an update between the tags that mark it for a model. The text cannot close the tags,
// because Wrap writes & as &amp;, < as &lt; and > as &gt;. The store keeps the text without tags.
func Wrap(text string) string {
	for _, c := range [][2]string{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}} {
		text = strings.ReplaceAll(text, c[0], c[1])
	}
	return "<system-update>\n" + text + "\n</system-update>"
}
