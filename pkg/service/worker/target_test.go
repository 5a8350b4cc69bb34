package worker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/service/worker"
)

var expires = time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)

// newCertificate makes a client certificate with its key, in PEM.
func newCertificate(t *testing.T) (certificate, private string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "canary"}, NotBefore: time.Unix(0, 0),
		NotAfter:    expires,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &of, &of, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	return text("CERTIFICATE", der), text("PRIVATE KEY", pkcs8)
}

func text(t *testing.T, target worker.Target) string {
	t.Helper()
	b, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An API that wants a client certificate is probed with one. The files are elsewhere, and
// the certificate is not shown there.
func TestAProbeShowsItsCertificate(t *testing.T) {
	certificate, private := newCertificate(t)
	w := newWorld(t)
	files := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			t.Error("the certificate was shown to the store of files")
		}
		_, _ = rw.Write([]byte("png"))
	}))
	files.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	files.StartTLS()
	t.Cleanup(files.Close)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(certificate))
	w.server.Close()
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
	w.server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted}
	w.server.StartTLS()
	t.Cleanup(w.server.Close)
	w.answer["GET /v1/content-items/cnt_1"] = `{"id":"cnt_1","state":"generated","media":[{"url":"` + files.URL +
		`/file.png"}]}`

	target := worker.Target{BaseURL: w.server.URL, Key: key}
	if r, err := w.run(text(t, target)); err != nil || r.Error == "" || len(w.calls) > 0 {
		t.Errorf("without the certificate: %+v, %v", r, err)
	}
	target.Certificate, target.PrivateKey = certificate, private
	if r, err := w.run(text(t, target)); err != nil || r.Error != "" {
		t.Errorf("with it: %+v, %v", r, err)
	}
	// A plain target is probed with the client as before.
	parsed, err := worker.ParseTarget(text(t, target))
	if err != nil || !parsed.Expires().Equal(expires) {
		t.Errorf("it expires at %v, %v", parsed.Expires(), err)
	}
	if parsed, err = worker.ParseTarget(`{}`); err != nil || !parsed.Expires().IsZero() {
		t.Errorf("no certificate expires at %v, %v", parsed.Expires(), err)
	}
}

func TestRefusedCertificates(t *testing.T) {
	certificate, private := newCertificate(t)
	_, other := newCertificate(t)
	for name, target := range map[string]worker.Target{
		"no private key": {BaseURL: "https://a.example", Key: key, Certificate: certificate},
		"no certificate": {BaseURL: "https://a.example", Key: key, PrivateKey: private},
		"another key":    {BaseURL: "https://a.example", Key: key, Certificate: certificate, PrivateKey: other},
		"no PEM": {BaseURL: "https://a.example", Key: key, Certificate: "hunter2",
			PrivateKey: "hunter2"},
		"nothing to show it to": {Certificate: certificate, PrivateKey: private},
	} {
		_, err := worker.ParseTarget(text(t, target))
		if err == nil || !strings.Contains(err.Error(), "certificate and private_key") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
