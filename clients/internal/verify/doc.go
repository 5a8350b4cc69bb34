// Package verify checks the clients as their users have them: built, installed into an empty project, and run against
// the sandbox and the table of faults. Its tests need the tools of the clients: `make test-clients` installs them.
package verify
