package geminicli

import "slices"

// restore follows `/chat resume`. The agent then writes the messages of the checkpoint again, in
// records with new ids. The first of them begins with the description of the environment. As far as
// they repeat this conversation from its beginning, they are the known messages; the messages after
// the last of these have left the conversation.
type restore struct {
	on  bool
	at  int // index in the chain: the messages before it were repeated, or are notices
	any bool

	alias map[string]string // new id -> key of the message that it repeats
}

// beginRestore starts a restore if r is the first record of one. dropped is the number of
// descriptions of the environment that were removed from r. Only earlier records tell what r
// repeats.
func (s *replay) beginRestore(r record, dropped int) {
	if dropped == 0 || r.fromSet || r.id == environmentID {
		return
	}
	s.back = true
	s.restore.on, s.restore.at, s.restore.any = len(s.chain.keys) > 0, 0, false
}

// restored returns r as a copy of the message that it repeats, under the key of that message. If it
// repeats none, the restore is over, and the messages that were not repeated leave the
// conversation.
func (s *replay) restored(r record, role string, parts []part) (record, error) {
	if !s.restore.on || r.fromSet {
		return r, nil
	}
	n := s.nextSaid(s.restore.at)
	if n < len(s.chain.keys) {
		key := s.chain.keys[n]
		if known := s.chain.current[key]; known.role == role && sameWords(known.parts, parts) {
			s.restore.at, s.restore.any = n+1, true
			if s.restore.alias == nil {
				s.restore.alias = map[string]string{}
			}
			s.restore.alias[r.physical] = key
			r.id, r.fromSet = key, true
			return r, nil
		}
	}
	s.restore.on = false
	if !s.restore.any || n >= len(s.chain.keys) {
		return r, nil
	}
	return r, s.leave(n)
}

// restoredResult notes that the result under key was repeated, in its turn.
func (s *replay) restoredResult(key string) {
	if first, ok := s.chain.first[key]; ok && s.restore.on && first >= s.restore.at {
		s.restore.at = first + 1
	}
}

// nextSaid returns the index, at or after n, of the next message in the chain that is neither a
// notice nor a newer version; the chain's length if there is none.
func (s *replay) nextSaid(n int) int {
	for ; n < len(s.chain.keys); n++ {
		key := s.chain.keys[n]
		if !s.chain.current[key].note && s.chain.first[key] == n {
			break
		}
	}
	return n
}

// sameWords reports whether two messages say and call the same; a checkpoint has no thoughts.
func sameWords(a, b []part) bool {
	return slices.Equal(words(a), words(b))
}

func words(parts []part) (said []string) {
	for _, p := range parts {
		if !isThought(p) {
			said = append(said, identity(p))
		}
	}
	return said
}
