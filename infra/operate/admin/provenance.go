package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/generate"
)

func openKeys(ctx context.Context) (kmsseal.API, error) {
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	return kmsseal.NewAPI(cfg), nil
}

// provenanceCommand keeps the certificate of the Content Credentials.
func provenanceCommand(out io.Writer, s *services, open func(context.Context) (kmsseal.API, error)) *cobra.Command {
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
	kmsseal.Signer
	ctx    context.Context
	public *ecdsa.PublicKey
}

func openKey(ctx context.Context, open func(context.Context) (kmsseal.API, error), id string) (k remoteKey, err error) {
	api, err := open(ctx)
	if err != nil {
		return k, err
	}
	k.ctx, k.Signer = ctx, kmsseal.Signer{API: api, Key: id}
	k.public, _, err = k.Signer.Public(ctx)
	return k, err
}

// Public implements crypto.Signer.
func (k remoteKey) Public() crypto.PublicKey { return k.public }

// Sign implements crypto.Signer for digests of SHA-256.
func (k remoteKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	if len(digest) != sha256.Size {
		return nil, fmt.Errorf("a digest of %d bytes is none of SHA-256", len(digest))
	}
	return k.Signer.Sign(k.ctx, [sha256.Size]byte(digest))
}
