package sessions

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/refs"
)

// Overview is what a person is shown of a session to recognize it. It tells of the branch main, or
// of the first one if there is no main.
type Overview struct {
	Session
	// Title is what a person called the session, else the agent's, or else the beginning of the
	// first prompt; "" if there is none of these.
	Title string
	About history.About // what a person said of it
	Named bool          // a person or an agent keeps the title
	Agent string        // in the source of the newest message of an agent; "" if there is none
	Git   string        // the branch of git that was checked out last; "" if no agent tells
	// First and Last are the times of the first and of the newest message; zero if there is none.
	// Which one is the newest, and whether it is newer than another session's, says Newer.
	First, Last time.Time
	Spoke       time.Time     // when a person said the newest message; zero if nobody did
	Notes       []digest.Fact // what somebody wanted remembered, oldest first
	// Also, for a session of another store, is the session of this one with the same beginning: one
	// that goes on from the same message, or that was imported from the same transcript. "" for none.
	Also string
	// Origin is that of the oldest message: the transcript, or the message itself. Forks have one.
	Origin string
}

// ByPin compares sessions: those that are pinned come first.
func ByPin(a, b Overview) int {
	switch {
	case a.About.Pinned == b.About.Pinned:
		return 0
	case a.About.Pinned:
		return -1
	}
	return 1
}

// maxTitle is the most bytes of a title.
const maxTitle = 200

// Persons returns the sessions of a list that work for no other one of it.
func Persons(list []Overview) []Overview {
	there := lists.Set(lists.Map(list, func(o Overview) string { return o.Name }))
	return slices.DeleteFunc(list, func(o Overview) bool {
		return o.Parent != nil && o.Parent.Session != o.Name && there[o.Parent.Session]
	})
}

