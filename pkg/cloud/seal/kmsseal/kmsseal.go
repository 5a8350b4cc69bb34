// Package kmsseal makes data keys with AWS KMS. Keys makes keys of envelopes, and Signer signs.
package kmsseal

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/content-automation/api/pkg/cloud/seal"
)

// callTimeout bounds a call with its retries.
const callTimeout = 8 * time.Second

// Keys makes data keys under one key of KMS for one purpose. KMS refuses to unwrap a data key for another account or
// purpose, and policies can permit single purposes.
type Keys struct {
	client       func() *kms.Client
	key, purpose string
}

var _ seal.DataKeys = (*Keys)(nil)

// New returns data keys under the KMS key of that ARN. The client is made at the first
// call, so that a cold start does not wait for it.
func New(cfg aws.Config, keyARN, purpose string) *Keys {
	return &Keys{sync.OnceValue(func() *kms.Client { return kms.NewFromConfig(cfg) }), keyARN, purpose}
}

// Generate implements seal.DataKeys.
func (k *Keys) Generate(ctx context.Context, account string) (key, wrapped []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := k.client().GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: &k.key, KeySpec: types.DataKeySpecAes256, EncryptionContext: k.context(account),
	})
	if err != nil {
		return nil, nil, err
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Unwrap implements seal.DataKeys.
func (k *Keys) Unwrap(ctx context.Context, account string, wrapped []byte) ([]byte, error) {
	if len(wrapped) == 0 {
		return nil, seal.ErrOpen
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := k.client().Decrypt(ctx, &kms.DecryptInput{
		KeyId: &k.key, CiphertextBlob: wrapped, EncryptionContext: k.context(account),
	})
	var invalid *types.InvalidCiphertextException
	var other *types.IncorrectKeyException
	if errors.As(err, &invalid) || errors.As(err, &other) {
		return nil, fmt.Errorf("%w: %w", seal.ErrOpen, err)
	}
	if err != nil {
		return nil, err
	}
	return out.Plaintext, nil
}

// context returns the encryption context, which KMS authenticates and CloudTrail logs in clear.
func (k *Keys) context(account string) map[string]string {
	return map[string]string{"account": account, "purpose": k.purpose}
}

// API are the calls of KMS that a Signer makes.
type API interface {
	Sign(ctx context.Context, in *kms.SignInput, options ...func(*kms.Options)) (*kms.SignOutput, error)
	GetPublicKey(ctx context.Context, in *kms.GetPublicKeyInput,
		options ...func(*kms.Options)) (*kms.GetPublicKeyOutput, error)
}

var _ API = (*kms.Client)(nil)

// Signer signs with a key of KMS (ECC_NIST_P256, SIGN_VERIFY), which never leaves it.
type Signer struct {
	API func() API
	// Key is the ARN of the key.
	Key string
}

var _ seal.Signer = Signer{}

// NewSigner returns a signer with the KMS key of that ARN. The client is made at the first call.
func NewSigner(cfg aws.Config, keyARN string) Signer {
	return Signer{sync.OnceValue(func() API { return kms.NewFromConfig(cfg) }), keyARN}
}

// Public implements seal.Signer. The id of the key is its thumbprint (RFC 7638).
func (s Signer) Public(ctx context.Context) (*ecdsa.PublicKey, string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := s.API().GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &s.Key})
	if err != nil {
		return nil, "", err
	}
	parsed, err := x509.ParsePKIXPublicKey(out.PublicKey)
	if err != nil {
		return nil, "", fmt.Errorf("kmsseal: public key of %s: %w", s.Key, err)
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return nil, "", fmt.Errorf("kmsseal: %s is no key of P-256", s.Key)
	}
	id, err := seal.Thumbprint(public)
	return public, id, err
}

// Sign implements seal.Signer by one call of kms:Sign.
func (s Signer) Sign(ctx context.Context, digest [sha256.Size]byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := s.API().Sign(ctx, &kms.SignInput{KeyId: &s.Key, Message: digest[:],
		MessageType: types.MessageTypeDigest, SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256})
	if err != nil {
		return nil, err
	}
	return out.Signature, nil
}
