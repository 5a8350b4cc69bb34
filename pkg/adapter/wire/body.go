package wire

import (
	"io"
	"sync"
)

// Body is a body that is streamed.
type Body struct {
	Type   string
	Length int64
	Reader io.Reader
}

// sending is the body of a request. It tells whether it was read to its end.
type sending struct {
	mu   sync.Mutex
	r    io.Reader
	left int64
	done bool // closed, so that nothing more is sent
}

func (s *sending) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return 0, io.ErrClosedPipe
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	return n, err
}

func (s *sending) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.r.(io.Closer); ok && !s.done {
		s.done = true
		return c.Close()
	}
	s.done = true
	return nil
}

// whole reports whether the body was read completely. It returns true if there is no body.
func (s *sending) whole() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left <= 0
}
