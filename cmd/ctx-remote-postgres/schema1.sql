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
