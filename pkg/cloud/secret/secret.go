// Package secret reads secrets when they are first needed, and caches them for a few minutes. Package manager reads
// those of AWS Secrets Manager.
package secret

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

const (
	// Lifetime is the time for which a secret is cached, and so the longest delay until a new value is used.
	Lifetime = 5 * time.Minute
	// grace extends the lifetime if the secret cannot be read again: most likely it is unchanged.
	grace = 30 * time.Second
	// shortest is the age from which a refused value is read again: a wrong value must not cost a call to the secret
	// store each time.
	shortest = 10 * time.Second
	// readTimeout bounds a read with its retries.
	readTimeout = 8 * time.Second
)

// Cache caches the parsed value of one secret. It is safe for concurrent use.
type Cache[T any] struct {
	load  func(context.Context) (string, error)
	parse func(string) (T, error)
	now   func() time.Time

	// turn is a mutex for the fields below. A context can interrupt waiting for it, since a read takes time.
	turn    chan struct{}
	value   T
	has     bool
	readAt  time.Time
	until   time.Time
	refused bool // the cached value is no longer valid
}

// NewCache returns a cache of the secret whose value read returns; see manager.Secret.
func NewCache[T any](read func(context.Context) (string, error), parse func(string) (T, error),
	now func() time.Time) *Cache[T] {
	return &Cache[T]{load: read, parse: parse, now: now, turn: make(chan struct{}, 1)}
}

// Get returns the value. An error means that the secret could not be read. It is transient.
func (c *Cache[T]) Get(ctx context.Context) (value T, err error) {
	if err := c.enter(ctx); err != nil {
		return value, err
	}
	defer c.leave()
	if c.refused || !c.now().Before(c.until) {
		if err := c.refresh(ctx); err != nil {
			return value, err
		}
	}
	return c.value, nil
}

// Forget makes the next Get read the secret again. It is called when the value was
// refused: it may have been replaced since it was read.
func (c *Cache[T]) Forget(ctx context.Context) {
	if c.enter(ctx) != nil {
		return // the next refusal calls it again
	}
	defer c.leave()
	if c.now().Sub(c.readAt) >= shortest {
		c.refused = true
	}
}

func (c *Cache[T]) enter(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Cache[T]) leave() { <-c.turn }

func (c *Cache[T]) refresh(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	text, err := c.load(bounded)
	var value T
	if err == nil {
		value, err = c.parse(text)
	}
	now := c.now()
	switch {
	case err == nil:
		c.value, c.has, c.readAt, c.until, c.refused = value, true, now, now.Add(Lifetime), false
		return nil
	case !c.has || c.refused || ctx.Err() != nil:
		return fmt.Errorf("secret: %w", errors.Join(ctx.Err(), err))
	default:
		slog.Warn("a secret could not be read again; its earlier value stays in use", "error", err)
		c.until = now.Add(grace)
		return nil
	}
}

// Certificate is the value of the secret with the client certificate. Both members are in PEM.
type Certificate struct {
	Certificate string `json:"certificate"`
	PrivateKey  string `json:"private_key"`
}

// ParseCertificate reads the value of a secret with a client certificate.
func ParseCertificate(value string) (*tls.Certificate, error) {
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	var c Certificate
	if d.Decode(&c) != nil || c.Certificate == "" || c.PrivateKey == "" {
		return nil, errors.New(`the client certificate is no JSON such as {"certificate": "…", "private_key": "…"}, ` +
			`both in PEM`)
	}
	pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey))
	if err != nil {
		return nil, errors.New("the client certificate and the private key are no PEM of the same key")
	}
	return &pair, nil
}

// Client returns a client of HTTP that shows the certificate that read returns. It is read again a few minutes after
// it was replaced, for new connections.
func Client(read func(context.Context) (string, error), timeout time.Duration) *http.Client {
	cached := NewCache(read, ParseCertificate, time.Now)
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // of the standard library
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12,
		GetClientCertificate: func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return cached.Get(info.Context())
		}}
	return &http.Client{Transport: transport, Timeout: timeout}
}
