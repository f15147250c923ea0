package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdJoin is `join OUT FILE...`: writes files one after the other into one.
func cmdJoin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: join OUT FILE...")
	}
	var all []byte
	for _, name := range args[1:] {
		b, err := os.ReadFile(ts.MkAbs(name))
		ts.Check(err)
		all = append(all, b...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o600))
}
