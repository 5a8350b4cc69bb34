// Package fuzz sends requests to the whole service in one process that its OpenAPI document
// does not expect, or only just, and holds each response against that document. It has tests
// only.
//
// The first batches walk the document: every member of every body, every parameter and
// header, and every place of an id, each with every odd value. The others send requests of
// chance. A seed decides them all, so that a batch can be repeated:
//
//	FUZZ_SEED=1 FUZZ_BATCH=17 go test ./infra/verify/fuzz
//
// FUZZ_REQUESTS sets how many requests are sent in all.
package fuzz
