package brief

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// leastCopies is the number of prompts in which a sentence of a template stands.
const leastCopies = 3

// withoutTemplates returns facts without the sentences that return in several long prompts: a
// command of the client has filled in a template, or somebody pastes one text again, and none of it
// is what the person wants. What stands in one of the prompts alone stays, such as the arguments of
// the command. A short prompt is typed: who says "go on" ten times means it each time.
func withoutTemplates(facts []digest.Fact) []digest.Fact {
	inPrompt := func(f *digest.Fact) bool {
		return f.Kind == digest.Prompt || f.Kind == digest.Code
	}
	sentences := map[uint64]int{} // of each prompt
	for i := range facts {
		if facts[i].Kind == digest.Prompt {
			sentences[facts[i].Seq]++
		}
	}
	copies := map[string][]uint64{} // by sentence, the long prompts that have it
	for i := range facts {
		f := &facts[i]
		if inPrompt(f) && sentences[f.Seq] > typedPrompt &&
			!slices.Contains(copies[f.Text], f.Seq) && len(copies[f.Text]) < leastCopies {
			copies[f.Text] = append(copies[f.Text], f.Seq)
		}
	}
	isCopy := func(f digest.Fact) bool {
		return inPrompt(&f) && sentences[f.Seq] > typedPrompt && len(copies[f.Text]) >= leastCopies
	}
	facts = slices.DeleteFunc(slices.Clone(facts), isCopy)
	left := map[uint64]bool{} // the prompts that still say what is wanted
	for i := range facts {
		left[facts[i].Seq] = left[facts[i].Seq] || facts[i].Kind == digest.Prompt
	}
	for i := range facts {
		if f := &facts[i]; f.Kind == digest.Code && sentences[f.Seq] > typedPrompt && !left[f.Seq] {
			f.Kind = digest.Prompt // the template sets the arguments between fences
		}
	}
	return facts
}
