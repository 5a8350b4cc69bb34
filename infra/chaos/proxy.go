package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
)

// proxy stands between the functions and the emulated AWS, so that what they ask
// of it can be seen, refused, lost and repeated.
type proxy struct {
	gate
	// Address is where the functions find it.
	Address string
	target  atomic.Pointer[url.URL]
	server  *http.Server
}

// newProxy serves a proxy on a free port of loopback. It has no target yet.
func newProxy(ctx context.Context) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{Address: "http://" + listener.Addr().String()}
	p.functions = processes{endpoint: p.Address, proc: "/proc"}
	p.operation = operation
	p.next = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.target.Load())
			r.Out.Host = r.In.Host // it is part of what is signed
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorLog:  slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	p.server = p.gate.server()
	go func() { _ = p.server.Serve(listener) }() // gives ErrServerClosed, when closed
	return p, nil
}

// through sets the target, and gives the proxy's own address.
func (p *proxy) through(endpoint string) (string, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("the address of the emulated AWS: %w", err)
	}
	p.target.Store(target)
	return p.Address, nil
}

// Close ends the proxy.
func (p *proxy) Close() error { return p.server.Close() }

// operation names what a call asks AWS for: by the header that most services have,
// else by method and service.
func operation(r *http.Request) string {
	if _, name, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return name
	}
	// Credential=<key>/<date>/<region>/<service>/aws4_request
	if parts := strings.Split(r.Header.Get("Authorization"), "/"); len(parts) > 3 {
		return r.Method + " " + parts[3]
	}
	return r.Method
}
