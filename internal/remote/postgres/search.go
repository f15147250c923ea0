package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// maxWords is how many bytes of a text the index of words takes. PostgreSQL refuses a tsvector of
// more than 1 MiB; a text of this length, in which each compound counts with its parts, stays
// below.
const maxWords = 256 << 10

// indexBatch is the most messages of one transaction.
const indexBatch = 500

// Index implements remote.Searcher. Each batch of 500 messages is one transaction.
func (r *Remote) Index(ctx context.Context, messages []remote.Message) error {
	for len(messages) > 0 {
		n := min(len(messages), indexBatch)
		if err := r.index(ctx, messages[:n]); err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}

func (r *Remote) index(ctx context.Context, messages []remote.Message) error {
	var stores, ids, sessions, roles, texts, words []string
	var times []time.Time
	seen := map[[2]string]bool{}
	for _, m := range messages {
		// A statement may not meet a row twice.
		if key := [2]string{m.Store, m.ID}; seen[key] {
			continue
		} else {
			seen[key] = true
		}
		if err := r.month(ctx, m.At); err != nil {
			return err
		}
		text := storable(m.Text)
		stores, ids, sessions = append(stores, storable(m.Store)), append(ids, storable(m.ID)),
			append(sessions, storable(m.Session))
		times, roles, texts = append(times, m.At.UTC()), append(roles, storable(m.Role)),
			append(texts, text)
		words = append(words, cut(text, maxWords))
	}
	_, err := r.do(ctx, `insert into ctx.messages (team, store, id, session, at, role, text, tsv)
		select $1::text, t.store, t.id, t.session, t.at, t.role, t.text, to_tsvector('english', t.words)
		from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text[]) as t (store, id, session, at, role, text, words)
		on conflict (team, store, id, at) do update
		set session = excluded.session, role = excluded.role, text = excluded.text, tsv = excluded.tsv`,
		r.team, stores, ids, sessions, times, roles, texts, words)
	return err
}

// month has the server make the partition of a time, once.
func (r *Remote) month(ctx context.Context, at time.Time) error {
	month := at.UTC().Format("2006-01")
	if r.months[month] {
		return nil
	}
	if _, err := r.do(ctx, "select ctx.month($1, $2)", r.team, at.UTC()); err != nil {
		return err
	}
	r.months[month] = true
	return nil
}

// storable makes a text one that PostgreSQL takes: UTF-8 without zero bytes.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "")
}

// cut returns at most n bytes of a text, without half a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Forget implements remote.Searcher. The rows are gone for every reader. Their bytes are on the
// server's disk until it vacuums the table, and in its log and backups for as long as these are
// kept.
func (r *Remote) Forget(ctx context.Context, store string, ids []string) error {
	_, err := r.do(ctx, "delete from ctx.messages where team = $1 and store = $2 and id = any($3)",
		r.team, store, ids)
	return err
}

// Search implements remote.Searcher. It ranks the newest 1,000 messages that match.
func (r *Remote) Search(ctx context.Context, query string, n int) ([]remote.Hit, error) {
	if len(query) > remote.MaxQuery {
		return nil, fmt.Errorf("a query of %d bytes: at most %d", len(query), remote.MaxQuery)
	}
	if err := r.connected(ctx); err != nil {
		return nil, err
	}
	rows, err := r.conn.Query(ctx,
		"select id, store, session, at, role, rank::double precision, coalesce(excerpt, '') from "+
			"ctx.search($1, $2, $3)",
		r.team, storable(query), min(max(n, 0), remote.MaxHits))
	if err != nil {
		return nil, r.explain(err)
	}
	hits, err := pgx.CollectRows(rows, pgx.RowToStructByPos[remote.Hit])
	for i := range hits {
		hits[i].At = hits[i].At.UTC()
	}
	return hits, r.explain(err)
}
