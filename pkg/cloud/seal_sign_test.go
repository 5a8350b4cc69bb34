package cloud_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/content-automation/api/pkg/cloud/seal"
)

// Another implementation of RFC 7515 verifies the signatures.
func TestADetachedSignature(t *testing.T) {
	s, err := seal.TestSigner()
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte(`{"a":1}`)
	signature, key, err := seal.SignDetached(t.Context(), s, payload)
	if err != nil || strings.Count(signature, ".") != 2 || !strings.Contains(signature, "..") {
		t.Fatalf("%s, %v", signature, err)
	}
	raw, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseDetached(signature, payload, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signed.Verify(jwk); err != nil || signed.Signatures[0].Header.KeyID != key.KID {
		t.Errorf("%v, key %s of %s", err, signed.Signatures[0].Header.KeyID, key.KID)
	}
	other, err := jose.ParseDetached(signature, []byte(`{"a":2}`), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Verify(jwk); err == nil {
		t.Error("it verifies another payload")
	}
	sum, err := jwk.Thumbprint(crypto.SHA256)
	if want := "test-only-" + base64.RawURLEncoding.EncodeToString(sum); err != nil || key.KID != want {
		t.Errorf("the key is %s, want %s, %v", key.KID, want, err)
	}
	// Everybody has the same key.
	again, _, err := seal.SignDetached(t.Context(), s, payload)
	if other, _ := seal.TestSigner(); err != nil || other == nil ||
		!bytes.Equal([]byte(again)[:20], []byte(signature)[:20]) {
		t.Errorf("%s is not as %s, %v", again, signature, err)
	}
}

// faulty signs, but for its faults.
type faulty struct {
	seal.Signer
	public, sign error
	der          []byte
}

func (f faulty) Public(ctx context.Context) (*ecdsa.PublicKey, string, error) {
	if f.public != nil {
		return nil, "", f.public
	}
	return f.Signer.Public(ctx)
}

func (f faulty) Sign(context.Context, [sha256.Size]byte) ([]byte, error) { return f.der, f.sign }

func TestSignersThatFail(t *testing.T) {
	s, err := seal.TestSigner()
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	for name, f := range map[string]faulty{"no key": {s, down, nil, nil}, "no signature": {s, nil, down, nil},
		"no DER": {s, nil, nil, []byte{1, 2}}, "zeros": {s, nil, nil, []byte{0x30, 6, 2, 1, 0, 2, 1, 0}}} {
		if signature, _, err := seal.SignDetached(t.Context(), f, nil); err == nil || signature != "" {
			t.Errorf("%s: %q, %v", name, signature, err)
		}
	}
}
