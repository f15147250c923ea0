package corpus

import "time"

// Message is one line of a messages file. What a set does not know is empty or
// null there, and zero here.
type Message struct {
	Conversation string `json:"conversation"`
	// Ascending within a conversation; dense in the sets of this package
	Seq    int    `json:"seq"`
	Role   string `json:"role"`   // user, model or tool
	Author string `json:"author"` // a name, where there is one
	Time   string `json:"time"`   // RFC 3339 where known; see When
	// Text is everything that was said, readable: a model's calls and a tool's output are in it, so
	// that a reader of the plain form loses nothing.
	Text  string `json:"text"`
	Topic string `json:"topic"` // the task the message belongs to; empty is not labelled

	Calls   []Call   `json:"calls,omitempty"`   // of a model message: the tools it starts
	Results []Result `json:"results,omitempty"` // of a tool message: what they answered

	// Mark is Request or Correction on a user message whose words a compaction has to keep.
	Mark string `json:"mark,omitempty"`

	// RewindTo is the last message that stays where the user rewound the conversation just before this
	// message was said: those after it and before this one are not part of the conversation any more.
	// It is nil on all other messages.
	RewindTo *int `json:"rewind_to,omitempty"`
}

// The values of Message.Mark.
const (
	Request    = "request"    // the user asks for a piece of work
	Correction = "correction" // the user forbids, or puts something right
)

// Call is one start of a tool by a model.
type Call struct {
	ID   string         `json:"id"` // unique within its conversation
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

// Result is what one call gave. It stands in a later message than the call and has its id.
type Result struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Output string `json:"output"`
	Exit   int    `json:"exit"` // of a command; for other tools 0 is done and 1 failed
}

// When returns the time of m, if it has one that can be read.
func (m Message) When() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, m.Time)
	return t.UTC(), err == nil
}

// Live returns the messages of one conversation that are left when its rewinds have been carried
// out, in order.
func Live(conversation []Message) []Message {
	var live []Message
	for _, m := range conversation {
		if m.RewindTo != nil {
			for len(live) > 0 && live[len(live)-1].Seq > *m.RewindTo {
				live = live[:len(live)-1]
			}
		}
		live = append(live, m)
	}
	return live
}

// Conversations cuts a set where the conversation changes.
func Conversations(set []Message) [][]Message {
	var all [][]Message
	start := 0
	for i := range set {
		if i+1 == len(set) || set[i+1].Conversation != set[i].Conversation {
			all = append(all, set[start:i+1:i+1])
			start = i + 1
		}
	}
	return all
}
