// Package seal encrypts values that must not be readable from the table alone: with AES-256-GCM, under keys that HKDF
// derives from a secret. Start with Envelope, which seals for an owner, and Box, which has keys of its own.
package seal

import (
	"context"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
)

// ErrOpen is the error of sealed data that is damaged, or was sealed by another key or for another context.
var ErrOpen = errors.New("seal: cannot open sealed data")

const keyBytes = 32 // AES-256

// Secret returns the versions of the system's secret, the current one first. Data is sealed with the first and opened
// with any of them, so that the secret can be rotated. The zero value has one empty version, for the description of
// operations.
type Secret func(ctx context.Context) ([][]byte, error)

// FixedSecret returns a secret of one version.
func FixedSecret(b []byte) Secret {
	versions := [][]byte{slices.Clone(b)}
	return func(context.Context) ([][]byte, error) { return versions, nil }
}

// Keys derives the keys of a salt and a purpose, one from each version of the secret, the current one first.
func (s Secret) Keys(ctx context.Context, salt []byte, purpose string) ([][]byte, error) {
	if s == nil {
		s = FixedSecret(nil)
	}
	versions, err := s(ctx)
	if err != nil {
		return nil, fmt.Errorf("seal: read secret: %w", err)
	}
	keys := make([][]byte, len(versions))
	for i, version := range versions {
		if keys[i], err = Derive(version, salt, purpose); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Box seals data with its first key, and opens data that was sealed with any of its keys.
type Box struct{ gcms []cipher.AEAD }

// Derive derives a key from a secret. A salt, which may be empty, and a purpose lead to
// different keys. All keys come from here: a key service would take its place.
func Derive(secret, salt []byte, purpose string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("seal: derive key: %w", err)
	}
	return key, nil
}

// New returns a box with derived keys. It seals with the first of them.
func New(keys ...[]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("seal: a box needs a key")
	}
	b := &Box{}
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("seal: make cipher: %w", err)
		}
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("seal: make cipher: %w", err)
		}
		b.gcms = append(b.gcms, gcm)
	}
	return b, nil
}

// Seal encrypts data for a context, such as its owner. Open needs the same context.
func (b *Box) Seal(data []byte, context string) []byte {
	return b.gcms[0].Seal(nil, nil, data, []byte(context))
}

// Open decrypts sealed data. It returns ErrOpen unless it was sealed by one of the box's keys for the same context.
func (b *Box) Open(sealed []byte, context string) ([]byte, error) {
	for _, gcm := range b.gcms {
		if data, err := gcm.Open(nil, nil, sealed, []byte(context)); err == nil {
			return data, nil
		}
	}
	return nil, ErrOpen
}

// DataKeys is a key service that makes the keys of envelopes. Only it can open a wrapped key. Its errors are transient,
// except those that wrap ErrOpen.
type DataKeys interface {
	// Generate returns a new key for data of an account, in clear and wrapped.
	Generate(ctx context.Context, account string) (key, wrapped []byte, err error)
	// Unwrap returns a wrapped key in clear. Its error wraps ErrOpen if the key is damaged, or belongs to another
	// account.
	Unwrap(ctx context.Context, account string, wrapped []byte) ([]byte, error)
}

// The purposes of data keys.
const (
	// ForTokens seals the tokens of social accounts and integrations.
	ForTokens = "social-tokens"
	// ForSigning seals the signing keys of webhooks.
	ForSigning = "webhook-signing-keys"
)

const (
	// keyLifetime is the time for which a data key stays in memory, and so the longest time for which it is used after
	// the key service has refused it.
	keyLifetime = 5 * time.Minute
	// mostKeys bounds the data keys in memory.
	mostKeys = 1000
)

// envelopeVersion is the first byte of an envelope. It is followed by the length of the wrapped key, in two bytes, the
// wrapped key and the sealed data.
const envelopeVersion = 1

// Envelope seals and opens data with data keys of its account. The wrapped key is stored
// with the data. It is safe for concurrent use.
type Envelope struct {
	keys DataKeys
	now  func() time.Time

	mu       sync.Mutex
	dataKeys map[string]dataKey
}

type dataKey struct {
	box     *Box
	wrapped []byte
	until   time.Time
}

// NewEnvelope returns an envelope with the keys of a key service.
func NewEnvelope(keys DataKeys, now func() time.Time) *Envelope {
	return &Envelope{keys: keys, now: now, dataKeys: map[string]dataKey{}}
}

// Seal encrypts data of an account for a context. Open needs the same account and context.
func (e *Envelope) Seal(ctx context.Context, account string, data []byte, context string) ([]byte, error) {
	k, err := e.key("seal#"+account, func() (key, wrapped []byte, err error) { return e.keys.Generate(ctx, account) })
	if err != nil {
		return nil, err
	}
	sealed := binary.BigEndian.AppendUint16([]byte{envelopeVersion}, uint16(len(k.wrapped)))
	sealed = append(sealed, k.wrapped...)
	return append(sealed, k.box.Seal(data, context)...), nil
}

// Open decrypts sealed data. It returns ErrOpen unless it was sealed for the same account and context.
func (e *Envelope) Open(ctx context.Context, account string, sealed []byte, context string) ([]byte, error) {
	if len(sealed) < 3 || sealed[0] != envelopeVersion {
		return nil, ErrOpen
	}
	wrapped, data := sealed[3:], []byte(nil)
	if n := int(binary.BigEndian.Uint16(sealed[1:])); n <= len(wrapped) {
		wrapped, data = wrapped[:n], wrapped[n:]
	}
	k, err := e.key("open#"+account+"#"+string(wrapped), func() ([]byte, []byte, error) {
		key, err := e.keys.Unwrap(ctx, account, wrapped)
		return key, wrapped, err
	})
	if err != nil {
		return nil, err
	}
	return k.box.Open(data, context)
}

// key returns the cached data key of a name, or a new one.
func (e *Envelope) key(name string, fresh func() (key, wrapped []byte, err error)) (dataKey, error) {
	if k, ok := e.get(name); ok {
		return k, nil
	}
	key, wrapped, err := fresh()
	if errors.Is(err, ErrOpen) {
		return dataKey{}, err
	}
	if err != nil {
		return dataKey{}, errs.Wrap(fmt.Errorf("seal: data key: %w", err), errs.ProviderUnavailable,
			"Secrets cannot be stored or read at the moment. Try again after a few seconds.")
	}
	box, err := New(key)
	if err != nil {
		return dataKey{}, err
	}
	k := dataKey{box, wrapped, e.now().Add(keyLifetime)}
	e.put(name, k)
	return k, nil
}

func (e *Envelope) get(name string) (dataKey, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, ok := e.dataKeys[name]
	return k, ok && e.now().Before(k.until)
}

// Forget forgets the data keys that it keeps, as the end of a process does.
func (e *Envelope) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.dataKeys)
}

func (e *Envelope) put(name string, k dataKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.dataKeys) >= mostKeys {
		now := e.now()
		maps.DeleteFunc(e.dataKeys, func(_ string, k dataKey) bool { return !now.Before(k.until) })
	}
	if len(e.dataKeys) >= mostKeys {
		clear(e.dataKeys)
	}
	e.dataKeys[name] = k
}

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

// SignDetached signs a payload by ES256, and returns the signature as a JWS without its payload (RFC 7515, Appendix F),
// and the key that verifies it.
func SignDetached(ctx context.Context, s Signer, payload []byte) (jws string, key JWK, err error) {
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
