package main

import (
	"github.com/gemini-ctx/ctx/internal/session"
)

// indexes has the search index follow what the command appends. The command calls the returned
// function when its work is done, with the number of messages that it appended. The index is
// derived data: a failure to write it is none of the command, and the next search does what is
// left.
func (a *app) indexes(s *session.Store) (finish func(appended int)) {
	g := s.Recall.NewIndexing()
	s.Conversation.Follow = g.Take
	return func(appended int) {
		if a.out.Flush() != nil || a.c.Err() != nil { // the answer comes first
			g.Stop()
			return
		}
		g.Finish(appended)
	}
}
