package seal

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
)

// Signer signs with a private key on the curve P-256 that it does not give away.
type Signer interface {
	// Public returns the public key, and the id of the key.
	Public(ctx context.Context) (*ecdsa.PublicKey, string, error)
	// Sign returns the signature of a SHA-256 digest as ASN.1 DER (RFC 3279).
	Sign(ctx context.Context, digest [sha256.Size]byte) ([]byte, error)
}

// JWK is a public key as a JSON Web Key (RFC 7517).
type JWK struct {
	// Id of the key. It begins with test-only if the key is that of sandboxes, which proves nothing.
	KID string `json:"kid" example:"NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"`
	// Type of the key: EC for elliptic curves.
	KTY string `json:"kty" enum:"EC"`
	// Curve of the key, which is P-256.
	CRV string `json:"crv" enum:"P-256"`
	// First coordinate of the point, in base64url without padding.
	X string `json:"x"`
	// Second coordinate of the point, in base64url without padding.
	Y string `json:"y"`
}

// KeyOf returns a public key of P-256 as a JWK with an id.
func KeyOf(public *ecdsa.PublicKey, id string) (JWK, error) {
	raw, err := public.Bytes() // the byte 4, then X and Y
	if err != nil || len(raw) != 65 {
		return JWK{}, fmt.Errorf("seal: the key %s is none of P-256: %w", id, err)
	}
	return JWK{KID: id, KTY: "EC", CRV: "P-256", X: encode(raw[1:33]), Y: encode(raw[33:])}, nil
}

// Thumbprint returns the thumbprint of a public key (RFC 7638), which serves as its id.
func Thumbprint(public *ecdsa.PublicKey) (string, error) {
	k, err := KeyOf(public, "")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":%q,"kty":%q,"x":%q,"y":%q}`, k.CRV, k.KTY, k.X, k.Y))
	return encode(sum[:]), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Detached signs a payload by ES256, and returns the signature as a JWS without its payload (RFC 7515, Appendix F), and
// the key that verifies it.
func Detached(ctx context.Context, s Signer, payload []byte) (jws string, key JWK, err error) {
	public, id, err := s.Public(ctx)
	if err != nil {
		return "", key, err
	}
	if key, err = KeyOf(public, id); err != nil {
		return "", key, err
	}
	header, err := json.Marshal(map[string]string{"alg": "ES256", "kid": id})
	if err != nil {
		return "", key, err
	}
	digest := sha256.Sum256([]byte(encode(header) + "." + encode(payload)))
	der, err := s.Sign(ctx, digest)
	if err != nil {
		return "", key, err
	}
	raw, err := RawSignature(der)
	if err != nil {
		return "", key, fmt.Errorf("seal: the key %s: %w", id, err)
	}
	return encode(header) + ".." + encode(raw), key, nil
}

// RawSignature returns a signature in ASN.1 DER as ES256 writes it: two numbers of 32 bytes each (RFC 7518, 3.4).
func RawSignature(der []byte) ([]byte, error) {
	const size = 32
	var numbers struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &numbers); err != nil || len(rest) > 0 || numbers.R.Sign() <= 0 ||
		numbers.S.Sign() <= 0 || numbers.R.BitLen() > 8*size || numbers.S.BitLen() > 8*size {
		return nil, fmt.Errorf("seal: %d bytes that are no signature of P-256", len(der))
	}
	raw := make([]byte, 2*size)
	numbers.R.FillBytes(raw[:size])
	numbers.S.FillBytes(raw[size:])
	return raw, nil
}

// testOnly begins the id of the key of TestSigner.
const testOnly = "test-only-"

type testSigner struct{ key *ecdsa.PrivateKey }

// TestSigner returns a signer with a key that everybody knows. Its id says so.
func TestSigner() (Signer, error) {
	seed := sha256.Sum256([]byte("content-automation: a key that everybody knows"))
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	return testSigner{key}, err
}

// Public implements Signer. The id of the key says that it is a test key.
func (s testSigner) Public(context.Context) (*ecdsa.PublicKey, string, error) {
	id, err := Thumbprint(&s.key.PublicKey)
	return &s.key.PublicKey, testOnly + id, err
}

// Sign implements Signer. The same digest has the same signature (RFC 6979).
func (s testSigner) Sign(_ context.Context, digest [sha256.Size]byte) ([]byte, error) {
	return s.key.Sign(nil, digest[:], crypto.SHA256)
}
