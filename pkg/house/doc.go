// Package house holds the rules of this repository that a program can check, as tests: where things may be imported,
// how long files may grow, and that what is exported is explained. Start with house_test.go.
package house
