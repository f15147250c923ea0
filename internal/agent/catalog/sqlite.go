package catalog

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// Tables are the queries of the sessions in a database of SQLite. Each row that they return is a
// text of JSON.
type Tables struct {
	Sessions string // all, each as a Listed
	Session  string // the one whose id is ?1, as Agent.Read takes it
}

// sqliteProgram prints the rows of a query. The library that reads the files is too large for ctx.
const sqliteProgram = "ctx-import-sqlite"

// list lists the sessions by the first of the tables that the database has.
func (q *Asker) list(ctx context.Context, of []Tables, path string) (list []Listed, err error) {
	for i, tables := range of {
		if list, err = q.rows(ctx, path, tables.Sessions); err == nil || ctx.Err() != nil {
			for j := range list {
				list[j].Newer = i
			}
			return list, err
		}
	}
	return nil, err
}

func (q *Asker) rows(ctx context.Context, path, query string) (list []Listed, err error) {
	f, end, err := q.query(ctx, path, query)
	if err != nil {
		return nil, err
	}
	defer end()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, durable.MaxInput)
	for lines.Scan() {
		var one Listed
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("a row of %q is no session: %w", path, err)
		}
		if one.ID != "" {
			list = append(list, one)
		}
	}
	return list, lines.Err()
}

// query runs a query and returns its rows, a line each. end closes and removes the file.
func (q *Asker) query(
	ctx context.Context, path, query string, values ...string,
) (f *os.File, end func(), err error) {
	program, err := child.Find(sqliteProgram, q.Beside)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", sqliteProgram, ErrNoProgram)
	}
	return printed(ctx, program, "", append([]string{path, query}, values...))
}

// The queries of each agent. What they make is what the agent itself would export. Times are in
// seconds: the number of messages tells what came within one.
const (
	// Goose 1.10 and later.
	gooseSessions = `select json_object('id', id, 'directory', working_dir,
	'time_created', unixepoch(created_at) * 1000, 'time_updated', unixepoch(updated_at) * 1000 + n)
from sessions join (select session_id, count(*) as n from messages group by session_id)
	on session_id = sessions.id`

	gooseSession = `select json_object('id', id, 'working_dir', working_dir, 'name', name,
	'description', description, 'conversation', (select json_group_array(json_object(
		'id', message_id, 'role', role, 'created', created_timestamp, 'content', iif(json_valid(content_json), json(content_json), content_json),
		'metadata', json(coalesce(metadata_json, '{}'))))
	from (select * from messages where session_id = ?1 order by id)))
from sessions where id = ?1`

	// Its first versions with a database: messages are named by their numbers.
	gooseOlder = `select json_object('id', id, 'working_dir', working_dir,
	'description', description, 'conversation', (select json_group_array(json_object(
		'id', 'msg_' || ?1 || '_' || n, 'role', role, 'created', created_timestamp,
		'content', iif(json_valid(content_json), json(content_json), content_json)))
	from (select *, row_number() over (order by id) - 1 as n from messages where session_id = ?1
		order by id)))
from sessions where id = ?1`

	crushSessions = `select json_object('id', id, 'time_created', created_at * 1000,
	'time_updated', max(newest, updated_at) * 1000 + n)
from sessions join (select session_id, count(*) as n, max(updated_at) as newest from messages
	group by session_id) on session_id = sessions.id`

	// What the tables of its first year do not have is taken from the outer query.
	crushSession = `select json_object('id', id, 'title', title, 'parent', parent_session_id,
	'children', (select json_group_array(id) from sessions where parent_session_id = ?1),
	'messages', (select json_group_array(json_object('id', id, 'role', role, 'model', model,
		'created_at', created_at, 'is_summary_message', is_summary_message, 'parts', json(parts)))
	from (select * from messages where session_id = ?1 order by created_at, rowid)))
from sessions, (select 0 as is_summary_message) where id = ?1`

	// Zed since 2025: one packed document for each thread. Older tables have no folders.
	zedThreads = `with t as (select *, iif(data_type = 'zstd', unzstd(data), cast(data as text)) as doc
	from threads) `

	zedSessions = zedThreads + `select json_object('id', id, 'directory', coalesce(nullif(
		substr(folder_paths, 1, instr(folder_paths || char(10), char(10)) - 1), ''), ` + zedBegan + `),
	'time_created', unixepoch(created_at) * 1000, 'time_updated', unixepoch(updated_at) * 1000 +
		length(doc) % 1000) from t`

	// A patch leaves out what the row does not have.
	zedSession = zedThreads + `select json_patch(doc, json_object('id', id, 'parent_id', parent_id,
	'folder_paths', folder_paths, 'created_at', created_at)) from t where id = ?1`

	zedOlderSessions = zedThreads + `select json_object('id', id, 'directory', ` + zedBegan + `,
	'time_updated', unixepoch(updated_at) * 1000 + length(doc) % 1000) from t`

	zedOlder = zedThreads + `select json_set(doc, '$.id', id) from t where id = ?1`

	zedBegan = `json_extract(doc, '$.initial_project_snapshot.worktree_snapshots[0].worktree_path')`

	// Kiro's command line, and Amazon Q's before it, whose rows have no times.
	kiroSessions = `select json_object('id', conversation_id, 'directory', key,
	'time_created', created_at, 'time_updated', updated_at) from conversations_v2`

	kiroSession = `select json_set(value, '$.directory', key, '$.created_at', created_at,
	'$.updated_at', updated_at) from conversations_v2 where conversation_id = ?1`

	kiroOlderSessions = `select json_object('id', json_extract(value, '$.conversation_id'),
	'directory', key, 'time_updated', length(value)) from conversations`

	kiroOlder = `select json_set(value, '$.directory', key) from conversations
where json_extract(value, '$.conversation_id') = ?1`
)
