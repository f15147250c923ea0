package browse

import "strings"

// hint is a key on the last line of the screen. Those of a high rank go first where there is no
// room.
type hint struct {
	key, text string
	rank      int
}

// hints returns the keys that matter on a page, as many as fit.
func hints(k kind, empty bool, width int) string {
	list := []hint{{"?", "keys", 0}, {"q", "back", 1}}
	if k == sessionsPage {
		list[1].text = "quit"
	}
	var of []hint
	switch {
	case empty:
	case k == helpsPage:
		of = []hint{{"j k", "move", 2}}
	case k == sessionsPage:
		of = []hint{{"enter", "read", 2}, {"/", "search", 3}, {"f", "forest", 4},
			{"b", "branch", 7}, {"y", "copy", 6}}
	case k == forestPage:
		of = []hint{{"enter", "messages", 2}, {"space", "unfold", 4}, {"p", "provenance", 3},
			{"/", "search", 5}, {"y", "copy", 6}}
	case k == hitsPage:
		of = []hint{{"enter", "go there", 2}, {"p", "provenance", 4}, {"/", "search", 3},
			{"y", "copy", 6}}
	case k == textPage:
		of = []hint{{"enter", "open", 2}, {"/", "search", 3}, {"y", "copy", 6}}
	default:
		of = []hint{{"space", "unfold", 2}, {"/", "search", 3}, {"f", "forest", 4},
			{"p", "provenance", 5}, {"y", "copy", 6}}
	}
	list = append(of, list...)
	for most := 9; ; most-- {
		var said []string
		for _, h := range list {
			if h.rank <= most {
				said = append(said, h.key+" "+h.text)
			}
		}
		if text := " " + strings.Join(said, "   "); columns(text) <= width || most == 0 {
			return text
		}
	}
}

// helpPage lists all keys.
func helpPage() *page {
	p := &page{kind: helpsPage, title: "keys"}
	var rows []row
	for _, one := range [][2]string{
		{"j k, arrows", "the next and the previous item, or line of a long one"},
		{"g G", "the first and the last item"},
		{"ctrl-d ctrl-u", "half a screen down and up; page keys: a whole one"},
		{"tab, h l", "between the sessions and what they hold"},
		{"enter",
			"reads a session; opens the messages behind a cluster or a summary; goes to the " +
				"message of a hit"},
		{"space", "the whole of a folded text, and back"},
		{"f", "the forest: clusters with their states and summaries"},
		{"p", "where the selected item comes from, and what was made of it"},
		{"/", "searches all sessions"},
		{"b", "the next branch of the session"},
		{"y Y", "copies the id, or the text, by the terminal (OSC 52)"},
		{"r", "reads the store again"},
		{"esc", "stops what takes long; else back"},
		{"q", "back, and from the list of sessions out"},
		{"ctrl-c", "out"},
	} {
		const keys = 16 // columns
		rows = append(rows, row{lead: fit(one[0], keys), text: one[1], hang: keys})
	}
	p.items = []*item{{head: line{{faint, "ctx browse reads the store, and changes nothing."}},
		open: true, read: func() ([]row, error) { return rows, nil }}}
	return p
}
