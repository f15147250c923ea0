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
