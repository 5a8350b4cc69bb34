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

// dockerHost is this machine as containers of Docker Desktop see it.
const dockerHost = "host.docker.internal"

// openDoor lets containers reach the emulated AWS, which listens on loopback only, and
// returns its address for them. Where this machine has an address in the network of
// the containers, a proxy there hands calls on. Docker Desktop keeps the network in a
// virtual machine, from which loopback is reached by a name.
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

// door hands calls on as they are: they are signed, host included.
func door(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
}
