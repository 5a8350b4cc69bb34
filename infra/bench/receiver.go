package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// verifyEvery is which part of the requests the receiver verifies: it shares the
// machine with what is measured.
const verifyEvery = 50

// receiver takes webhooks on loopback, and counts them.
type receiver struct {
	listener net.Listener
	server   *http.Server
	verifier *standardwebhooks.Webhook

	mu       sync.Mutex
	requests int
	verified int
	bytes    int
	ids      map[string]bool
	err      error
}

func newReceiver(ctx context.Context, secret []byte) (*receiver, error) {
	verifier, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{listener: listener, verifier: verifier, ids: map[string]bool{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: startLimit}
	go func() { _ = r.server.Serve(listener) }() // gives ErrServerClosed, when closed
	return r, nil
}

// Close ends the server.
func (r *receiver) Close() error { return r.server.Close() }

func (r *receiver) url() string { return "http://" + r.listener.Addr().String() + "/" }

// ServeHTTP takes one webhook.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender has gone
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requests%verifyEvery == 0 {
		r.verified++
		r.err = errors.Join(r.err, r.verifier.Verify(body, req.Header))
	}
	r.requests++
	r.bytes += len(body)
	r.ids[req.Header.Get("webhook-id")] = true
	w.WriteHeader(http.StatusNoContent)
}

// counted tells what came since the last call: it must be so many webhooks, each
// once, with good signatures.
func (r *receiver) counted(want int) (bytes int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err = r.err
	if r.requests != want || len(r.ids) != want || r.verified == 0 {
		err = errors.Join(err, fmt.Errorf("the receiver got %d requests with %d webhooks and verified %d, not %d", r.requests, len(r.ids), r.verified, want))
	}
	bytes = r.bytes
	r.requests, r.verified, r.bytes, r.ids, r.err = 0, 0, 0, map[string]bool{}, nil
	return bytes, err
}
