package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SchemaVersion is the version of the tables that this program knows: the number of migrations.
var SchemaVersion = len(migrations)

// leastServer is the oldest server, PostgreSQL 15.
const leastServer = 150000

// lockKey is the advisory lock under which the schema changes: "ctx" and a number.
const lockKey = 0x637478_01

// migrations make each version of the schema from the one before. A migration that was released is
// never changed. docs/remote-postgres.md describes the result.
//
// The policies are what keeps teams apart: they hold for everybody but the owner and superusers,
// whatever program asks. The conditions of a search are not leakproof, so under a policy PostgreSQL
// would read all rows of a table instead of its index. Therefore ctx.search runs as the owner and
// looks itself at what its caller was granted.
var migrations = []string{`
create schema ctx;
revoke all on schema ctx from public;

create table ctx.version (version integer not null, applied timestamptz not null default now());

create table ctx.grants (
	team text collate "C" not null,
	role regrole not null,
	primary key (team, role)
);
alter table ctx.grants enable row level security, force row level security;
create policy own on ctx.grants for select using (pg_has_role(current_user, role, 'member'));
create policy owner on ctx.grants to current_user using (true) with check (true);

create table ctx.files (
	team text collate "C" not null,
	name text collate "C" not null,
	content bytea not null,
	digest bytea not null generated always as (sha256(content)) stored,
	size bigint not null generated always as (octet_length(content)) stored,
	primary key (team, name)
);
alter table ctx.files alter column content set storage external;
alter table ctx.files enable row level security, force row level security;
create policy team on ctx.files
	using (team in (select g.team from ctx.grants g where pg_has_role(current_user, g.role, 'member')))
	with check (team in (select g.team from ctx.grants g where pg_has_role(current_user, g.role, 'member')));

create table ctx.messages (
	team text collate "C" not null,
	store text collate "C" not null,
	id text collate "C" not null,
	session text not null,
	at timestamptz not null,
	role text not null,
	text text,
	tsv tsvector not null,
	primary key (team, store, id, at)
) partition by range (at);
create index messages_at on ctx.messages (team, at desc);
create index messages_words on ctx.messages using gin (tsv) with (fastupdate = off);
alter table ctx.messages enable row level security, force row level security;
create policy team on ctx.messages
	using (team in (select g.team from ctx.grants g where pg_has_role(current_user, g.role, 'member')))
	with check (team in (select g.team from ctx.grants g where pg_has_role(current_user, g.role, 'member')));
create policy owner on ctx.messages for select to current_user using (true);
create table ctx.messages_other partition of ctx.messages default;
alter table ctx.messages_other enable row level security;

-- granted says whether the login role of the session was granted the team.
create function ctx.granted(team_ text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select exists (select from ctx.grants g where g.team = team_ and pg_has_role(session_user, g.role, 'member')) $$;

-- month makes the partition of a month, unless rows of it are in the default partition already.
create function ctx.month(team_ text, day timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
	first timestamptz := date_trunc('month', day, 'UTC');
	next timestamptz := date_trunc('month', first + interval '32 days', 'UTC');
	name text := 'messages_' || to_char(first at time zone 'UTC', 'YYYY_MM');
begin
	if not ctx.granted(team_) or first < '2020-01-01' or first > now() + interval '1 day'
		or to_regclass('ctx.' || name) is not null then
		return;
	end if;
	perform pg_advisory_xact_lock(1668577281);
	if to_regclass('ctx.' || name) is not null
		or exists (select from ctx.messages_other m where m.at >= first and m.at < next) then
		return;
	end if;
	execute format('create table ctx.%I partition of ctx.messages for values from (%L) to (%L)', name, first, next);
	execute format('alter table ctx.%I enable row level security', name);
end $$;

-- search ranks the newest 2,000 messages that have the words, which bounds the work for a common word.
create function ctx.search(team_ text, words text, most integer)
returns table (id text, store text, session text, at timestamptz, role text, rank real, excerpt text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
	q tsquery := websearch_to_tsquery('english', words);
begin
	if not ctx.granted(team_) then
		return;
	end if;
	return query
	with found as materialized (
		select m.* from ctx.messages m where m.team = team_ and m.tsv @@ q order by m.at desc limit 2000
	), best as (
		select f.*, ts_rank(f.tsv, q) as points from found f order by points desc, f.at desc, f.id limit most
	)
	select b.id, b.store, b.session, b.at, b.role, b.points,
		ts_headline('english', left(b.text, 20000), q, 'StartSel="", StopSel="", MaxWords=40, MinWords=20')
	from best b order by b.points desc, b.at desc, b.id;
end $$;
revoke all on function ctx.granted(text), ctx.month(text, timestamptz), ctx.search(text, text, integer) from public;
`, `
-- pairs are the neighbours in a text: for each two words that follow each other a number of 18 bits,
-- which bounds the index. Two pairs may have one number, so whoever finds one looks at the words.
-- The cost is what the planner believes: it is to look into the index, and not to compute pairs.
create function ctx.pairs(words tsvector) returns integer[]
language sql immutable strict parallel safe cost 10000 set search_path = pg_catalog, pg_temp
as $$
	select coalesce(array_agg(distinct (hashtextextended(w.before || ' ' || w.lexeme, 0) & 262143)::integer) filter (where w.p = w.after + 1), '{}')
	from (
		select l.lexeme, p, lag(l.lexeme) over o as before, lag(p) over o as after
		from unnest(words) l, unnest(l.positions) p
		window o as (order by p)
	) w
$$;
create index messages_pairs on ctx.messages using gin (ctx.pairs(tsv)) with (fastupdate = off);

-- wanted are the pairs that a message must have to match a query, null if there are none. Only a
-- query without "or" and "not" must have all its phrases. A lexeme has no space, quotes around it,
-- and quotes in it doubled.
create function ctx.wanted(q tsquery) returns integer[]
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
	select array_agg(distinct (hashtextextended(pair.a || ' ' || pair.b, 0) & 262143)::integer)
	from regexp_split_to_table(q::text, ' & ') part,
		regexp_split_to_array(part, ' ') w,
		generate_series(1, array_length(w, 1) - 2) i,
		lateral (select replace(substr(w[i], 2, length(w[i]) - 2), '''''', '''') as a,
			replace(substr(w[i + 2], 2, length(w[i + 2]) - 2), '''''', '''') as b) pair
	where w[i + 1] = '<->' and q::text !~ '[|!()\\]'
$$;

-- search ranks the newest 2,000 messages that match. It looks month by month, the newest first, and
-- no further than it must: the server runs the parts of a "union all" one after another until it has
-- as many rows as the limit says. The index of words has no positions, so the server would look at
-- each message that has all words of a phrase; the index of pairs names those that have it. The inner
-- select with its "offset 0" keeps the condition of the phrase away from the index, whose answer the
-- server would else check row by row, pairs and all. It is why a search may use more memory: a
-- bitmap that does not fit is checked, too.
create or replace function ctx.search(team_ text, words text, most integer)
returns table (id text, store text, session text, at timestamptz, role text, rank real, excerpt text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set max_parallel_workers_per_gather = 0
set work_mem = '64MB'
as $$
declare
	q tsquery := websearch_to_tsquery('english', words);
	pairs integer[] := ctx.wanted(q);
	plain tsquery;
	part text := 'select m.* from ctx.%I m where m.team = $1 and m.tsv @@ $2 order by m.at desc limit 2000';
	months text;
begin
	if not ctx.granted(team_) then
		return;
	end if;
	if pairs is not null then
		part := 'select m.* from ctx.%I m where m.team = $1 and ctx.pairs(m.tsv) @> $3';
		if q::text ~ ' & ' then
			plain := regexp_replace(q::text, '<[^ ]*>', '&', 'g');
			part := part || ' and m.tsv @@ $5';
		end if;
		part := 'select m.* from (' || part || ' order by m.at desc offset 0) m where m.tsv @@ $2 limit 2000';
	end if;
	select string_agg('(' || format(part, c.relname) || ')', ' union all ' order by c.relname desc)
	into months
	from pg_inherits i join pg_class c on c.oid = i.inhrelid
	where i.inhparent = 'ctx.messages'::regclass and c.relname <> 'messages_other';
	return query execute format($f$
		with recent as materialized (
			select m.* from (%s) m limit 2000
		), found as materialized (
			select m.* from (table recent union all (%s)) m order by m.at desc limit 2000
		), best as (
			select f.*, ts_rank(f.tsv, $2) as points from found f order by points desc, f.at desc, f.id limit $4
		)
		select b.id, b.store, b.session, b.at, b.role, b.points,
			ts_headline('english', left(b.text, 20000), $2, 'StartSel="", StopSel="", MaxWords=40, MinWords=20')
		from best b order by b.points desc, b.at desc, b.id
	$f$, coalesce(months, 'select * from ctx.messages_other where false'), format(part, 'messages_other'))
	using team_, q, pairs, most, plain;
end $$;
revoke all on function ctx.wanted(tsquery) from public;
`, `
-- search ranks the newest 1,000 messages that match. It looks month by month, the newest first, and
-- stops when it has as many; a month that it does not need is not even planned. A phrase is looked
-- up in both indexes: that of pairs names the messages that have it, and that of words takes out
-- those where another pair has the same number. The inner select with its "offset 0" keeps the
-- condition of the phrase away from the indexes, whose answer the server would else check row by
-- row, pairs and all. It is why a search may use more memory: a bitmap that does not fit is checked,
-- too. What is in no month is few and of any time, so it is always looked at.
create or replace function ctx.search(team_ text, words text, most integer)
returns table (id text, store text, session text, at timestamptz, role text, rank real, excerpt text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set max_parallel_workers_per_gather = 0
set work_mem = '64MB'
as $$
declare
	candidates constant integer := 1000;
	q tsquery := websearch_to_tsquery('english', words);
	pairs integer[] := ctx.wanted(q);
	plain tsquery;
	matching text := 'select m.id, m.store, m.at, m.tsv from %s m where m.team = $1 and m.tsv @@ $2 order by m.at desc limit $3';
	part record;
	got record;
	missing integer;
	ids text[] := '{}';
	stores text[] := '{}';
	times timestamptz[] := '{}';
	points real[] := '{}';
begin
	if not ctx.granted(team_) then
		return;
	end if;
	if pairs is not null then
		plain := regexp_replace(q::text, '<[^ ]*>', '&', 'g');
		matching := 'select m.* from (select m.id, m.store, m.at, m.tsv from %s m
			where m.team = $1 and ctx.pairs(m.tsv) @> $4 and m.tsv @@ $5 order by m.at desc offset 0) m
			where m.tsv @@ $2 limit $3';
	end if;
	for part in
		select c.oid::regclass as name, c.relname = 'messages_other' as other
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'ctx.messages'::regclass order by c.relname = 'messages_other', c.relname desc
	loop
		missing := candidates - case when part.other then 0 else cardinality(ids) end;
		continue when missing <= 0;
		execute 'select array_agg(m.id) as ids, array_agg(m.store) as stores, array_agg(m.at) as times, array_agg(ts_rank(m.tsv, $2)) as points
			from (' || format(matching, part.name) || ') m'
		into got using team_, q, missing, pairs, plain;
		ids := ids || got.ids;
		stores := stores || got.stores;
		times := times || got.times;
		points := points || got.points;
	end loop;
	return query
	with recent as (
		select f.* from unnest(ids, stores, times, points) f (id, store, at, points) order by f.at desc limit candidates
	), best as (
		select f.* from recent f order by f.points desc, f.at desc, f.id limit most
	)
	select m.id, m.store, m.session, m.at, m.role, b.points,
		ts_headline('english', left(m.text, 20000), q, 'StartSel="", StopSel="", MaxWords=40, MinWords=20')
	from best b join ctx.messages m on m.team = team_ and m.store = b.store and m.id = b.id and m.at = b.at
	order by b.points desc, b.at desc, b.id;
end $$;
`}

