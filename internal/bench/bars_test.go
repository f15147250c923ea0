package bench

import (
	"fmt"
	"strings"
	"time"
)

// A bar is what a row has to reach. One of the limits is set.
type bar struct {
	row    string        // the beginning of what the row says
	whole  bool          // that is all it says
	ratio  float64       // of the rival's, at most
	wall   time.Duration // at most
	memory int64         // peak, in bytes, at most
	rate   float64       // at least
}

// bars were set for two idle cores on which `sh -c true` takes 1.3 ms. Of a slower machine those in
// milliseconds say little.
var bars = []bar{
	{row: "start, Go hello with the libraries of ctx", ratio: 1.25},
	{row: "append, durable, git's three calls", ratio: 0.5},
	{row: "append, durable, sqlite3 insert", ratio: 1},
	{row: "set of messages after gc", ratio: 1.8},
	{row: "import, megabytes a second", rate: 30},
	{row: "the same import again", whole: true, wall: 60 * time.Millisecond},
	{row: "transcripts before gc", ratio: 2},
	{row: "transcripts after gc", ratio: 1.2},
	{row: "transcripts compacted, after gc", ratio: 1.35},
	{row: "append --jsonl, messages a second", rate: 60_000},
	{row: "bytes of ", ratio: 1.3},
	{row: "search of a rare word", wall: 10 * time.Millisecond},
	{row: "search of four common words", wall: 60 * time.Millisecond},
	{row: "compact of 100000 messages", whole: true, wall: 8 * time.Second},
	{row: "gc", whole: true, memory: 256e6},
	{row: "gc, `git", memory: 256e6},
	{row: "fsck", memory: 256e6},
	{row: "rebuild", memory: 256e6},
	{row: "render --budget 4000 of 100000 messages", whole: true, wall: 10 * time.Millisecond},
	{row: "the first append after the cache was lost", wall: 2 * time.Second},
	{row: "the second append after the cache was lost", wall: 2 * time.Second},
}

// verdict says which bar a row has and whether it meets it; "" for a row without one.
func (r *row) verdict() string {
	for _, b := range bars {
		if r.what != b.row && (b.whole || !strings.HasPrefix(r.what, b.row)) {
			continue
		}
		limit, met := "", false
		switch {
		case b.ratio > 0 && r.of > 0:
			limit, met = fmt.Sprintf("at most %.2f", b.ratio), r.of <= b.ratio
		case b.wall > 0 && r.wall > 0:
			limit, met = "at most "+millis(b.wall), r.wall <= b.wall
		case b.memory > 0 && r.peak > 0:
			limit, met = "at most "+size(b.memory), r.peak <= b.memory
		case b.rate > 0 && r.rate > 0:
			limit, met = fmt.Sprintf("at least %.0f", b.rate), r.rate >= b.rate
		default:
			return "" // without the rival, or without a figure
		}
		if met {
			return limit + ": met"
		}
		return limit + ": missed"
	}
	return ""
}
