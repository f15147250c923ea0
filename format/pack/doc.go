// Package pack is the form of a pack and of its index: many objects in one file. What
// follows from the rest is not stored: an object's id, the digest and size of its body, a nonce
// that the key gives, an id that another object of the block has.
//
// Begin with Encode and Decode in block.go, which turn objects into the bytes of a block and back.
// docs/format/pack.md describes the bytes. Compression, files and caches are package objects'.
package pack
