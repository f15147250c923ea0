package find

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// Answer is a turn that is about what a prompt names, or asks.
type Answer struct {
	sessions.Turn
	Session string
	// Said are the words of the turn that have most of the prompt, or else its answer: Who said them,
	// and In which message.
	Said  string
	Who   string
	In    format.ID
	score float64
}

// AnswerQuery says what Answers looks for.
type AnswerQuery struct {
	Text    string                  // the prompt
	Session string                  // that asks: what its context still has is no answer
	Given   func(id format.ID) bool // the prompts of turns that the session was told of
	Limit   int
}

// A text answers a prompt if it has names of the prompt that weigh leastNames, other words added at
// wordPart, and namesShare of what all its names do; or if it has fewWords clues or more that weigh
// manyWords, and wordsShare of all. This is as low as it could be on one half of the sessions of
// two projects without giving anything at prompts of the other one. Or it has three in four of the
// clues, mostWords at least that weigh mostWeight: who comes back asks again in the words of then.
// docs/compaction.md says what that is worth.
const (
	leastNames = 0.5
	wordPart   = 0.35
	namesShare = 0.1
	fewWords   = 5
	manyWords  = 1.2
	wordsShare = 0.15
	mostWords  = 4
	mostWeight = 1.0
)

// The most messages, and sessions, that are looked at for a prompt, and the most sentences in a row
// that are one text.
const (
	maxTold     = 32
	maxTellers  = 4
	maxTogether = 3
)

// answers returns how much a text with a sight of the clues answers; 0 if it does not.
func answers(c *search.Clues, s search.Sight) float64 {
	all, sum := c.All(), s.Names+s.Words
	switch byName := s.Names + wordPart*s.Words; {
	case s.Names > 0 && byName >= leastNames && s.Names >= namesShare*all.Names:
		return byName
	case s.N >= fewWords && sum >= manyWords && sum >= wordsShare*(all.Names+all.Words):
		return sum
	case s.N >= mostWords && 4*s.N >= 3*all.N && sum >= mostWeight:
		return sum
	}
	return 0
}

// Answers returns the turns of the project that answer a prompt, at most q.Limit, the best first.
// Most prompts have none. Words of tools, and what subagents of the session said, are no answer.
func (s *Reader) Answers(view *refs.View, q AnswerQuery) ([]Answer, error) {
	clues := search.CluesOf(q.Text)
	if answers(clues, clues.All()) == 0 {
		return nil, nil
	}
	seqs, tellers, err := s.tellers(view, clues, q.Session,
		func(known search.Sight) bool { return answers(clues, known) > 0 })
	if err != nil {
		return nil, err
	}
	var list []Answer
	var known *knowledge
	for _, name := range tellers {
		if len(list) >= q.Limit {
			break // the best messages are in the first sessions
		}
		see := func(t *sessions.Turn, root brief.Root) (err error) {
			a := Answer{Turn: *t, Session: name}
			if a.see(clues, root); a.score == 0 || q.Given(a.Entry) {
				return nil
			}
			if known == nil {
				known, err = s.contextOf(view, q.Session)
			}
			if err == nil && !known.has(name, &a.Facts[0]) &&
				!known.has(name, &a.Facts[len(a.Facts)-1]) {
				list = append(list, a)
			}
			return err
		}
		if err := s.turnsWith(view, name, seqs[name], see); err != nil {
			return nil, err
		}
	}
	best := func(x, y Answer) int {
		return cmp.Or(cmp.Compare(y.score, x.score), y.Time.Compare(x.Time))
	}
	slices.SortStableFunc(list, best)
	for i := range list { // those that are as good as the last of the best
		if i >= q.Limit && list[i].score < list[q.Limit-1].score {
			list = list[:i]
			break
		}
		e, err := s.Header(list[i].Entry)
		if err != nil {
			return nil, err
		}
		list[i].Time = e.Time
	}
	slices.SortStableFunc(list, best)
	return list[:min(len(list), q.Limit)], nil
}

