// Package backlog tests the reconciler of tasks with more work than one run has time for. The tests run in the fake
// time of a synctest bubble, with a table in memory and slow queues.
package backlog
