package secret

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

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
