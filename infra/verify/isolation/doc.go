// Package isolation shows by a test that a key of one profile reaches nothing of another: it makes every operation of
// the document with each kind of key, and compares what they get with testdata/isolation.md, which go test -update
// writes.
package isolation
