// Package session opens the rooms of a store, each over those below it.
package session

import (
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/exchange"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Store is an open store with its rooms.
type Store struct {
	*repo.Repo
	History      *history.Reader
	Store        *store.Store
	Epochs       *epochs.Writer
	Clusters     *clusters.Writer
	Summaries    *summaries.Writer
	Conversation *conversation.Writer
	Edits        *edits.Writer
	Recall       *recall.Reader
	Compaction   *compaction.Writer
	Exchange     *exchange.Writer
}

// New opens the rooms of a store. From now on the whole program also looks for the patterns of
// secrets in the store's settings.
func New(r *repo.Repo) *Store {
	if r.Config != nil {
		if err := sanitize.UsePatterns(r.Config.Sanitize.Extra); err != nil {
			panic("session: a pattern that the settings let through: " + err.Error())
		}
	}
	s := &Store{Repo: r, History: history.NewReader(r)}
	h := s.History
	s.Store = store.New(r, h)
	s.Epochs = epochs.NewWriter(epochs.NewReader(h), s.Store)
	s.Clusters = clusters.NewWriter(clusters.NewReader(h), s.Store)
	s.Summaries = summaries.NewWriter(summaries.NewReader(h, s.Clusters.Reader), s.Store, s.Clusters)
	s.Conversation = conversation.NewWriter(conversation.NewReader(h, s.Clusters.Reader), s.Store, s.Clusters, s.Epochs, s.Summaries)
	s.Edits = edits.NewWriter(edits.NewReader(h, s.Clusters.Reader, s.Epochs.Reader, s.Summaries.Reader), s.Store, s.Conversation, s.Summaries, s.Clusters)
	s.Recall = recall.NewReader(h, s.Clusters.Reader, s.Edits.Reader, s.Epochs.Reader, s.Summaries.Reader)
	s.Compaction = compaction.NewWriter(compaction.NewReader(h, s.Recall, s.Summaries.Reader), s.Store, s.Clusters, s.Conversation, s.Epochs, s.Summaries)
	s.Exchange = exchange.NewWriter(exchange.NewReader(h, s.Clusters.Reader, s.Conversation.Reader, s.Edits.Reader), s.Store, s.Clusters, s.Conversation, s.Epochs)
	s.Store.OnForget = append(s.Store.OnForget, s.Recall.DropSearch)
	return s
}