// Overviews returns the sessions of a view, the one with the newest message first. It keeps what it
// found in the cache, so that the next call reads only what is new. Of a session that cannot be
// read whole it says what can.
func (s *Reader) Overviews(view *refs.View) ([]Overview, error) {
	known := s.loadOverviews()
	s.addLearned(known, view)
	list, err := s.sessions(view, known, s.PassOver)
	if err != nil {
		return nil, err
	}
	rows := make([]overviewRow, len(list))
	var unknown []string
	at := map[string]int{} // the places of these in the list
	for i := range list {
		if s.isRight(known, view, &list[i]) {
			rows[i] = *known.row(list[i].Name)
			continue
		}
		unknown, at[list[i].Name] = append(unknown, list[i].Name), i
	}
	tip := func(session string) format.ID { return MainOf(&list[at[session]]).Value.ID }
	for _, session := range s.ByPlace(unknown, tip) {
		i := at[session]
		rows[i], err = s.readRow(view, &list[i], known)
		if err != nil && !s.PassOver(session, err) {
			return nil, err
		}
	}
	if len(unknown) > 0 || len(known.rows) != len(list) {
		now := &overviews{rows: make(map[string]*overviewRow, len(rows))}
		for i := range rows {
			now.rows[rows[i].session] = &rows[i]
		}
		s.storeOverviews(now)
	}
	out := make([]Overview, len(list))
	for i := range rows {
		out[i] = rows[i].overview(&list[i])
	}
	setAlso(view, out)
	now := s.Now()
	slices.SortStableFunc(out, func(a, b Overview) int {
		return cmp.Or(Newer(b.Last, a.Last, now), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// setAlso sets Also.
func setAlso(view *refs.View, list []Overview) {
	own := map[string]string{}
	for i := range list {
		if _, shared := history.Owner(view, list[i].Name); !shared && list[i].Origin != "" &&
			own[list[i].Origin] == "" {
			own[list[i].Origin] = list[i].Name
		}
	}
	for i := range list {
		if _, shared := history.Owner(view, list[i].Name); shared {
			list[i].Also = own[list[i].Origin]
		}
	}
}

// WithoutTwins leaves out sessions that others of a list, newest first, tell of: of a session of
// this store and those of others with the same beginning, all but the newest.
func WithoutTwins(list []Overview) []Overview {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(o Overview) bool {
		name := cmp.Or(o.Also, o.Name)
		again := seen[name]
		seen[name] = true
		return again
	})
}

// isRight reports whether the row of a session is known, and still right.
func (s *Reader) isRight(known *overviews, view *refs.View, one *Session) bool {
	b, row := MainOf(one), known.row(one.Name)
	return row != nil && !row.learned && row.branch == b.Name && row.tip == b.Value.ID &&
		row.link == view.Get(history.ParentRef(one.Name)).ID &&
		row.aboutID == view.Get(history.AboutRef(one.Name)).ID && !s.caughtUp(row)
}

// caughtUp reports whether the clock has reached a time that was later when the row was made.
func (s *Reader) caughtUp(row *overviewRow) bool {
	return !row.ahead.IsZero() && Sane(row.ahead, s.Now())
}

// readRow returns the row of a session, which goes on from the known one.
func (s *Reader) readRow(view *refs.View, one *Session, known *overviews) (overviewRow, error) {
	b := MainOf(one)
	row := overviewRow{session: one.Name}
	if was := known.row(one.Name); was != nil && was.branch == b.Name && !s.caughtUp(was) {
		row = *was
		row.learned = false
	}
	if err := s.readOverview(&row, b.Value.ID); err != nil {
		return row, err
	}
	row.branch, row.tip, row.seq, row.parent = b.Name, b.Value.ID, b.Seq, one.Parent
	row.link = view.Get(history.ParentRef(one.Name)).ID
	row.aboutID = view.Get(history.AboutRef(one.Name)).ID
	about, err := s.AboutOf(view, one.Name)
	if err == nil {
		row.about, err = about.Encode()
	}
	return row, err
}

// MainOf returns the branch main of a session, or the first one if there is no main.
func MainOf(one *Session) *history.Branch {
	i := slices.IndexFunc(one.Branches,
		func(b history.Branch) bool { return b.Name == history.MainBranch })
	return &one.Branches[max(i, 0)]
}

// readOverview brings a row up to date with a tip. It reads the entries after the tip of the row,
// and all of them if those have changed.
func (s *Reader) readOverview(row *overviewRow, tip format.ID) error {
	if row.tip == tip {
		return nil
	}
	fresh, goesOn, err := s.newEntries(row.tip, tip)
	if err != nil {
		return err
	}
	if !goesOn {
		*row = overviewRow{session: row.session}
	}
	return row.read(fresh, s.Now(), s)
}

// wordsOf reads what entries say.
type wordsOf interface {
	// Parts reads an entry, without the words of its parts.
	Parts(id format.ID) (*history.Shown, error)
	// Version reads an entry with the text of its newest version.
	Version(id, newest format.ID) (*history.Shown, error)
}

// read adds fresh entries to a row, newest first.
func (r *overviewRow) read(fresh []history.Entry, now time.Time, words wordsOf) error {
	latest := transcript.SessionSaid{}
	newest := true // no message of an agent was seen
	var kept []digest.Fact
	for _, e := range fresh {
		if e.Kind == format.KindMessage {
			r.note(&e, now)
		}
		agent := ""
		if e.Source != nil && e.Source.Agent != transcript.Own {
			agent = e.Source.Agent
		}
		if e.Kind == format.KindNote && agent == "" && e.Body != nil {
			shown, err := words.Version(e.ID, e.ID)
			if err != nil {
				return err
			}
			if f, ok := keptNote(shown); ok {
				kept = append(kept, f)
			}
		}
		if newest && agent != "" && e.Kind == format.KindMessage {
			r.agent, newest = agent, false
		}
		if agent == "" || latest.All() || e.Body == nil || e.Body.Media != format.MediaParts {
			continue
		}
		shown, err := words.Parts(e.ID)
		if err != nil {
			return err
		}
		latest.Older(transcript.SessionSaidOf(agent, shown.Parts, latest.Git == ""))
		if title, of := transcript.SummaryOf(agent, shown.Parts); of != "" &&
			slices.ContainsFunc(fresh, func(e history.Entry) bool {
				return e.Source != nil && e.Source.Message == of
			}) {
			latest.Older(transcript.SessionSaid{Title: title})
		}
	}
	latest.Older(r.said)
	r.said = latest
	slices.Reverse(kept)
	r.notes = append(slices.Clip(r.notes), kept...)
	return r.readBeginning(fresh, words)
}

// keptNote returns the note that an entry is, as a fact; ok is false for any other entry.
func keptNote(shown *history.Shown) (f digest.Fact, ok bool) {
	n, ok := NoteOf(shown)
	if !ok {
		return f, false
	}
	facts := digest.Of([]digest.Message{{Entry: shown.ID, Role: shown.Entry.Role,
		Text: n.Text, Note: n.Kind, Supersedes: n.Supersedes}})
	if len(facts) == 0 {
		return f, false
	}
	return facts[0], true
}

// note takes the time of a message.
func (r *overviewRow) note(e *history.Entry, now time.Time) {
	if !Sane(e.Time, now) && (r.ahead.IsZero() || e.Time.Before(r.ahead)) {
		r.ahead = e.Time
	}
	if Newer(e.Time, r.last, now) > 0 {
		r.last = e.Time
	}
	if e.Role == transcript.RoleUser && Newer(e.Time, r.spoke, now) > 0 {
		r.spoke = e.Time
	}
}

// newEntries returns the messages, notes and amends that a tip has and the tip was has not, newest
// first. goesOn is false if they are all that the tip has.
func (s *Reader) newEntries(was, tip format.ID) (list []history.Entry, goesOn bool, err error) {
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return nil, false, err
		}
		if e.ID == was {
			// A newer version of the first prompt is rare.
			goesOn = !slices.ContainsFunc(list,
				func(e history.Entry) bool {
					return e.Kind == format.KindAmend && e.Role == transcript.RoleUser
				})
			if goesOn {
				return list, true, nil
			}
		}
		if e.Kind == format.KindMessage || e.Kind == format.KindNote || e.Kind == format.KindAmend {
			list = append(list, e)
		}
	}
	return list, false, nil
}

// readBeginning sets what a row has of the oldest messages, if it has nothing yet.
func (r *overviewRow) readBeginning(fresh []history.Entry, words wordsOf) error {
	amends := map[format.ID]format.ID{}
	for _, e := range fresh {
		if _, newer := amends[e.Amends]; e.Kind == format.KindAmend && !newer {
			amends[e.Amends] = e.ID
		}
	}
	for _, e := range slices.Backward(fresh) {
		if e.Kind != format.KindMessage {
			continue
		}
		isFirst := r.first.IsZero()
		if isFirst {
			r.first, r.origin = e.Time, originOf(&e)
		}
		if !isSlight(r.prompt) {
			break
		}
		isPlan := isFirst && e.Role == transcript.RoleModel
		if e.Role != transcript.RoleUser && !isPlan {
			continue
		}
		shown, err := words.Version(e.ID, amends[e.ID])
		if err != nil {
			return err
		}
		prompt := ""
		if isPlan {
			prompt = planTitle(shown.Text)
		} else {
			prompt = cutTitle(withoutFrame(digest.Asked(shown.Text), shown.Text))
		}
		if r.prompt == "" || !isSlight(prompt) {
			r.prompt = prompt
		}
	}
	return nil
}

// isSlight reports whether a prompt says little of what a session is about, so that a later one is
// the title: a command without arguments, one or two words such as "commit this". Scripts without
// spaces say much in one word.
func isSlight(prompt string) bool {
	return len(strings.Fields(prompt)) < 3 &&
		!strings.ContainsFunc(prompt, func(r rune) bool { return r > unicode.MaxLatin1 })
}

// originOf returns what the oldest message of a session tells of where the session comes from: the
// transcript, or the message itself.
func originOf(e *history.Entry) string {
	if e.Source == nil || e.Source.Agent == transcript.Own {
		return e.ID.String()
	}
	return e.Source.Agent + "/" + e.Source.Session
}

// planFrame begins the first prompt of a session in which Claude Code carries out a plan.
const planFrame = "Implement the following plan:"

// withoutFrame returns a prompt from its first words of substance on. Where the plan was folded,
// they are its first line.
func withoutFrame(prompt, whole string) string {
	const space = "# \t\r\n"
	rest, framed := strings.CutPrefix(prompt, planFrame)
	if rest = strings.TrimLeft(rest, space); framed && rest == "" {
		_, rest, _ = strings.Cut(whole, planFrame)
		rest, _, _ = strings.Cut(strings.TrimLeft(rest, space), "\n")
	}
	if framed && rest != "" {
		return rest
	}
	return prompt
}

// planTitle returns the heading of a plan, with which a session begins whose model carries it out;
// "" for any other text.
func planTitle(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	heading, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return ""
	}
	return cutTitle(heading)
}

// cutTitle makes one line of a text, of at most maxTitle bytes.
func cutTitle(text string) string {
	if most := 4 * maxTitle; len(text) > most {
		text = text[:most]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= maxTitle {
		return text
	}
	end := maxTitle - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRight(text[:end], " ") + "…"
}

// noteOf returns the note that an entry is; ok is false for any other entry.
func NoteOf(shown *history.Shown) (n message.Note, ok bool) {
	if shown == nil || shown.Gone != "" || shown.Entry == nil ||
		shown.Entry.Kind != format.KindNote {
		return n, false
	}
	return message.NoteOf(shown.Parts)
}