// tellers returns the sessions with the best messages for some clues, and the seqs of these, if the
// clues that the index knows are enough. A subagent of the session that asks is none of them.
func (s *Reader) tellers(
	view *refs.View, clues *search.Clues, session string, enough func(known search.Sight) bool,
) (seqs map[string][]uint64, tellers []string, err error) {
	var hits []search.Hit
	err = s.withNearIndex(view, func(sources []search.Source) error {
		if err := clues.Weigh(sources); err != nil || !enough(clues.Known()) {
			return err
		}
		query, err := clues.Query()
		if err == nil {
			hits, err = search.Rank(sources, query, search.Options{Limit: maxTold})
		}
		return err
	})
	if errors.Is(err, search.ErrNoTerms) {
		err = nil
	}
	seqs = map[string][]uint64{}
	for _, h := range hits {
		if strings.HasPrefix(h.Session, session+".") {
			continue
		}
		if seqs[h.Session] == nil {
			tellers = append(tellers, h.Session)
		}
		seqs[h.Session] = append(seqs[h.Session], h.Seq)
	}
	return seqs, tellers[:min(len(tellers), maxTellers)], err
}

// turnsWith calls see for the turns of a session that have one of some messages.
func (s *Reader) turnsWith(
	view *refs.View, session string, seqs []uint64,
	see func(t *sessions.Turn, root brief.Root) error,
) error {
	name, tip, err := mainOf(view, session)
	if err != nil {
		return err
	}
	// The last turn of what a digest has may go on after it.
	facts, root := s.FactsBefore(name, tip.ID)
	turns := sessions.TurnsOf(facts, root)
	if len(turns) == 0 || slices.Max(seqs) >= turns[len(turns)-1].Seq {
		if facts, root, _, err = s.AllFacts(name, tip); err != nil {
			return err
		}
		s.NoteTip(name, tip.ID)
		turns = sessions.TurnsOf(facts, root)
	}
	for i := range turns {
		t := &turns[i]
		if slices.ContainsFunc(seqs, func(n uint64) bool { return n >= t.Seq && n <= t.Last() }) {
			if err := see(t, root); err != nil {
				return err
			}
		}
	}
	return nil
}

// knowledge is what the model of a session knows.
type knowledge struct {
	session string
	// since is the seq of the newest summary of its client, which took the place of the rest.
	since uint64
	said  map[string]bool // by people since then: another session may have copies
}

func (s *Reader) contextOf(view *refs.View, session string) (*knowledge, error) {
	c := &knowledge{session: session, said: map[string]bool{}}
	if !view.Get(history.RefName(session, history.MainBranch)).Exists() {
		return c, nil
	}
	acts, _, err := s.actsOf(view, session)
	for _, f := range acts.Facts {
		if f.Kind == digest.Recap {
			c.since = f.Seq
		}
	}
	for _, f := range acts.Facts {
		if f.Seq >= c.since && f.Kind == digest.Prompt {
			c.said[f.Text] = true
		}
	}
	return c, err
}

// has reports whether a model knows a fact of a session. It does not know the notes of a person,
// who writes them elsewhere.
func (c *knowledge) has(session string, f *digest.Fact) bool {
	return session == c.session && f.Seq >= c.since && f.Kind != digest.Told || c.said[f.Text]
}

// see looks for the words of the turn that have most of the clues.
func (a *Answer) see(clues *search.Clues, root brief.Root) {
	for i := range a.Facts {
		f, who, text := &a.Facts[i], "the agent said", a.Facts[i].Text
		switch f.Kind {
		case digest.Prompt:
			who = ""
		case digest.Edit:
			who, text = "", f.Path
		case digest.Decision, digest.Told:
			who = "the user said"
		case digest.Answer, digest.Said, digest.Noted:
		default:
			continue
		}
		for _, next := range a.Facts[i+1 : min(i+maxTogether, len(a.Facts))] {
			if next.Seq == f.Seq && next.Kind == f.Kind && f.Kind != digest.Edit {
				text += " " + next.Text
			}
		}
		if score := answers(clues, clues.In(text)); score > a.score {
			a.score, a.Said, a.Who, a.In = score, "", who, f.Entry
			if who != "" {
				a.Said = harmless(root.Shorten(text))
			}
		}
	}
	if a.score == 0 {
		return
	}
	matched := a.Said != ""
	for i := range a.Facts {
		if f := &a.Facts[i]; f.Kind == digest.Answer && !f.Slight && !matched &&
			(a.Said == "" || prose.IsBare(a.Said)) {
			a.Said, a.Who, a.In = harmless(root.Shorten(f.Text)), "the agent said", f.Entry
		}
	}
	if a.Said == "" && len(a.Edited)+len(a.Checked)+len(a.Commits) == 0 {
		a.score = 0 // nothing came of it
	}
	a.Wanted = harmless(a.Wanted)
	for _, list := range [][]string{a.Edited, a.Checked, a.Commits} {
		for i := range list {
			list[i] = harmless(list[i])
		}
	}
}

