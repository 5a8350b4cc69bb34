package standalone

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

// PortError is returned when the requested port is not available.
type PortError struct {
	Port  int
	Cause error
}

// Error names the port.
func (e *PortError) Error() string { return fmt.Sprintf("port %d cannot be used: %v", e.Port, e.Cause) }

// Unwrap returns the cause.
func (e *PortError) Unwrap() error { return e.Cause }

func listen(host string, port int) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp",
		net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, &PortError{port, err}
	}
	return listener, nil
}
