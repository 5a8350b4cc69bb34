// Package backlog tests the reconciler of tasks with more work than one run has time for:
// in the time of a bubble, with a table in memory and queues that take their time.
package backlog
