package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/generate"
)

// keys are the keys of KMS.
type keys interface {
	GetPublicKey(ctx context.Context, in *kms.GetPublicKeyInput,
		o ...func(*kms.Options)) (*kms.GetPublicKeyOutput, error)
	Sign(ctx context.Context, in *kms.SignInput, o ...func(*kms.Options)) (*kms.SignOutput, error)
}

func openKeys(ctx context.Context) (keys, error) {
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	return kms.NewFromConfig(cfg), nil
}

// provenanceCommand keeps the certificate of the Content Credentials.
func provenanceCommand(out io.Writer, s *services, open func(context.Context) (keys, error)) *cobra.Command {
	var key, name, organization string
	cmd := group("provenance", "Keep the certificate that signs the origin of media")
	certificate := group("certificate", "Request, set, show and remove the certificate of the key of KMS")
	request := &cobra.Command{Use: "request", Short: "Print a certificate request, signed by the key, for an authority",
		Example: "  admin provenance certificate request --key alias/acme-prod-media --name 'Acme GmbH'",
		Args:    cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := openKey(cmd.Context(), open, key)
			if err != nil {
				return err
			}
			der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
				Subject:            pkix.Name{CommonName: name, Organization: []string{organization}},
				SignatureAlgorithm: x509.ECDSAWithSHA256}, k)
			if err != nil {
				return err
			}
			return pem.Encode(out, &pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
		}}
	request.Flags().StringVar(&name, "name", "", "name that readers of the files see")
	request.Flags().StringVar(&organization, "organization", "", "organization in the certificate")
	_ = request.MarkFlagRequired("name")
	set := &cobra.Command{Use: "set FILE", Short: "Sign live media with the certificate of a file in PEM, which " +
		"has those of its issuers behind it",
		Example: "  admin provenance certificate set chain.pem --key alias/acme-prod-media",
		Args:    cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			chain, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			k, err := openKey(cmd.Context(), open, key)
			if err == nil {
				err = suits(chain, k.public, s.now())
			}
			if err != nil {
				return err
			}
			return generate.SetCertificate(cmd.Context(), s.db, chain)
		}}
	for _, of := range []*cobra.Command{request, set} {
		of.Flags().StringVar(&key, "key", "", "key of KMS: the output MediaKeyArn of the data stack, or its alias")
		_ = of.MarkFlagRequired("key")
	}
	display := &cobra.Command{Use: "show", Short: "Print the certificate and its issuers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			chain, err := generate.Certificate(cmd.Context(), s.db)
			if err == nil && len(chain) == 0 {
				err = errors.New("there is no certificate: live media say their origin without a signature")
			}
			if err == nil {
				_, err = out.Write(chain)
			}
			return err
		}}
	remove := &cobra.Command{Use: "remove", Short: "Sign no live media from now on", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return generate.SetCertificate(cmd.Context(), s.db, nil)
		}}
	certificate.AddCommand(request, set, display, remove)
	cmd.AddCommand(certificate)
	return cmd
}

// suits returns why a chain cannot sign media with a key, or nil.
func suits(chain []byte, key crypto.PublicKey, now time.Time) error {
	var all []*x509.Certificate
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("certificate %d: %w", len(all)+1, err)
		}
		all = append(all, c)
	}
	if len(all) < 2 {
		return errors.New("the file needs the certificate and those of its issuers, in PEM: C2PA takes none that has " +
			"issued itself")
	}
	leaf := all[0]
	own, _ := key.(interface{ Equal(crypto.PublicKey) bool })
	switch {
	case own == nil || !own.Equal(leaf.PublicKey):
		return errors.New("the first certificate is not of this key: request one by `certificate request`")
	case now.Before(leaf.NotBefore) || now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate holds from %s to %s", leaf.NotBefore.Format(time.DateOnly),
			leaf.NotAfter.Format(time.DateOnly))
	case leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0 || len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0:
		return errors.New("the certificate needs the key usage digitalSignature, and an extended usage for " +
			"documents, claims of C2PA or e-mail")
	}
	for i, c := range all[:len(all)-1] {
		if !bytes.Equal(c.RawIssuer, all[i+1].RawSubject) || c.CheckSignatureFrom(all[i+1]) != nil {
			return fmt.Errorf("certificate %d is not issued by the one behind it", i+1)
		}
	}
	return nil
}

// remoteKey is a key of KMS as Go uses keys.
type remoteKey struct {
	keys
	ctx    context.Context
	id     string
	public crypto.PublicKey
}

func openKey(ctx context.Context, open func(context.Context) (keys, error), id string) (k remoteKey, err error) {
	if k.keys, err = open(ctx); err != nil {
		return k, err
	}
	k.ctx, k.id = ctx, id
	found, err := k.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &id})
	if err != nil {
		return k, err
	}
	k.public, err = x509.ParsePKIXPublicKey(found.PublicKey)
	return k, err
}

// Public implements crypto.Signer.
func (k remoteKey) Public() crypto.PublicKey { return k.public }

// Sign implements crypto.Signer.
func (k remoteKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	made, err := k.keys.Sign(k.ctx, &kms.SignInput{KeyId: &k.id, Message: digest, MessageType: types.MessageTypeDigest,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256})
	if err != nil {
		return nil, err
	}
	return made.Signature, nil
}
