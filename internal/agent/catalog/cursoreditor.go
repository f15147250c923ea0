package catalog

import (
	"bufio"
	"context"
	"path/filepath"
)

// This file finds the sessions of Cursor's editor: composers in one database of all workspaces.
// Older versions say in the database of each workspace which are its own.

const (
	// A value is bytes, which SQLite would take for its own form of JSON.
	cursorSessions = `with heads as (select h.value as head from ItemTable i,
	json_each(cast(i.value as text), '$.allComposers') h where i.key = 'composer.composerHeaders'),
c as (select substr(key, 14) as id, cast(value as text) as doc from cursorDiskKV
	where key between 'composerData:' and 'composerData;' and json_valid(cast(value as text)))
select json_object('id', id, 'directory', coalesce(
	json_extract(doc, '$.workspaceIdentifier.uri.fsPath'),
	json_extract(head, '$.workspaceIdentifier.uri.fsPath'), ''),
	'time_created', json_extract(doc, '$.createdAt'), 'time_updated', length(doc) % 1000 +
		coalesce(json_extract(doc, '$.lastUpdatedAt'), json_extract(doc, '$.createdAt'), 0))
from c left join heads on json_extract(head, '$.composerId') = id
where coalesce(json_array_length(doc, '$.fullConversationHeadersOnly'), 0) +
	coalesce(json_array_length(doc, '$.conversation'), 0) > 0`

	cursorSession = `select json_object('composer', json(doc), 'bubbles', (select
	json_group_array(json(cast(b.value as text)) order by h.key)
	from json_each(doc, '$.fullConversationHeadersOnly') h join cursorDiskKV b
	on b.key = 'bubbleId:' || ?1 || ':' || json_extract(h.value, '$.bubbleId')))
from (select cast(value as text) as doc from cursorDiskKV where key = 'composerData:' || ?1)`

	// The composers of one workspace.
	cursorComposers = `select json_extract(c.value, '$.composerId') from ItemTable i,
	json_each(cast(i.value as text), '$.allComposers') c where i.key = 'composer.composerData'`
)

// listCursor lists the sessions in the database of Cursor's editor.
func listCursor(ctx context.Context, q *Asker, path string) ([]Listed, error) {
	list, err := q.rows(ctx, path, cursorSessions)
	if err != nil {
		return nil, err
	}
	homeless := map[string]*Listed{}
	for i := range list {
		if list[i].Directory == "" {
			homeless[list[i].ID] = &list[i]
		}
	}
	if len(homeless) == 0 {
		return list, nil
	}
	for _, file := range glob(filepath.Join(filepath.Dir(path), "../workspaceStorage"),
		"*/workspace.json") {
		dir := localDir(document(file).Text("folder"))
		if dir == "" {
			continue
		}
		own := filepath.Join(filepath.Dir(file), "state.vscdb")
		f, end, err := q.query(ctx, own, cursorComposers)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // a workspace without one has no composers
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if one := homeless[lines.Text()]; one != nil {
				one.Directory = dir
			}
		}
		end()
	}
	return list, nil
}
