// Package authority shows by tests that a right is checked when it is used. It tries every operation of the document
// with every scope, role, mode, account and ended principal, and has weaker callers change what stronger ones made. It
// takes the operations from the document, and what acts later from the registry of package record/authority, and writes
// its table. And it makes every operation with a key of another profile, which reaches nothing.
package authority
