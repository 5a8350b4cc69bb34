package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receipt records the receptions of one webhook.
type receipt struct {
	event, subject string
	happened       time.Time // when the event happened
	first          time.Time // when it first arrived
	times          int
}

// mailbox is a receiver of one webhook's events, at a path of its own.
type mailbox struct {
	url      string
	verifier *standardwebhooks.Webhook

	mu       sync.Mutex
	receipts map[string]*receipt // by webhook-id
	bad      error
}

// take records a webhook that has arrived.
func (m *mailbox) take(header http.Header, body []byte, at time.Time) {
	var event struct {
		ID        string    `json:"id"`
		CreatedAt time.Time `json:"created_at"`
		Data      struct {
			Object struct {
				ID string `json:"id"`
			} `json:"object"`
		} `json:"data"`
	}
	err := json.Unmarshal(body, &event)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		err = m.verifier.Verify(body, header)
	}
	id := header.Get("webhook-id")
	if err == nil && id != event.ID {
		err = fmt.Errorf("the webhook-id is %q, that of the event %q", id, event.ID)
	}
	if err != nil {
		m.bad = errors.Join(m.bad, err)
		return
	}
	if m.receipts[id] == nil {
		m.receipts[id] = &receipt{event: id, subject: event.Data.Object.ID, happened: event.CreatedAt, first: at}
	}
	m.receipts[id].times++
}

// all returns the receipts so far, and an error if some webhook was not valid.
func (m *mailbox) all() ([]receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]receipt, 0, len(m.receipts))
	for _, r := range m.receipts {
		all = append(all, *r)
	}
	return all, m.bad
}

// receiving names a request to a receiver among the operations of AWS.
const receiving = "POST to the receiver"

// receiver takes webhooks on loopback for any number of mailboxes.
type receiver struct {
	gate
	address string
	server  *http.Server

	opening sync.Mutex
	boxes   map[string]*mailbox // by path
}

// newReceiver serves a receiver for the functions that find AWS at the given address.
func newReceiver(ctx context.Context, endpoint string) (*receiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{address: "http://" + listener.Addr().String(), boxes: map[string]*mailbox{}}
	r.functions = processes{endpoint: endpoint, proc: "/proc"}
	r.operation = func(*http.Request) string { return receiving }
	r.next = http.HandlerFunc(r.receive)
	r.server = r.gate.server()
	go func() { _ = r.server.Serve(listener) }() // returns ErrServerClosed, when closed
	return r, nil
}

// open creates a mailbox with the given name.
func (r *receiver) open(name string) *mailbox {
	r.opening.Lock()
	defer r.opening.Unlock()
	m := &mailbox{url: r.address + "/" + name, receipts: map[string]*receipt{}}
	r.boxes["/"+name] = m
	return m
}

// sign sets the secret by which a mailbox verifies. The secret comes with the webhook, whose creation needs the
// mailbox's address.
func (m *mailbox) sign(secret string) error {
	verifier, err := standardwebhooks.NewWebhook(secret)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verifier = verifier
	return err
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender has gone
	}
	r.opening.Lock()
	box := r.boxes[req.URL.Path]
	r.opening.Unlock()
	if box == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	box.take(req.Header, body, at)
	w.WriteHeader(http.StatusNoContent)
}

// Close stops the receiver.
func (r *receiver) Close() error { return r.server.Close() }
