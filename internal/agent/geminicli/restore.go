package geminicli

import "slices"

// restore follows `/chat resume`. The agent then writes what the checkpoint has as if it were said
// now: records under new ids, the first of which begins with the description of the environment. As
// far as they repeat this conversation from its beginning they are the messages that are known, and
// what the conversation has after the last of them has left it.
type restore struct {
	on  bool
	at  int // index in the chain: what is before it was repeated, or is a notice
	any bool

	alias map[string]string // new id -> key of the message that it repeats
}

// beginRestore starts a restore if r, a record from which dropped descriptions of the environment
// were taken, is the first of one. Whether it repeats anything only what came before it tells.
func (s *replay) beginRestore(r record, dropped int) {
	if dropped == 0 || r.fromSet || r.id == environmentID {
		return
	}
	s.back = true
	s.restore.on, s.restore.at, s.restore.any = len(s.chain.keys) > 0, 0, false
}

// restored returns r under the key of the message that it, with parts, repeats, as the copy that it
// is. Where it repeats none the restore is over, and what was not repeated leaves the conversation.
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
		if p.kind != partThought {
			said = append(said, p.identity())
		}
	}
	return said
}
