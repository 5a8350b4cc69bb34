package worker

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Target is the target of probes: the value of the canary's secret.
type Target struct {
	BaseURL string `json:"base_url"`
	// Key is a test key with the scopes content:read, content:write, factories:read and factories:write.
	Key string `json:"key"`
	// LiveKey is a live key with the same scopes, account:read and studio:use. With it each provider is probed once a
	// day, which costs credits of its account. It may be empty.
	LiveKey string `json:"live_key,omitempty"`
	// LiveProviders are the providers that are probed. If it is empty, all are.
	LiveProviders []string `json:"live_providers,omitempty"`
	// Certificate and PrivateKey are in PEM. They are for an API whose callers need a client certificate.
	Certificate string `json:"certificate,omitempty"`
	PrivateKey  string `json:"private_key,omitempty"`
	shown       *tls.Certificate
}

// ParseTarget reads the value of the secret. An empty target is not probed.
func ParseTarget(value string) (t Target, err error) {
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, errors.New(`the target is no JSON such as {"base_url": "https://…", "key": "svc_test_…"}`)
	}
	if (t.BaseURL == "") != (t.Key == "") || t.Key != "" && !strings.HasPrefix(t.Key, "svc_test_") {
		return t, errors.New("the target needs base_url and key, which must be a test key")
	}
	if t.LiveKey != "" && (t.Key == "" || !strings.HasPrefix(t.LiveKey, "svc_live_")) {
		return t, errors.New("live_key of the target must be a live key, beside base_url and key")
	}
	if t.Certificate == "" && t.PrivateKey == "" {
		return t, nil
	}
	pair, err := tls.X509KeyPair([]byte(t.Certificate), []byte(t.PrivateKey))
	if err != nil || t.Key == "" {
		return t, errors.New("the target needs certificate and private_key as PEM, of the same key, beside base_url " +
			"and key")
	}
	t.shown = &pair
	return t, nil
}

// Expires returns the time at which the client certificate expires, or the zero time if there is none.
func (t Target) Expires() time.Time {
	if t.shown == nil {
		return time.Time{}
	}
	return t.shown.Leaf.NotAfter
}

// client returns a client that uses the certificate of the target, and a function that closes its connections.
func (t Target) client(plain *http.Client) (c *http.Client, done func()) {
	if t.shown == nil {
		return plain, func() {}
	}
	transport, ok := plain.Transport.(*http.Transport)
	if !ok {
		transport = http.DefaultTransport.(*http.Transport)
	}
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.Certificates = []tls.Certificate{*t.shown}
	with := *plain
	with.Transport = transport
	return &with, transport.CloseIdleConnections
}
