package postgres

import "context"

// InitVersion is Init by a program that knows no more than a version of the tables.
func InitVersion(ctx context.Context, url string, version int) (before int, err error) {
	return initTo(ctx, url, version)
}
