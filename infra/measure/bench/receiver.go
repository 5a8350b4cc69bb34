package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// verifyEvery is which part of the requests the receiver verifies: it shares the
// machine with what is measured.
const verifyEvery = 50

// receiver takes webhooks on loopback, over https as every delivery goes, and counts
// them.
type receiver struct {
	server   *httptest.Server
	verifier *standardwebhooks.Webhook
	// certificate is the file of the server's own certificate, which verifies it.
	certificate string

	mu       sync.Mutex
	requests int
	verified int
	bytes    int
	ids      map[string]bool
	err      error
}

func newReceiver(secret []byte) (*receiver, error) {
	verifier, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		return nil, err
	}
	r := &receiver{verifier: verifier, ids: map[string]bool{}}
	r.server = httptest.NewUnstartedServer(r)
	r.server.EnableHTTP2 = true
	r.server.StartTLS()
	file, err := os.CreateTemp("", "receiver-*.pem")
	if err != nil {
		r.server.Close()
		return nil, err
	}
	r.certificate = file.Name()
	err = pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close ends the server.
func (r *receiver) Close() error {
	r.server.CloseClientConnections()
	r.server.Close()
	return os.Remove(r.certificate)
}

func (r *receiver) url() string { return r.server.URL + "/" }

// trust is the environment of a process that trusts the receiver's certificate.
func (r *receiver) trust() string { return "SSL_CERT_FILE=" + r.certificate }

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

// counted returns what came since the last call: it must be so many webhooks, each
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
