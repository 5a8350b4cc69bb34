package base_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/content-automation/api/pkg/base/web"
)

// Servers listen below the ports that systems give away.
const firstPort, ports = 20000, 10000

// Ports that were returned are not returned again, although no server listens on them yet.
func TestPortsAreFreeAndDiffer(t *testing.T) {
	returned := map[int]bool{}
	for range 1000 {
		port, err := web.FreePort(t.Context())
		if err != nil || returned[port] || port < firstPort || port >= firstPort+ports {
			t.Fatalf("%d, %v; returned before: %t", port, err, returned[port])
		}
		returned[port] = true
	}
}

func TestAPortInUseIsNotReturned(t *testing.T) {
	port, err := web.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := (port-firstPort+1)%ports + firstPort
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(taken)))
	if err == nil { // Otherwise another process listens on it.
		defer listener.Close()
	}
	if got, err := web.FreePort(t.Context()); err != nil || got == taken {
		t.Errorf("%d, %v", got, err)
	}
}
