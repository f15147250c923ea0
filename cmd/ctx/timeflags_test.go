package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// --since takes days of the person's zone, on a terminal and elsewhere, as git does.
func TestSinceIsLocal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	screenStore(t, dir)
	said := scriptStart().Add(time.Minute).UTC()
	for _, hours := range []int{-11, 0, 13} {
		zone := time.FixedZone("", hours*60*60)
		local := said.In(zone)
		for _, days := range []int{0, 1} {
			var out, errs bytes.Buffer
			w := screenWorld(dir, &out, &errs, 100)
			w.zone = zone
			midnight := time.Date(local.Year(), local.Month(), local.Day()+days, 0, 0, 0, 0, zone)
			args := []string{"list", "--json", "--since", midnight.Format(time.DateOnly)}
			if code := run(context.Background(), w, args); code > 1 {
				t.Fatalf("exit %d: %s", code, &errs)
			}
			if found := strings.TrimSpace(out.String()) != ""; found != (days == 0) {
				t.Errorf("%+d h, %v: found %v", hours, args, found)
			}
		}
	}
}
