package main

import (
	"context"
	_ "embed" // the migrations
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// schemaVersion is the version of the tables that this program knows: the number of migrations.
const schemaVersion = 3

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
func migrations() [schemaVersion]string { return [...]string{schema1, schema2, schema3} }

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

// teamName is the form of a team's name.
var teamName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,62}$`)

// initialize makes the tables in the database of a URL, or brings them to this version. The role of
// the URL becomes their owner; it needs to be allowed to create a schema. Running it again changes
// nothing. A newer schema is an error. It returns the version that was there before.
func initialize(ctx context.Context, url string) (before int, err error) {
	return initTo(ctx, url, schemaVersion)
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
	if before > schemaVersion {
		return before, newer(before)
	}
	for i := before; i < last; i++ {
		if _, err := tx.Exec(ctx, migrations()[i]); err != nil {
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
			"ctx-remote-postgres", v, schemaVersion)
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

// grant lets a role, and all roles that are its members, read and write a team. The URL's role owns
// the tables. A team needs nothing else to exist.
func grant(ctx context.Context, url, team, role string) error {
	return admin(ctx, url, team, func(r *database, tx pgx.Tx) error {
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

// revoke takes back what grant gave. A connection of the role that is open sees nothing from its
// next statement on. What the role has read, it keeps.
func revoke(ctx context.Context, url, team, role string) error {
	return admin(ctx, url, team, func(r *database, tx pgx.Tx) error {
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
func admin(ctx context.Context, url, team string, do func(*database, pgx.Tx) error) error {
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
func (r *database) checkVersion(ctx context.Context) error {
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
	case v > schemaVersion:
		return newer(v)
	case v < schemaVersion:
		return fmt.Errorf(
			"the database has version %d of the tables, this program needs %d: run "+
				"`ctx-remote-postgres init`", v, schemaVersion)
	}
	return nil
}
