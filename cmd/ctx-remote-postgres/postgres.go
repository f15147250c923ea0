package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// insufficientPrivilege is the SQLSTATE of a refused right, which a violated policy has, too.
const insufficientPrivilege = "42501"

// database is a team's part of a database of PostgreSQL 15 or newer, for teams with more stores and
// messages than files on a server carry. It keeps files in one table and messages, with an index of
// their words, in another. The server keeps teams apart by row-level security, so a role that was
// not granted a team sees nothing of it, whatever program it uses.
//
// It implements remote.Remote, remote.Searcher and remote.Checker. Every verb is one transaction,
// which is durable when the verb returns. A connection that was lost is made again by the next
// verb.
type database struct {
	config *pgx.ConnConfig
	team   string
	conn   *pgx.Conn
	months map[string]bool // partitions that are there
}

// openDatabase connects to postgres://USER@HOST/DATABASE?team=TEAM. Other parameters are those of
// libpq, and so are the variables and files for what the URL does not say. Errors name no password.
func openDatabase(ctx context.Context, url string) (*database, error) {
	r, err := connect(ctx, url, true)
	if err != nil {
		return nil, err
	}
	if err := r.admitted(ctx); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// admitted returns an error unless the role may use the team.
func (r *database) admitted(ctx context.Context) error {
	if err := r.checkVersion(ctx); err != nil {
		return err
	}
	var granted bool
	err := r.conn.QueryRow(ctx,
		"select exists (select from ctx.grants where team = $1 and pg_has_role(current_user, "+
			"role, 'member'))", r.team).Scan(&granted)
	switch {
	case err != nil:
		return r.explain(err)
	case !granted:
		return fmt.Errorf("role %q was not granted team %q", r.config.User, r.team)
	}
	return nil
}

// connect connects to the database of a URL, which needs a team if withTeam is set.
func connect(ctx context.Context, address string, withTeam bool) (*database, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil,
			errors.New("the URL does not have the form postgres://USER@HOST/DATABASE?team=TEAM")
	}
	query := u.Query()
	team := query.Get("team")
	if withTeam && !teamName.MatchString(team) {
		if team == "" {
			return nil, errors.New("the URL has no team: add ?team=NAME")
		}
		return nil, badTeam(team)
	}
	query.Del("team")
	u.RawQuery = query.Encode()
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		// The library's words repeat parts of the URL.
		return nil, errors.New("the URL, or a PG variable, is not as libpq has it")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 15 * time.Second
	}
	// A default of the database or the role must not weaken what the verbs promise.
	config.RuntimeParams["synchronous_commit"] = "on"
	config.RuntimeParams["application_name"] = "ctx-remote-postgres"
	r := &database{config: config, team: team, months: map[string]bool{}}
	return r, r.connected(ctx)
}

// connected makes a connection if there is none.
func (r *database) connected(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.conn != nil && !r.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, r.config)
	if err != nil {
		return r.explain(err)
	}
	var server int
	if err := conn.QueryRow(ctx,
		"select current_setting('server_version_num')::integer").Scan(&server); err != nil {
		_ = conn.Close(ctx)
		return r.explain(err)
	}
	if server < leastServer {
		_ = conn.Close(ctx)
		return fmt.Errorf("the server is PostgreSQL %d, 15 is the oldest that will do",
			server/10000)
	}
	r.conn = conn
	return nil
}

// explain makes an error of the library one of a remote: temporary if the server could not be
// reached or was busy, and without the password.
func (r *database) explain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if p := r.config.Password; p != "" {
		text = strings.ReplaceAll(text, p, "***")
	}
	text = strings.Join(strings.Fields(text), " ")
	var refused *pgconn.PgError
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, new(*tls.CertificateVerificationError)):
	case errors.As(err, &refused) && refused.Code == insufficientPrivilege:
		return fmt.Errorf("role %q may not do this in team %q: %s", r.config.User, r.team, text)
	case errors.As(err, &refused):
		switch refused.Code[:2] {
		case "08", "40", "53", "55", "57", "58":
			return fmt.Errorf("%w: %s", remote.ErrTemporary, text)
		}
	case errors.As(err, new(*pgconn.ConnectError)), errors.As(err, &network), r.conn == nil,
		r.conn.IsClosed():
		return fmt.Errorf("%w: %s", remote.ErrTemporary, text)
	}
	return errors.New(text)
}

// do runs one statement and returns the number of rows that it changed.
func (r *database) do(ctx context.Context, sql string, args ...any) (int64, error) {
	if err := r.connected(ctx); err != nil {
		return 0, err
	}
	tag, err := r.conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), r.explain(err)
}

// List implements remote.Remote.
func (r *database) List(ctx context.Context, prefix string) ([]remote.File, error) {
	if err := r.connected(ctx); err != nil {
		return nil, err
	}
	sql, args :=
		"select name, size, encode(digest, 'hex') from ctx.files where team = $1 order by name",
		[]any{r.team}
	if prefix != "" {
		if err := remote.CheckName(strings.TrimSuffix(prefix, "/")); err != nil ||
			!strings.HasSuffix(prefix, "/") {
			return nil, fmt.Errorf("bad prefix %.80q", prefix)
		}
		// "0" is the character after the slash.
		sql = "select name, size, encode(digest, 'hex') from ctx.files where team = $1 and name " +
			">= $2 and name < $3 order by name"
		args = append(args, prefix, strings.TrimSuffix(prefix, "/")+"0")
	}
	rows, _ := r.conn.Query(ctx, sql, args...) // CollectRows returns its error
	files, err := pgx.CollectRows(rows, pgx.RowToStructByPos[remote.File])
	return files, r.explain(err)
}

