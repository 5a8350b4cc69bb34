package safehttp

import (
	"bytes"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

// corked is a connection that writes together what is written to it at about the same
// time: HTTP/2 writes the header and the body of each request by themselves, and the
// calls of the network are the better part of what a small request costs. Like the
// buffer of a socket it takes what has not been sent yet; that it could not be sent is
// told by the next write, and by the reads, which end with the connection.
type corked struct {
	net.Conn

	mu      sync.Mutex
	waiting *bytes.Buffer // nil: nothing waits
	// writing tells that somebody is to write what waits.
	writing bool
	err     error // of the writes to come
	// changed tells of an end of a write, or of the connection.
	changed sync.Cond
}

// mostCorked is how many bytes wait at most.
const mostCorked = 64 << 10

// closeTimeout bounds the writing of what waits when a connection is closed.
const closeTimeout = 250 * time.Millisecond

// buffers are shared by all connections: most are idle.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func cork(conn net.Conn) net.Conn {
	c := &corked{Conn: conn}
	c.changed.L = &c.mu
	return c
}

// Write implements io.Writer.
func (c *corked) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && c.waiting != nil && c.waiting.Len()+len(p) > mostCorked {
		c.changed.Wait()
	}
	if c.err != nil {
		return 0, c.err
	}
	if c.waiting == nil {
		c.waiting = buffers.Get().(*bytes.Buffer)
	}
	c.waiting.Write(p)
	if !c.writing {
		c.writing = true
		go c.write()
	}
	return len(p), nil
}

// write writes until nothing waits any more, or until that fails.
func (c *corked) write() {
	runtime.Gosched() // to whoever is about to write more
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for err == nil && c.waiting != nil {
		b := c.waiting
		c.waiting = nil
		c.mu.Unlock()
		_, err = c.Conn.Write(b.Bytes())
		b.Reset()
		buffers.Put(b)
		c.mu.Lock()
		c.changed.Broadcast()
	}
	c.writing = false
	if err != nil {
		c.refuse(err)
	}
	c.changed.Broadcast()
}

// SetWriteDeadline bounds what is under way, too. One that is over refuses the writes to
// come alone, which is what TLS means by it: what waits is its own end.
func (c *corked) SetWriteDeadline(t time.Time) error {
	if t.IsZero() || t.After(time.Now()) {
		return c.Conn.SetWriteDeadline(t)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse(os.ErrDeadlineExceeded)
	return nil
}

// refuse ends the writes to come.
func (c *corked) refuse(err error) {
	if c.err == nil {
		c.err = err
	}
	c.changed.Broadcast()
}

// Close closes the connection. What waits, such as the end of TLS, is written before,
// unless the other side does not take what was written before that.
func (c *corked) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse(net.ErrClosed)
	if c.writing {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
	for c.writing {
		c.changed.Wait()
	}
	return c.Conn.Close()
}
