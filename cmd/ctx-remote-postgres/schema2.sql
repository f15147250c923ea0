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
