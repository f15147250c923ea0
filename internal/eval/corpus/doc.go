// Package corpus holds invented working conversations to measure on, and
// reads those of others in the same form.
//
// A corpus is two files of JSON lines. <set>.messages.jsonl has one message a
// line, in order within its conversation; <set>.facts.jsonl, which may be
// missing, has one question a line with the exact words that answer it.
//
// The package's own sets are:
//
//   - planted: one long conversation about one project, some twenty tasks that
//     come back and interleave, with more than a hundred planted facts;
//   - rewound: short conversations that are taken back to an earlier message
//     and go on from there;
//   - agents: short sessions about different tasks, to be spliced together;
//   - working: conversations of short messages about everyday work, in forty of which one sentence
//     states a fact, in words that no rule of ctx was tuned on.
//
// Every name, host, person and credential in them is made up.
package corpus
