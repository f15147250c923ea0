// Package score says which cluster of the forest a message or an exchange belongs to.
//
// It is pure: features and candidates in, a decision out, the same on every platform.
package score
