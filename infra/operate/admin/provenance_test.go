package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
)

// oneKey is KMS with one key.
type oneKey struct{ *ecdsa.PrivateKey }

func (k oneKey) PublicKey(context.Context, string) ([]byte, error) {
	return x509.MarshalPKIXPublicKey(&k.PrivateKey.PublicKey)
}

func (k oneKey) Sign(_ context.Context, _ string, digest []byte) ([]byte, error) {
	return ecdsa.SignASN1(rand.Reader, k.PrivateKey, digest)
}

// issued returns the chain that an authority issues for a request.
func issued(t *testing.T, request []byte, usage x509.KeyUsage, until time.Time) []byte {
	t.Helper()
	block, _ := pem.Decode(request)
	if block == nil {
		t.Fatalf("no request: %s", request)
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil || asked.CheckSignature() != nil {
		t.Fatalf("the request is not signed by its key: %v", err)
	}
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: asked.Subject, KeyUsage: usage,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}}
	var chain []byte
	for _, of := range []struct {
		template *x509.Certificate
		key      any
	}{{leaf, asked.PublicKey}, {root, &authority.PublicKey}} {
		der, err := x509.CreateCertificate(rand.Reader, of.template, root, of.key, authority)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return chain
}

func TestTheCertificateOfTheKeyIsKept(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := services{db: storetest.Open(t, time.Now), now: time.Now}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := provenanceCommand(&out, &s, func(context.Context) (kmsseal.API, error) { return oneKey{key}, nil })
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(append([]string{"certificate"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	if _, err := run("show"); err == nil {
		t.Error("a certificate is shown that nobody has set")
	}
	request, err := run("request", "--key", "alias/a", "--name", "Acme GmbH")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "chain.pem")
	good := issued(t, []byte(request), x509.KeyUsageDigitalSignature, time.Now().Add(time.Hour))
	_, behind := pem.Decode(good)
	for want, chain := range map[string][]byte{
		"issuers":    good[:len(good)-len(behind)],
		"not of":     append(append([]byte{}, behind...), behind...),
		"holds from": issued(t, []byte(request), x509.KeyUsageDigitalSignature, time.Now().Add(-time.Minute)),
		"key usage":  issued(t, []byte(request), x509.KeyUsageKeyEncipherment, time.Now().Add(time.Hour)),
		"not issued": append(append([]byte{}, good[:len(good)-len(behind)]...),
			issuedBehind(t, []byte(request))...),
	} {
		if err := os.WriteFile(file, chain, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run("set", file, "--key", "alias/a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := run("set", file, "--key", "alias/a"); err != nil {
			t.Fatal(err)
		}
	}
	if shown, err := run("show"); err != nil || shown != string(good) {
		t.Errorf("%v: %s", err, shown)
	}
	if _, err := run("remove"); err != nil {
		t.Fatal(err)
	}
	if shown, err := run("show"); err == nil {
		t.Errorf("there is still %s", shown)
	}
}

// issuedBehind returns the issuer of another chain.
func issuedBehind(t *testing.T, request []byte) []byte {
	t.Helper()
	_, behind := pem.Decode(issued(t, request, x509.KeyUsageDigitalSignature, time.Now().Add(time.Hour)))
	return behind
}
