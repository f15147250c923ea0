package sessions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// Named returns the session that a text names, the first of these that there is: the session of
// that name; for "", @ or HEAD the one that HEAD names, and for @{-N} the one that HEAD named N
// moves before; the one whose name begins so (history.Named); the one whose title and tags have all
// the words. Errors: NoSession, ErrInput, ErrNotFound, *history.AmbiguousNameError.
func (s *Reader) Named(view *refs.View, text string) (string, error) {
	bad := format.CheckName(text)
	if text != "" && bad == nil && len(view.Names("sessions/"+text+"/")) > 0 {
		return text, nil
	}
	if text == "" || text == "@" || text == "HEAD" {
		return HEAD(view)
	}
	if n, ok := strings.CutPrefix(text, before); ok {
		if steps, err := strconv.Atoi(strings.TrimSuffix(n, "}")); err == nil && steps > 0 {
			return s.headBefore(view, steps)
		}
	}
	name, err := "", fmt.Errorf("%w: session %q: %w", history.ErrInput, history.Clip(text), bad)
	if bad == nil {
		if name, err = history.Named(view, text); err == nil {
			return name, nil
		}
	}
	var several *history.AmbiguousNameError
	if bad == nil && (history.WasRemoved(view, text) ||
		!errors.Is(err, history.ErrNotFound) && !errors.As(err, &several)) {
		return "", err
	}
	list, wrong := s.Overviews(view)
	if wrong != nil {
		return "", wrong
	}
	var found []Overview
	for _, o := range list {
		if several != nil && strings.HasPrefix(o.Name, text) ||
			several == nil && prose.Tells(text) && o.HasWords(strings.Fields(text), true) {
			found = append(found, o)
		}
	}
	for _, better := range []func(o *Overview) bool{
		func(o *Overview) bool { return strings.EqualFold(o.Title, text) },
		func(o *Overview) bool { return o.Parent == nil },
		func(o *Overview) bool { _, shared := history.Owner(view, o.Name); return !shared },
	} {
		var some []Overview
		for i := range found {
			if better(&found[i]) {
				some = append(some, found[i])
			}
		}
		if len(some) > 0 && several == nil {
			found = some
		}
	}
	switch len(found) {
	case 0:
		if e := s.entryNamed(view, text); e != nil {
			err = fmt.Errorf("%w: %q is a %s of session %s: name the session", history.ErrInput,
				history.Clip(text), e.Kind, s.Titled(view, e.Session))
		}
		return "", err
	case 1:
		return found[0].Name, nil
	}
	several = &history.AmbiguousNameError{Prefix: text}
	for _, o := range found {
		several.Names = append(several.Names, o.named(view))
	}
	return "", several
}

// entryNamed returns the entry of a short or a whole id, or nil.
func (s *Reader) entryNamed(view *refs.View, text string) *format.Entry {
	if strings.Trim(text, "0123456789abcdef") != "" {
		return nil
	}
	id, err := s.clusters.ResolveObject(view, text)
	if err != nil {
		return nil
	}
	e, _ := s.Header(id) // nil with an error
	return e
}

// before begins the sign for the session that HEAD named some moves before.
const before = "@{-"

// IsSign reports whether a text stands for a session by where HEAD is or was. No session can be
// named so by a command.
func IsSign(text string) bool {
	return text == "@" || text == "HEAD" || strings.HasPrefix(text, before)
}

// Titled returns the name of a session for a person, in one line: a name that was shortened has the
// title with it.
func (s *Reader) Titled(view *refs.View, name string) string {
	list, err := s.Overviews(view)
	i := slices.IndexFunc(list, func(o Overview) bool { return o.Name == name })
	if err != nil || i < 0 || ShortName(view, name) == name {
		return name
	}
	return list[i].named(view)
}

// named returns the short name of a session, and its title.
func (o *Overview) named(view *refs.View) string {
	return ShortName(view, o.Name) + " (" + titleIn(o.Title) + ")"
}

// titleIn returns as much of a title as an error with several of them has room for.
func titleIn(title string) string {
	const most = 40
	if title == "" {
		return "no prompt"
	}
	if utf8.RuneCountInString(title) > most {
		title = string([]rune(title)[:most-1]) + "…"
	}
	return title
}

// NamedOr is Named, but returns text itself where there is no such session: the caller has an
// answer of its own for that.
func (s *Reader) NamedOr(view *refs.View, text string) (string, error) {
	name, err := s.Named(view, text)
	if text != "" && errors.Is(err, history.ErrNotFound) {
		return text, nil
	}
	return name, err
}

// Past returns the session that a name means among all that the log has a change of, though an undo
// may have taken all of it back: that of the name, or else the only one that begins so, besides its
// subagents; "" for none. No name means the session of the last change.
func (s *Reader) Past(view *refs.View, name string) (session string, err error) {
	one := true
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		switch of := r.Op.Session; {
		case of == name || name == "" && of != "":
			session, one = of, true
			return false
		case len(name) < history.MinPrefix || !strings.HasPrefix(of, name):
		case session == "" || strings.HasPrefix(session, of+"."):
			session = of
		default:
			one = one && (of == session || strings.HasPrefix(of, session+"."))
		}
		return true
	})
	if !one {
		return "", err
	}
	return session, err
}

// headBefore returns the session that HEAD named before the last so many of its moves. One that was
// removed does not count.
func (s *Reader) headBefore(view *refs.View, steps int) (name string, err error) {
	now, left := view.Get("HEAD").Name, steps
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			if u.Name == "HEAD" && u.Old.Name != "" && u.Old.Name != now &&
				len(view.Names("sessions/"+u.Old.Name+"/")) > 0 {
				now = u.Old.Name
				left--
			}
		}
		return left > 0
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%w: HEAD named no other session %d times before", history.NoStep, steps)
	}
	return now, err
}

// minPrefix is the number of letters from which on the beginning of a word stands for it in the
// name of a session, as that of an id does. A slip of one letter names no session.
const minPrefix = 4

// HasWords reports whether a session has each of some words: at the beginning of a word of its
// title or of a tag, or of its name. "#word" is a tag. Capitals and accents do not matter. With
// whole, a word of fewer than four letters stands for itself alone.
func (o *Overview) HasWords(words []string, whole bool) bool {
	folded := func(s string) string { return search.Fold(strings.ToLower(s)) }
	title, tags := folded(o.Title), folded(" #"+strings.Join(o.About.Tags, " #"))
	for _, word := range words {
		word = folded(word)
		whole := whole && utf8.RuneCountInString(word) < minPrefix
		if !hasWord(title, word, whole) && !hasWord(tags, word, whole) &&
			!strings.HasPrefix(strings.ToLower(o.Name), word) {
			return false
		}
	}
	return len(words) > 0
}

// hasWord reports whether a text has a word at the beginning of one of its own, or as a whole one;
// beside letters beyond ASCII, which need no blanks between words, anywhere.
func hasWord(text, word string, whole bool) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; word != ""; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		first, n := utf8.DecodeRuneInString(text[at:])
		if first >= utf8.RuneSelf || (at == 0 || !inWord(before)) && !(whole && inWord(after)) {
			return true
		}
		at += n
	}
	return false
}
