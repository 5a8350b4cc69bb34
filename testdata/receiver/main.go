// Command receiver is a webhook endpoint to try out. It waits on loopback for one event, verifies its signature with
// the official library of Standard Webhooks, prints the event, and ends. It refuses events with another signature, such
// as those of an earlier webhook at the same address, and goes on waiting. It fails if no event comes. GET succeeds, so
// that a script can wait until the receiver listens.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	secret := flag.String("secret", "", "signing secret of the webhook (whsec_…)")
	listen := flag.String("listen", "127.0.0.1:9090", "loopback address to listen on")
	wait := flag.Duration("wait", 5*time.Minute, "how long to wait for the event")
	flag.Parse()
	if err := run(*secret, *listen, *wait, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// event has the members of an event that the receiver prints.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Object struct {
			ID    string `json:"id"`
			Title string `json:"title"`
			Media []struct {
				MIMEType string `json:"mime_type"`
				URL      string `json:"url"`
			} `json:"media"`
		} `json:"object"`
	} `json:"data"`
}

func run(secret, listen string, wait time.Duration, out io.Writer) error {
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return fmt.Errorf("--secret: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", listen)
	if err != nil {
		return err
	}
	outcome := make(chan error, 1)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method != http.MethodPost {
				return
			}
			if err := receive(verifier, req, out); err != nil {
				fmt.Fprintf(out, "Refused an event, and still waiting: %v\n", err)
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusNoContent)
			select {
			case outcome <- nil:
			default: // One event is enough.
			}
		})}
	go func() { _ = server.Serve(listener) }()
	fmt.Fprintf(out, "Waiting on http://%s/ for an event\n", listener.Addr())
	select {
	case err = <-outcome:
	case <-time.After(wait):
		err = fmt.Errorf("no event came within %v", wait)
	}
	// The answer to the event is sent before the end. A connection without a request is not waited for.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = server.Shutdown(ctx)
	return errors.Join(err, server.Close())
}

func receive(verifier *standardwebhooks.Webhook, req *http.Request, out io.Writer) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, req.Body, 256<<10))
	if err != nil {
		return err
	}
	if err := verifier.Verify(body, req.Header); err != nil {
		return err
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	fmt.Fprintf(out, "Verified: %s about %s (%s)\n", e.Type, e.Data.Object.ID, e.Data.Object.Title)
	for _, m := range e.Data.Object.Media {
		fmt.Fprintf(out, "  %s %s\n", m.MIMEType, m.URL)
	}
	return nil
}
