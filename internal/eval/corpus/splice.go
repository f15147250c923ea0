package corpus

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Splice interleaves n of the sessions into one conversation, as somebody leaves it who works on
// several things in one window. It picks them by seed, all of them when there are no more than n.
// It cuts only before messages of the user: runs of one to three exchanges take turns, and each
// session keeps its order. What stands before a session's first user message goes with that
// message's exchange.
//
// In the result seqs are dense from 0, the topic is the session's conversation, and the
// conversation is splice/<seed>. The times are new: within a run the pauses are those of the
// session, and between runs there is half a minute to six minutes, so that a session cannot be told
// by its date. The ids of calls get the session in front. Authors are left out where they would
// tell the session: each is its role.
//
// The result depends on the arguments alone and is the same on every platform. The sessions are not
// changed.
func Splice(sessions [][]Message, seed uint64, n int) []Message {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) // the golden ratio: any constant would do
	// For each session its exchanges that are still to come
	var left [][][]Message
	for i, at := range r.Perm(len(sessions)) {
		if i < n {
			left = append(left, exchanges(sessions[at]))
		}
	}
	clock := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var out []Message
	last := -1
	for {
		next := pick(r, left, last)
		if next < 0 {
			return out
		}
		last = next
		run := min(1+r.IntN(3), len(left[next]))
		clock = clock.Add(time.Duration(30+r.IntN(331)) * time.Second)
		var before time.Time
		for _, exchange := range left[next][:run] {
			for _, m := range exchange {
				now, ok := m.When()
				if ok && !before.IsZero() && now.After(before) {
					clock = clock.Add(now.Sub(before))
				}
				if ok {
					before = now
				}
				out = append(out, spliced(m, seed, len(out), clock))
			}
		}
		left[next] = left[next][run:]
	}
}

// pick chooses a session that has exchanges left, another one than the last if there is any, with a
// chance in proportion to what it has left. It returns -1 when nothing is left.
func pick(r *rand.Rand, left [][][]Message, last int) int {
	sum := 0
	for i, s := range left {
		if i != last {
			sum += len(s)
		}
	}
	if sum == 0 {
		if last >= 0 && len(left[last]) > 0 {
			return last
		}
		return -1
	}
	at := r.IntN(sum)
	for i, s := range left {
		if i == last {
			continue
		}
		if at < len(s) {
			return i
		}
		at -= len(s)
	}
	panic("unreachable: at is below the sum")
}

// exchanges cuts a session before each message of the user but the first.
func exchanges(session []Message) [][]Message {
	var all [][]Message
	start, seen := 0, false
	for i, m := range session {
		if m.Role != "user" {
			continue
		}
		if seen {
			all = append(all, session[start:i])
			start = i
		}
		seen = true
	}
	if len(session) > 0 {
		all = append(all, session[start:])
	}
	return all
}

// spliced returns m as message seq of the spliced conversation.
func spliced(m Message, seed uint64, seq int, at time.Time) Message {
	session := m.Conversation
	m.Conversation = fmt.Sprintf("splice/%d", seed)
	m.Seq, m.Topic, m.Author, m.Time = seq, session, m.Role, at.Format(time.RFC3339)
	m.RewindTo = nil
	m.Calls = append([]Call(nil), m.Calls...)
	for i := range m.Calls {
		m.Calls[i].ID = session + "/" + m.Calls[i].ID
	}
	m.Results = append([]Result(nil), m.Results...)
	for i := range m.Results {
		m.Results[i].ID = session + "/" + m.Results[i].ID
	}
	return m
}
