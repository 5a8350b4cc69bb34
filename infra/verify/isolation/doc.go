// Package isolation shows by a test that a key of one profile reaches nothing of another: it makes every operation of
// the document with each kind of key, and writes docs/isolation.md.
package isolation
