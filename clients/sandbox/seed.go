package main

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	mathrand "math/rand/v2"
	"sync"

	"github.com/gofrs/uuid/v5"
)

// seedProcess makes the randomness of keys, secrets and waits, and that of ids, depend on a seed. Nothing that is made
// of it is secret. Both have sequences of their own, so that the order in which concurrent parts of one call name their
// locks and messages does not change its ids.
func seedProcess(seed uint64) {
	rand.Reader = newReader(seed, 0)
	uuid.DefaultGenerator = uuid.NewGenWithOptions(uuid.WithRandomReader(newReader(seed, 1)))
}

// reader is a sequence of bytes. It is safe for concurrent use.
type reader struct {
	mu     sync.Mutex
	source *mathrand.ChaCha8
}

func newReader(seed, sequence uint64) io.Reader {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	binary.BigEndian.PutUint64(key[8:], sequence)
	return &reader{source: mathrand.NewChaCha8(key)}
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Read(p)
}
