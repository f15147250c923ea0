// Command ctx-import-sqlite prints the rows of a query to a database of SQLite, for `ctx import`:
// the library that reads such files is too large for ctx itself. docs/agents/README.md says which
// agents need it.
package main

import (
	"bufio"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
	"modernc.org/sqlite"

	"github.com/gemini-ctx/ctx/internal/lists"
)

const usage = `ctx-import-sqlite FILE QUERY [VALUE...] prints the first column of each row, a line each.

The file is only read. ?1, ?2 in the query are the values, and unzstd(X) is what zstd packed. ctx
starts it.
`

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1:], out)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintf(os.Stderr, "ctx-import-sqlite: %v\n", err)
		os.Exit(1)
	}
}

// maxUnpacked is the most bytes of a text that a database has packed.
const maxUnpacked = 1 << 30

var register = sync.OnceValue(func() error {
	return sqlite.RegisterDeterministicScalarFunction("unzstd", 1, unzstd)
})

func run(args []string, out io.Writer) (err error) {
	if len(args) < 2 {
		_, err := io.WriteString(out, usage)
		return err
	}
	if err := register(); err != nil {
		return err
	}
	source, err := sourceOf(args[0])
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	values := lists.Map(args[2:], func(v string) any { return v })
	rows, err := db.Query(args[1], values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, text.String); err != nil {
			return err
		}
	}
	return rows.Err()
}

// sourceOf names a database that is only read. Where its newest pages do not stand in a file beside
// it, no file is made there.
func sourceOf(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	options := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(2000)", "query_only(1)"}}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		options.Set("immutable", "1")
	}
	if path = filepath.ToSlash(path); path[0] != '/' {
		path = "/" + path // of a drive
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String(), nil
}

// unzstd returns what is packed in a value.
func unzstd(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	packed, ok := args[0].([]byte)
	if !ok {
		return args[0], nil
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := r.DecodeAll(packed, nil)
	return string(text), err
}
