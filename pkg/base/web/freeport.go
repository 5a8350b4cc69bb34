package web

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// The ports are below those that systems give to listeners that ask for none (from 32768 on Linux, from 49152 on
// macOS), so that no such listener can take the port before the server does.
const firstPort, ports = 20000, 10000

// tried is the number of ports that this process has tried, and begun the port from which on it tries them.
var (
	tried atomic.Uint32
	begun = sync.OnceValue(func() uint32 { return rand.Uint32N(ports) })
)

// FreePort returns a port of the loopback address that nothing listens on, for a server that a test or a local system
// starts in another process. It does not return a port again to this process, which may not have started its server
// yet, before it has tried all others.
func FreePort(ctx context.Context) (int, error) {
	var err error
	for range 100 {
		port := firstPort + int((begun()+tried.Add(1))%ports)
		var listener net.Listener
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.Join(errors.New("web: none of 100 ports is free"), err)
}