// Objection is what was said after an answer of a model against it. The zero Objection is none.
type Objection struct {
	By         format.ID // the message
	Overturned bool      // the model takes the answer back; else the user doubts it
}

// Verb says what the message does to the answer.
func (o Objection) Verb() string {
	if o.Overturned {
		return "overturned"
	}
	return "doubted"
}

// markObjections says of each hit that is the answer of a turn whether the next turn begins with an
// objection to it.
func (s *Reader) markObjections(view *refs.View, q SearchQuery, hits []Hit) error {
	mayBe := func(h Hit) bool {
		return h.Cluster == nil && h.Shown != nil && isAnswer(h.Shown.Entry)
	}
	if !slices.ContainsFunc(hits, mayBe) {
		return nil
	}
	return s.withIndex(view, q, func(sources []search.Source) error {
		for i := range hits {
			h := &hits[i]
			if !mayBe(*h) {
				continue
			}
			var err error
			if h.Objection, err = s.objection(sources, h); err != nil {
				return err
			}
		}
		return nil
	})
}

// isAnswer reports whether an entry may be the last one of a turn: words of a model without a call.
func isAnswer(e *format.Entry) bool {
	return e.Kind == format.KindMessage && e.Role == transcript.RoleModel && len(e.Calls) == 0
}

// maxReply is how many messages after an answer the reply to it is looked for.
const maxReply = 12

// objection returns the objection to a hit: of the next prompt, or of the model's first words after
// that.
func (s *Reader) objection(sources []search.Source, h *Hit) (o Objection, err error) {
	list, err := search.After(sources, h.Session, h.Shown.Entry.Seq, maxReply)
	asked := false
	for i := 0; i < len(list) && err == nil; i++ {
		d := &list[i]
		if d.Rewound != h.Rewound {
			continue
		}
		e, fault := s.Header(d.ID)
		switch {
		case fault != nil:
			return o, fault
		case e.Kind != format.KindMessage:
		case e.Role == transcript.RoleUser && !asked:
			asked = true
			err = s.objects(&o, d, prose.Doubts)
		case e.Role == transcript.RoleModel:
			if asked {
				err = s.objects(&o, d, prose.Concedes)
			}
			return o, err // without a prompt the turn went on
		}
	}
	return o, err
}

// objects sets the objection to a message if one of its sentences objects.
func (s *Reader) objects(o *Objection, d *search.Document, is func(sentence string) bool) error {
	shown, err := s.Version(d.ID, d.Version)
	if err != nil || shown.Gone != "" {
		return err
	}
	var facts digest.Digester
	facts.Add([]digest.Message{summaries.DigestMessage(shown)})
	for _, f := range facts.Facts() {
		switch f.Kind {
		case digest.Prompt, digest.Answer, digest.Said:
			if is(f.Text) {
				*o = Objection{d.ID, shown.Entry.Role == transcript.RoleModel}
			}
		}
	}
	return nil
}

// Saying is something that somebody told to heed: a note, a rule, a decision, or what the user said
// to a call that was refused.
type Saying struct {
	What  string // whose words they are, and of what kind
	Text  string
	Entry format.ID
	Time  time.Time
}

// FileQuery says what AboutFile looks for.
type FileQuery struct {
	Path    string // of the file, absolute or from the project
	Session string // that asks: what its context still has is left out
	Given   func(id format.ID) bool
	Limit   int
}

