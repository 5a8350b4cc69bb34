// Package forward sends events to a receiver as the service does, with signatures of Standard
// Webhooks 1.0.
package forward

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	// timeout bounds a request, up to the last byte of the response.
	timeout = 15 * time.Second
	// userAgent is the User-Agent of the service's own requests.
	userAgent = "ContentAutomation-Webhooks/1.0"
	// keptBody is the greatest number of bytes that are read of a response.
	keptBody = 64 << 10
)

// The lengths of keys that Standard Webhooks permits, and the length of new keys.
const (
	leastKey, mostKey = 24, 64
	newKey            = 32
)

const secretPrefix = "whsec_"

// NewSecret makes a signing secret.
func NewSecret(random io.Reader) (string, error) {
	key := make([]byte, newKey)
	if _, err := io.ReadFull(random, key); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(key), nil
}

// Sender sends to one receiver.
type Sender struct {
	client  *http.Client
	address string
	signer  *standardwebhooks.Webhook
	now     func() time.Time
}

// New returns a sender of signed events to an address.
func New(address, secret string, now func() time.Time) (*Sender, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--forward-to must be an address such as http://localhost:3000/hooks")
	}
	encoded, prefixed := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !prefixed || len(key) < leastKey || len(key) > mostKey {
		return nil, fmt.Errorf("--secret must be %s and the base64 of %d to %d bytes", secretPrefix, leastKey, mostKey)
	}
	signer, err := standardwebhooks.NewWebhookRaw(key)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Sender{client, address, signer, now}, nil
}

// Answer is the response of a receiver.
type Answer struct {
	Status  int
	Latency time.Duration
}

// Accepted reports whether the receiver has accepted the event.
func (a Answer) Accepted() bool { return a.Status >= 200 && a.Status <= 299 }

// Send makes one attempt. It returns an error if there is no response.
func (s *Sender) Send(ctx context.Context, id string, body []byte) (Answer, error) {
	at := s.now()
	signature, err := s.signer.Sign(id, at, body)
	if err != nil {
		return Answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": userAgent,
		standardwebhooks.HeaderWebhookID: id, standardwebhooks.HeaderWebhookTimestamp: strconv.FormatInt(at.Unix(), 10),
		standardwebhooks.HeaderWebhookSignature: signature,
	} {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return Answer{}, plain(err)
	}
	defer resp.Body.Close()
	// The status decides, even if the body cannot be read.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, keptBody))
	return Answer{resp.StatusCode, s.now().Sub(at)}, nil
}

// plain returns a failed request's error without its method and address, which are the same
// for every event.
func plain(err error) error {
	var failed *url.Error
	switch {
	case errors.As(err, &failed) && failed.Timeout():
		return fmt.Errorf("no answer within %v", timeout)
	case failed != nil:
		return failed.Err
	default:
		return err
	}
}
