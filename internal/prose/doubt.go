package prose

import "strings"

// Doubts reports whether a sentence of a user says that what the model found is not so.
func Doubts(line string) bool {
	line = strings.ReplaceAll(strings.ToLower(line), "’", "'")
	return HasLead(line, tongueDoubtLeads[:]) || HasAny(line, tongueDoubts[:]) ||
		HasLead(line, []string{"no, ", "no it ", "nope", "wrong", "wait", "are you sure",
			"i'm questioning", "i doubt", "that's not ", "that is not ", "but that's not "}) ||
		HasAny(line, []string{" was clearly ", " is clearly ", "doesn't work", "does not work",
			"not true", "not jump to", "didn't work", "still failing", "still fails", "misdiagnos"})
}

// Concedes reports whether a sentence of a model says that the user is right, or that what it said
// before was wrong.
func Concedes(line string) bool {
	line = strings.ReplaceAll(strings.ToLower(line), "’", "'")
	return HasAny(line, tongueConcessions[:]) ||
		HasLead(line, []string{"you're right", "you are right", "you're absolutely right",
			"you are absolutely right", "you're completely right", "you're totally right",
			"my mistake", "i was wrong", "i misread", "i misunderstood"}) ||
		HasAny(line, []string{"i was wrong", "n't seem to be working", " isn't working",
			"correct my understanding", "my earlier claim",
			"my earlier diagnosis", "my diagnosis was wrong", "my assumption was wrong"})
}

// Accepts reports whether a sentence of a user says that all is to be done that the model found or
// offered.
func Accepts(line string) bool {
	line = strings.ToLower(line)
	return HasLead(line, []string{"yes", "ok ", "ok, ", "go ahead", "sounds good", "do it",
		"please do", "please fix them"}) && !strings.Contains(line, " but ") ||
		HasAny(line, []string{"fix all", "fix both", "fix them", "fix these", "fix those",
			"for both", "address them", "address all", "do all", "do both", "all of them"})
}

// Removes reports whether a sentence of a model says that something is no longer there.
func Removes(line string) bool {
	line = strings.ToLower(line)
	return HasLead(line, []string{"removed ", "dropped ", "reverted "}) ||
		HasAny(line, []string{" is gone", " are gone", " was removed", " were removed",
			" was reverted", " was dropped"})
}
