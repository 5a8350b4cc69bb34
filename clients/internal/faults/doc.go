// Package faults is a service that fails as a table of scenarios says. Every client runs the whole table against it, so
// that all languages do the same.
package faults
