//go:build !linux

package e2e

// keylessLimit is more than the number of calls without a valid key that the tests make: they come from one address.
const keylessLimit = 2000