// AboutFile returns what somebody told to heed of a file, by its name or that of a directory that
// it is in: the newest first, at most q.Limit. Notes that a newer one supersedes are left out.
func (s *Reader) AboutFile(view *refs.View, q FileQuery) ([]Saying, error) {
	project := brief.NewRoot("", filepath.Dir(filepath.Dir(s.Dir)))
	file := fileNamed(project.Name(filepath.ToSlash(q.Path)))
	seqs, tellers, err := s.tellers(view, search.NamesOf(file.names()...), q.Session,
		func(known search.Sight) bool { return known.N > 0 })
	if err != nil || len(tellers) == 0 {
		return nil, err
	}
	known, err := s.contextOf(view, q.Session)
	if err != nil {
		return nil, err
	}
	var list []Saying
	notes := false
	for _, name := range tellers {
		err := s.turnsWith(view, name, seqs[name], func(t *sessions.Turn, root brief.Root) error {
			for i := range t.Facts {
				f, what := file.toldIn(t.Facts, i)
				if what == "" || known.has(name, f) || q.Given(f.Entry) {
					continue
				}
				e, err := s.Header(f.Entry)
				if err != nil {
					return err
				}
				notes = notes || f.IsNote()
				list = append(list,
					Saying{what, harmless(root.Shorten(f.Text)), f.Entry, e.Time})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if notes {
		newer, err := s.newerNotes(view, SearchQuery{})
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list,
			func(o Saying) bool { return !newer[o.Entry.String()].IsZero() })
	}
	slices.SortStableFunc(list, func(a, b Saying) int { return b.Time.Compare(a.Time) })
	return list[:min(len(list), q.Limit)], nil
}

// fileName is the path of a file from the root of its project, with slashes.
type fileName string

func fileNamed(p string) fileName { return fileName(strings.TrimPrefix(path.Clean(p), "./")) }

// names returns the names by which people know the file: its own, and those of the directories that
// it is in, but not of those that are one word.
func (f fileName) names() []string {
	list := []string{path.Base(string(f))}
	for dir := path.Dir(string(f)); strings.Contains(strings.Trim(dir, "/"), "/"); {
		list = append(list, dir)
		dir = path.Dir(dir)
	}
	return list
}

// in reports whether a text names the file, or a directory that it is in.
func (f fileName) in(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`/\._-+@`, r)
	}) {
		word = strings.Trim(strings.ReplaceAll(word, `\`, "/"), "./-")
		own := "/" + strings.TrimLeft(string(f), "./")
		switch {
		case word == "":
		case strings.HasSuffix(own, "/"+word), strings.HasSuffix("/"+word, own),
			strings.Contains(word, "/") && strings.Contains(own, "/"+word+"/"):
			return true
		}
	}
	return false
}

// maxTaken is how many facts after a refusal the user's words to it are looked for.
const maxTaken = 4

// toldIn returns what somebody told to heed of the file in a fact, or in the words that go with it,
// and whose words these are; "" for nothing. The facts are a part of those of their branch.
func (f fileName) toldIn(facts []digest.Fact, at int) (fact *digest.Fact, whose string) {
	fact = &facts[at]
	if !f.in(fact.Text) {
		return nil, ""
	}
	switch fact.Kind {
	case digest.Told:
		return fact, "the user noted, " + fact.Key + ","
	case digest.Noted:
		return fact, "the agent noted, " + fact.Key + ","
	case digest.Prompt:
		if prose.IsRule(fact.Text) {
			return fact, "the user said"
		}
	case digest.Decision:
		if !strings.HasPrefix(fact.Text, digest.Refused) {
			return fact, "the user decided"
		}
		// The words may be in a message of their own, which begins the next turn.
		for i := at + 1; i < min(at+maxTaken, cap(facts)); i++ {
			if next := &facts[:i+1][i]; next.Kind == digest.Prompt && next.Seq <= fact.Seq+1 {
				return next, "the user refused an edit and said"
			}
		}
	}
	return nil, ""
}
