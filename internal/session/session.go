// Package session opens the rooms of a store, each over those below it.
package session

import (
	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Store is an open store with its rooms.
type Store struct {
	*store.Opened
	Epochs       *epochs.Writer
	Clusters     *clusters.Writer
	Summaries    *summaries.Writer
	Conversation *conversation.Writer
	State        *state.Writer
	Edits        *edits.Writer
	Recall       *recall.Reader
	Blame        *blame.Reader
	Compaction   *compaction.Writer
	Exporter     *exporter.Reader
	Importer     *importer.Writer
	ForestFile   *forestfile.Writer
}

// New opens the rooms of a store. From now on the whole program also looks for the patterns of
// secrets in the store's settings.
func New(r *repo.Repo) *Store {
	if r.Config != nil {
		if err := sanitize.UsePatterns(r.Config.Sanitize.Extra); err != nil {
			panic("session: a pattern that the settings let through: " + err.Error())
		}
	}
	s := &Store{Opened: store.Open(r)}
	s.Epochs = epochs.New(s.Store)
	s.Clusters = clusters.New(s.Store)
	s.Summaries = summaries.New(s.Store, s.Clusters)
	s.Conversation = conversation.New(s.Store, s.Clusters, s.Epochs, s.Summaries)
	s.State = state.New(s.Store)
	s.Edits = edits.New(s.Store, s.Clusters, s.Epochs, s.Summaries)
	s.Store.OnCollect(s.Edits.DropAnswers)
	s.Recall = recall.NewReader(s.History, s.Clusters.Reader, s.Edits.Reader, s.Epochs.Reader,
		s.Summaries.Reader)
	s.Blame = blame.NewReader(s.History)
	s.Compaction = compaction.New(s.Store, s.Clusters, s.Epochs, s.Summaries,
		s.Conversation, s.Recall.Tokens)
	s.Exporter = exporter.New(s.History, s.State.Reader, s.Edits.Reader)
	s.Importer = importer.New(s.Store, s.Clusters, s.Epochs, s.Conversation, s.Edits, s.Exporter,
		s.State)
	s.ForestFile = forestfile.New(s.Store, s.Clusters, s.Epochs, s.Conversation)
	return s
}
