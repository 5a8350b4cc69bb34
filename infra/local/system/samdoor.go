package system

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"syscall"
	"time"
)

// dockerHost is the name of this machine in the containers of Docker Desktop.
const dockerHost = "host.docker.internal"

// openDoor lets containers reach the emulated AWS, which listens only on loopback, and returns
// its address for them. If this machine has an address in the network of the containers, it
// starts a proxy on that address. Docker Desktop keeps the network in a virtual machine, which
// reaches loopback by a name.
func (m *sam) openDoor(ctx context.Context, endpoint, gateway string) (string, error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(gateway, to.Port()))
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return "http://" + net.JoinHostPort(dockerHost, to.Port()), nil
	}
	if err != nil {
		return "", err
	}
	m.door = &http.Server{Handler: door(to), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.door.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

// door forwards calls unchanged, because their signatures include the host.
func door(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
}
