package transcript

import "github.com/gemini-ctx/ctx/internal/jsonvalue"

// Spent is what an agent reports that a call of a model took. Numbers are tokens, and each token is
// in one of them only.
type Spent struct {
	// Call names the call: records with one name are of one call, and the newest of them counts.
	Call       string
	Model      string // "" where the author of the message is the model
	Input      uint64 // that no cache had
	CacheRead  uint64
	CacheWrite uint64 // for minutes
	CacheHour  uint64 // written for an hour
	Output     uint64 // thoughts included
}

// SpentAsGemini reads the usageMetadata of Gemini's API.
func SpentAsGemini(of jsonvalue.Object) []Spent {
	u := of.Object("usageMetadata")
	if len(u) == 0 {
		return nil
	}
	cached := u.Number("cachedContentTokenCount")
	return []Spent{{Input: less(u.Number("promptTokenCount"), cached), CacheRead: cached,
		Output: u.Number("candidatesTokenCount") + u.Number("thoughtsTokenCount")}}
}

// SpentBefore reads what records say that are kept before the one of a message.
func SpentBefore(of jsonvalue.Object, read func(record jsonvalue.Object) []Spent) []Spent {
	list, _ := of.Array(BeforeName)
	var all []Spent
	for _, raw := range list {
		all = append(all, read(jsonvalue.AsObject(raw))...)
	}
	return all
}

// less returns how much more all is than a part of it.
func less(all, part uint64) uint64 { return all - min(all, part) }
