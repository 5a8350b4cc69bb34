// Package fuzz sends requests that the OpenAPI document does not expect, or only just, to the whole service in one
// process, and checks each response against that document. It consists of tests.
//
// The first batches walk the document: every member of every body, every parameter and
// header, and every place of an id, each with every odd value. The others send random
// requests. A seed determines them all, so that a batch can be repeated:
//
//	FUZZ_SEED=1 FUZZ_BATCH=17 go test ./infra/verify/fuzz
//
// FUZZ_REQUESTS sets the total number of requests.
package fuzz
