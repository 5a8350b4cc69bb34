// Command faults is a service that fails as a table of scenarios says. Every client runs the whole table against it: what
// it does is the same in all languages. The command prints its URL, and ends with its standard input.
package main
