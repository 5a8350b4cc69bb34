package main

import (
	"cmp"
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

// proxy stands between the functions and a service. It can observe, refuse, lose and repeat their requests.
type proxy struct {
	gate
	address string // the address at which the functions find it
	target  atomic.Pointer[url.URL]
	server  *http.Server
}

// newProxy serves a proxy on a free port of loopback. The proxy has no target yet. It identifies the functions by
// their address of AWS, which is the proxy's own address if aws is empty.
func newProxy(ctx context.Context, aws string, operation func(*http.Request) string) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{address: "http://" + listener.Addr().String()}
	p.functions = processes{endpoint: cmp.Or(aws, p.address), proc: "/proc"}
	p.operation = operation
	p.next = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.target.Load())
			r.Out.Host = r.In.Host // the signature covers the host
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorLog:  slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	p.server = p.gate.server()
	go func() { _ = p.server.Serve(listener) }() // returns ErrServerClosed, when closed
	return p, nil
}

// through sets the target and returns the proxy's own address.
func (p *proxy) through(endpoint string) (string, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("the address of a service: %w", err)
	}
	p.target.Store(target)
	return p.address, nil
}

// Close stops the proxy.
func (p *proxy) Close() error { return p.server.Close() }

// ofAWS names the operation of a call of AWS: by the header that most services have, or else by method and service.
func ofAWS(r *http.Request) string {
	if _, name, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return name
	}
	// Credential=<key>/<date>/<region>/<service>/aws4_request
	if parts := strings.Split(r.Header.Get("Authorization"), "/"); len(parts) > 3 {
		return r.Method + " " + parts[3]
	}
	return r.Method
}

// ofProvider names the operation of a call of a provider or a platform: by the method and the name of the provider.
func ofProvider(r *http.Request) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.Method + " " + name
}