// Get implements remote.Remote.
func (r *database) Get(ctx context.Context, name string) ([]byte, error) {
	if err := remote.CheckName(name); err != nil {
		return nil, err
	}
	if err := r.connected(ctx); err != nil {
		return nil, err
	}
	var data []byte
	err := r.conn.QueryRow(ctx,
		"select substring(content for $3) from ctx.files where team = $1 and name = $2",
		r.team, name, remote.MaxFile).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", remote.ErrNotFound, name)
	}
	return data, r.explain(err)
}

const insert = "insert into ctx.files (team, name, content) values ($1, $2, $3) on conflict do nothing"

// PutNew implements remote.Remote.
func (r *database) PutNew(ctx context.Context, name string, data []byte) error {
	if err := remote.CheckName(name); err != nil {
		return err
	}
	digest := sha256.Sum256(data)
	for range 10 { // a file that another client removes between the two statements is put again
		if n, err := r.do(ctx, insert, r.team, name, notNil(data)); err != nil || n == 1 {
			return err
		}
		var same bool
		err := r.conn.QueryRow(ctx,
			"select digest = $3 from ctx.files where team = $1 and name = $2", r.team, name,
			digest[:]).Scan(&same)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			continue
		case err != nil:
			return r.explain(err)
		case !same:
			return fmt.Errorf("%w: %s", remote.ErrExists, name)
		}
		return nil
	}
	return fmt.Errorf("%w: %s is put and removed again and again", remote.ErrTemporary, name)
}

// notNil keeps an empty file from becoming a null.
func notNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// Swap implements remote.Remote. An update waits for another one of the same row, and then looks at
// its digest again.
func (r *database) Swap(ctx context.Context, name string, old, new []byte) error {
	if err := remote.CheckName(name); err != nil {
		return err
	}
	var n int64
	var err error
	if old == nil {
		n, err = r.do(ctx, insert, r.team, name, notNil(new))
	} else {
		digest := sha256.Sum256(old)
		n, err = r.do(ctx,
			"update ctx.files set content = $3 where team = $1 and name = $2 and digest = $4",
			r.team, name, notNil(new), digest[:])
	}
	if err == nil && n == 0 {
		return fmt.Errorf("%w: %s", remote.ErrStale, name)
	}
	return err
}

// Delete implements remote.Remote.
func (r *database) Delete(ctx context.Context, names []string) error {
	if err := errors.Join(lists.Map(names, remote.CheckName)...); err != nil {
		return err
	}
	_, err := r.do(ctx, "delete from ctx.files where team = $1 and name = any($2)", r.team, names)
	return err
}

// Check implements remote.Checker: the server keeps what it acknowledges, and the tables are those
// that the policies guard.
func (r *database) Check(ctx context.Context) error {
	if err := r.connected(ctx); err != nil {
		return err
	}
	var fsync, commit string
	var guarded int
	err := r.conn.QueryRow(ctx,
		`select current_setting('fsync'), current_setting('synchronous_commit'), (select count(*) from pg_class
		where oid in ('ctx.files'::regclass, 'ctx.messages'::regclass, 'ctx.grants'::regclass) and relrowsecurity and relforcerowsecurity)`).Scan(&fsync, &commit, &guarded)
	switch {
	case err != nil:
		return r.explain(err)
	case fsync != "on" || commit != "on":
		return fmt.Errorf(
			"the server may lose what it has acknowledged: fsync is %s, synchronous_commit is %s",
			fsync, commit)
	case guarded != 3:
		return errors.New(
			"row-level security is off: anybody with a right to the tables sees all teams")
	}
	return r.admitted(ctx)
}

// Close implements remote.Remote.
func (r *database) Close() error {
	if r.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = r.conn.Close(ctx) // everything was committed
	r.conn = nil
	return nil
}

// maxWords is how many bytes of a text the index of words takes. PostgreSQL refuses a tsvector of
// more than 1 MiB; a text of this length, in which each compound counts with its parts, stays
// below.
const maxWords = 256 << 10

// indexBatch is the most messages of one transaction.
const indexBatch = 500

// Index implements remote.Searcher. Each batch of 500 messages is one transaction.
func (r *database) Index(ctx context.Context, messages []remote.Message) error {
	for len(messages) > 0 {
		n := min(len(messages), indexBatch)
		if err := r.index(ctx, messages[:n]); err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}

func (r *database) index(ctx context.Context, messages []remote.Message) error {
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
func (r *database) month(ctx context.Context, at time.Time) error {
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
func (r *database) Forget(ctx context.Context, store string, ids []string) error {
	_, err := r.do(ctx, "delete from ctx.messages where team = $1 and store = $2 and id = any($3)",
		r.team, store, ids)
	return err
}

// Search implements remote.Searcher. It ranks the newest 1,000 messages that match.
func (r *database) Search(ctx context.Context, query string, n int) ([]remote.Hit, error) {
	if len(query) > remote.MaxQuery {
		return nil, fmt.Errorf("a query of %d bytes: at most %d", len(query), remote.MaxQuery)
	}
	if err := r.connected(ctx); err != nil {
		return nil, err
	}
	rows, _ := r.conn.Query(ctx, // CollectRows returns its error
		"select id, store, session, at, role, rank::double precision, coalesce(excerpt, '') from "+
			"ctx.search($1, $2, $3)",
		r.team, storable(query), min(max(n, 0), remote.MaxHits))
	hits, err := pgx.CollectRows(rows, pgx.RowToStructByPos[remote.Hit])
	for i := range hits {
		hits[i].At = hits[i].At.UTC()
	}
	return hits, r.explain(err)
}
