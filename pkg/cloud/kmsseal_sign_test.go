// Package cloud_test has the tests of the packages below that name none of their internals.
package cloud_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
)

// fakeKMS signs with a key as KMS does.
type fakeKMS struct {
	key    *ecdsa.PrivateKey
	public []byte
	err    error
}

func (f *fakeKMS) Sign(ctx context.Context, key string, digest []byte) ([]byte, error) {
	if _, bounded := ctx.Deadline(); !bounded || key != "arn:key" || len(digest) != 32 {
		return nil, errors.New("a request that KMS does not take")
	}
	der, err := f.key.Sign(rand.Reader, digest, crypto.SHA256)
	return der, errors.Join(err, f.err)
}

func (f *fakeKMS) PublicKey(context.Context, string) ([]byte, error) { return f.public, nil }

func TestKMSSigns(t *testing.T) {
	fake := &fakeKMS{}
	var err error
	if fake.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if fake.public, err = x509.MarshalPKIXPublicKey(&fake.key.PublicKey); err != nil {
		t.Fatal(err)
	}
	s := kmsseal.Signer{API: fake, Key: "arn:key"}
	payload := []byte("{}")
	signature, key, err := seal.SignDetached(t.Context(), s, payload)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseDetached(signature, payload, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signed.Verify(&fake.key.PublicKey); err != nil || signed.Signatures[0].Header.KeyID != key.KID {
		t.Errorf("%v, %+v", err, key)
	}
	fake.err = errors.New("down")
	if _, _, err := seal.SignDetached(t.Context(), s, payload); !errors.Is(err, fake.err) {
		t.Errorf("%v", err)
	}
	fake.public = []byte("none")
	if _, _, err := s.Public(t.Context()); err == nil {
		t.Error("a text is no key")
	}
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if fake.public, err = x509.MarshalPKIXPublicKey(&large.PublicKey); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Public(t.Context()); err == nil {
		t.Error("a key of P-384 is taken")
	}
}