// teamName is the form of a team's name.
var teamName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,62}$`)

// Init makes the tables in the database of a URL, or brings them to this version. The role of the
// URL becomes their owner; it needs to be allowed to create a schema. Running it again changes
// nothing. A newer schema is an error. It returns the version that was there before.
func Init(ctx context.Context, url string) (before int, err error) {
	return initTo(ctx, url, SchemaVersion)
}

func initTo(ctx context.Context, url string, last int) (before int, err error) {
	r, err := connect(ctx, url, false)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	tx, err := r.conn.Begin(ctx)
	if err != nil {
		return 0, r.explain(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", lockKey); err != nil {
		return 0, r.explain(err)
	}
	if before, err = version(ctx, tx); err != nil {
		return 0, r.explain(err)
	}
	if before > SchemaVersion {
		return before, newer(before)
	}
	for i := before; i < last; i++ {
		if _, err := tx.Exec(ctx, migrations[i]); err != nil {
			return before, r.explain(err)
		}
		if _, err := tx.Exec(ctx, "insert into ctx.version (version) values ($1)",
			i+1); err != nil {
			return before, r.explain(err)
		}
	}
	return before, r.explain(tx.Commit(ctx))
}

func newer(v int) error {
	return fmt.Errorf(
		"the database has version %d of the tables, this program knows %d: update "+
			"ctx-remote-postgres", v, SchemaVersion)
}

// version returns the version of the schema, 0 for none.
func version(ctx context.Context, q interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) (v int, err error) {
	var there bool
	if err := q.QueryRow(ctx,
		"select to_regclass('ctx.version') is not null").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = q.QueryRow(ctx, "select coalesce(max(version), 0) from ctx.version").Scan(&v)
	return v, err
}

// rights are what a member needs of the tables. The policies say of which rows.
const rights = `grant usage on schema ctx to %[1]s;
grant select, insert, update, delete on ctx.files, ctx.messages to %[1]s;
grant select on ctx.grants, ctx.version to %[1]s;
grant execute on function ctx.granted(text), ctx.month(text, timestamptz), ctx.search(text, text, integer) to %[1]s;`

// noRights takes them back.
const noRights = `revoke all on ctx.files, ctx.messages, ctx.grants, ctx.version from %[1]s;
revoke all on function ctx.granted(text), ctx.month(text, timestamptz), ctx.search(text, text, integer) from %[1]s;
revoke all on schema ctx from %[1]s;`

// Grant lets a role, and all roles that are its members, read and write a team. The URL's role owns
// the tables. A team needs nothing else to exist.
func Grant(ctx context.Context, url, team, role string) error {
	return admin(ctx, url, team, func(r *Remote, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			"insert into ctx.grants (team, role) select $1::text, oid from pg_roles where "+
				"rolname = $2 on conflict do nothing", team, role); err != nil {
			return err
		}
		// It fails if there is no such role.
		_, err := tx.Exec(ctx, fmt.Sprintf(rights, pgx.Identifier{role}.Sanitize()))
		return err
	})
}

// Revoke takes back what Grant gave. A connection of the role that is open sees nothing from its
// next statement on. What the role has read, it keeps.
func Revoke(ctx context.Context, url, team, role string) error {
	return admin(ctx, url, team, func(r *Remote, tx pgx.Tx) error {
		var left int
		if _, err := tx.Exec(ctx,
			"delete from ctx.grants g using pg_roles r where g.team = $1 and g.role = r.oid and "+
				"r.rolname = $2", team, role); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx,
			"select count(*) from ctx.grants g join pg_roles r on g.role = r.oid where "+
				"r.rolname = $1", role).Scan(&left); err != nil || left > 0 {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf(noRights, pgx.Identifier{role}.Sanitize()))
		return err
	})
}

// admin runs do in a transaction on a database with this version of the tables.
func admin(ctx context.Context, url, team string, do func(*Remote, pgx.Tx) error) error {
	if !teamName.MatchString(team) {
		return badTeam(team)
	}
	r, err := connect(ctx, url, false)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.checkVersion(ctx); err != nil {
		return err
	}
	return r.explain(pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error { return do(r, tx) }))
}

func badTeam(team string) error {
	return fmt.Errorf(
		"bad name of a team %.70q: a-z, 0-9, dot, dash and underscore, at most 63, and a letter "+
			"or digit first", team)
}

// checkVersion returns an error unless the database has the tables of this version.
func (r *Remote) checkVersion(ctx context.Context) error {
	v, err := version(ctx, r.conn)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == insufficientPrivilege:
		return fmt.Errorf(
			"role %q was granted no team: the owner of the tables runs `ctx-remote-postgres grant`",
			r.config.User)
	case err != nil:
		return r.explain(err)
	case v == 0:
		return fmt.Errorf("database %q has no tables of ctx: run `ctx-remote-postgres init`",
			r.config.Database)
	case v > SchemaVersion:
		return newer(v)
	case v < SchemaVersion:
		return fmt.Errorf(
			"the database has version %d of the tables, this program needs %d: run "+
				"`ctx-remote-postgres init`", v, SchemaVersion)
	}
	return nil
}
