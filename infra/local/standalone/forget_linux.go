package standalone

import (
	"syscall"

	"go.etcd.io/bbolt"
)

// forget gives the memory back in which the file was read. The system keeps what it has of the file for as long as
// nobody else needs that memory.
func forget(db *bbolt.DB) error {
	// The transaction keeps the mapping in its place.
	return db.View(func(tx *bbolt.Tx) error {
		if _, _, failed := syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(tx.Size()),
			syscall.MADV_DONTNEED); failed != 0 {
			return failed
		}
		return nil
	})
}
