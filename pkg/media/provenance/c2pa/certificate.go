package c2pa

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"time"
)

// TestName is the name in test certificates. They sign the files of sandboxes and of the local service.
const TestName = "TEST CERTIFICATE, not for publication"

// testLife is how long a test certificate holds.
const testLife = 10 * 365 * 24 * time.Hour

// localKey is a key in the memory.
type localKey struct{ *ecdsa.PrivateKey }

// Sign implements Key by the private key, which is in the memory of this process.
func (k localKey) Sign(_ context.Context, digest [sha256.Size]byte) ([]byte, error) {
	return k.PrivateKey.Sign(rand.Reader, digest[:], crypto.SHA256)
}

// NewTest makes a key with a test certificate, of an issuer of its own.
func NewTest(now time.Time) (Signer, error) {
	issuer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(testLife),
			Subject:               pkix.Name{CommonName: name, Organization: []string{TestName}},
			BasicConstraintsValid: true,
		}
	}
	root, leaf := template(1, TestName+" (issuer)"), template(2, TestName)
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}
	issued, err := x509.CreateCertificate(rand.Reader, root, root, &issuer.PublicKey, issuer)
	if err == nil {
		root, err = x509.ParseCertificate(issued) // with the identifier of its key, which the other names
	}
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	own, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, issuer)
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	var chain []byte
	for _, der := range [][]byte{own, issued} {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return Signer{localKey{key}, chain}, nil
}

// Kept returns the signer that a file has, or a new one with a test certificate, which it writes into the file.
func Kept(path string, now time.Time) (Signer, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		s, err := NewTest(now)
		if err != nil {
			return s, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(s.Key.(localKey).PrivateKey)
		if err != nil {
			return s, fmt.Errorf("c2pa: %w", err)
		}
		key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		return s, os.WriteFile(path, slices.Concat(key, s.Chain), 0o600)
	}
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	block, chain := pem.Decode(content)
	if block == nil {
		return Signer{}, fmt.Errorf("c2pa: %s has no key", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if own, ok := key.(*ecdsa.PrivateKey); ok {
		return Signer{localKey{own}, chain}, nil
	}
	return Signer{}, fmt.Errorf("c2pa: %s has no key of P-256: %w", path, err)
}

// Anchor returns the last certificate of a chain, in PEM: the one that is trusted to issue the others.
func Anchor(chain []byte) (anchor []byte) {
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		anchor = pem.EncodeToMemory(block)
	}
	return anchor
}
