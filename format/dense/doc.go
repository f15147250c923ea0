// Package dense codes blocks of records of the log in less space: it leaves out what follows from
// the rest, and names objects by the first bytes of their ids. The coding is exact: a block decodes
// to the bytes that were encoded, or not at all. docs/format/dense-log.md describes it.
//
// Begin with Encode and Block.Decode. The package compresses nothing and knows no store.
package dense
