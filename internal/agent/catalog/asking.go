package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// mostSilent is how often in a row a program may not answer before it is not asked any more.
const mostSilent = 2

// Asker asks the programs of agents for what they have in databases, each time for Limit at most: a
// program that hangs must not hold up the sessions of all other agents.
type Asker struct {
	Limit  time.Duration
	Beside string         // the directory of ctx, which has the programs that belong to it
	silent map[string]int // programs: how often in a row they did not answer
}

// List lists the sessions in an agent's database.
func (q *Asker) List(ctx context.Context, of *Agent, path string) (list []Listed, err error) {
	err = q.ask(ctx, of, func(ctx context.Context) error {
		if of.Database.List == nil {
			list, err = q.list(ctx, of.Database.Tables, path)
		} else {
			list, err = of.Database.List(ctx, q, path)
		}
		return err
	})
	return list, err
}

// Export returns one of the sessions in an agent's database, as Database.Export does.
func (q *Asker) Export(
	ctx context.Context, of *Agent, path string, which Listed,
) (f *os.File, end func(), err error) {
	err = q.ask(ctx, of, func(ctx context.Context) error {
		if of.Database.Export == nil {
			for _, tables := range of.Database.Tables[which.Newer:] {
				f, end, err = q.query(ctx, path, tables.Session, which.ID)
				if err == nil || ctx.Err() != nil {
					break
				}
			}
		} else {
			f, end, err = of.Database.Export(ctx, path, which)
		}
		return err
	})
	return f, end, err
}

func (q *Asker) ask(
	ctx context.Context, of *Agent, question func(context.Context) error,
) error {
	if q.silent[of.Program] >= mostSilent {
		return fmt.Errorf("%s is not asked any more: it did not answer %d times", of.Program,
			mostSilent)
	}
	limited, cancel := context.WithTimeout(ctx, q.Limit)
	defer cancel()
	err := question(limited)
	if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		delete(q.silent, of.Program)
		return err
	}
	if q.silent == nil {
		q.silent = map[string]int{}
	}
	q.silent[of.Program]++
	return fmt.Errorf("%s did not answer within %v", of.Program, q.Limit)
}
