// Package homes makes home directories as people have them: many projects with like names, work
// trees, links and nested stores, and sessions of every agent in them, some torn, forked, rewritten
// or interrupted. Beside a home it returns the truth: who said what, where, and in which order.
// It contains only tests. Begin with Make.
package homes
