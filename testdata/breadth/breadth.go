// Package breadth says how much of a sweep a test goes through: make test runs a sample of the longest ones, and make
// test-all all of them.
package breadth

import "os"

// All reports whether a sweep is to be whole: whether BREADTH is "all" in the environment.
func All() bool { return os.Getenv("BREADTH") == "all" }

// Of returns the number for make test, or that for make test-all.
func Of(sample, all int) int {
	if All() {
		return all
	}
	return sample
}

// First returns the first n of a sweep for make test, and all of it for make test-all.
func First[T any](n int, all ...T) []T { return all[:Of(n, len(all))] }
