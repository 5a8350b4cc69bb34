//go:build !linux

package standalone

import "go.etcd.io/bbolt"

// forget does nothing: the system takes the memory back itself.
func forget(*bbolt.DB) error { return nil }
