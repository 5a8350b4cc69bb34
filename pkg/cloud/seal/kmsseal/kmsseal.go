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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/cloud/awsapi"
	"github.com/content-automation/api/pkg/cloud/seal"
)

// callTimeout bounds a call with its retries.
const callTimeout = 8 * time.Second

// Keys makes data keys under one key of KMS for one purpose. KMS refuses to unwrap a data key for another account or
// purpose, and policies can permit single purposes.
type Keys struct {
	client       *awsapi.Client
	key, purpose string
}

var _ seal.DataKeys = (*Keys)(nil)

func service(cfg aws.Config) *awsapi.Client { return awsapi.New(cfg, "kms", "kms") }

// New returns data keys under the KMS key of that ARN.
func New(cfg aws.Config, keyARN, purpose string) *Keys { return &Keys{service(cfg), keyARN, purpose} }

// keyInput is the input of GenerateDataKey, which has a specification, and of Decrypt, which has a wrapped key.
type keyInput struct {
	KeyId             string //nolint:revive // the name is of AWS
	KeySpec           string `json:",omitempty"`
	CiphertextBlob    []byte `json:",omitempty"`
	EncryptionContext map[string]string
}

// keyOutput is a data key in clear, and as Decrypt takes it.
type keyOutput struct{ Plaintext, CiphertextBlob []byte }

// Generate implements seal.DataKeys.
func (k *Keys) Generate(ctx context.Context, account string) (key, wrapped []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var out keyOutput
	err = k.client.Call(ctx, "TrentService.GenerateDataKey",
		keyInput{KeyId: k.key, KeySpec: "AES_256", EncryptionContext: k.context(account)}, &out)
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
	var out keyOutput
	err := k.client.Call(ctx, "TrentService.Decrypt",
		keyInput{KeyId: k.key, CiphertextBlob: wrapped, EncryptionContext: k.context(account)}, &out)
	var refused smithy.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode() {
		case "InvalidCiphertextException", "IncorrectKeyException":
			return nil, fmt.Errorf("%w: %w", seal.ErrOpen, err)
		}
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
	// Sign returns the signature of a digest in DER.
	Sign(ctx context.Context, key string, digest []byte) ([]byte, error)
	// PublicKey returns the public key in DER.
	PublicKey(ctx context.Context, key string) ([]byte, error)
}

// NewAPI returns the calls of KMS itself.
func NewAPI(cfg aws.Config) API { return calls{service(cfg)} }

type calls struct{ *awsapi.Client }

func (c calls) Sign(ctx context.Context, key string, digest []byte) ([]byte, error) {
	in := struct {
		KeyId, MessageType, SigningAlgorithm string //nolint:revive // the names are of AWS
		Message                              []byte
	}{key, "DIGEST", "ECDSA_SHA_256", digest}
	var out struct{ Signature []byte }
	err := c.Call(ctx, "TrentService.Sign", in, &out)
	return out.Signature, err
}

func (c calls) PublicKey(ctx context.Context, key string) ([]byte, error) {
	var out struct{ PublicKey []byte }
	err := c.Call(ctx, "TrentService.GetPublicKey", map[string]string{"KeyId": key}, &out)
	return out.PublicKey, err
}

// Signer signs with a key of KMS (ECC_NIST_P256, SIGN_VERIFY), which never leaves it.
type Signer struct {
	API API
	// Key is the ARN of the key.
	Key string
}

var _ seal.Signer = Signer{}

// NewSigner returns a signer with the KMS key of that ARN.
func NewSigner(cfg aws.Config, keyARN string) Signer { return Signer{NewAPI(cfg), keyARN} }

// Public implements seal.Signer. The id of the key is its thumbprint (RFC 7638).
func (s Signer) Public(ctx context.Context) (*ecdsa.PublicKey, string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	der, err := s.API.PublicKey(ctx, s.Key)
	if err != nil {
		return nil, "", err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
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
	return s.API.Sign(ctx, s.Key, digest[:])
}
