// Package freeport finds ports for servers that tests and the local systems start in other processes.
package freeport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports are below those that systems give to listeners that ask for none (from 32768 on Linux, from 49152 on
// macOS), so that no such listener can take the port before the server does.
const first, count = 20000, 10000

// tried is the number of ports that this process has tried, from one that differs by process.
var tried atomic.Uint32

func init() { tried.Store(rand.Uint32N(count)) }

// Find returns a port of the loopback address that nothing listens on. It does not return a port again to this process,
// which may not have started its server yet, before it has tried all others.
func Find(ctx context.Context) (int, error) {
	var err error
	for range 100 {
		port := first + int(tried.Add(1)%count)
		var listener net.Listener
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.Join(errors.New("freeport: none of 100 ports is free"), err)
}
