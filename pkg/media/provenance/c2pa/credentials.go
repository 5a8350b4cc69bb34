package c2pa

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"slices"

	"github.com/content-automation/api/pkg/media/provenance"
)

// Credentials sign the files of the service, and read the manifests of any file.
type Credentials struct {
	Library *Library
	// Test signs the files of test keys.
	Test Signer
	// Live returns the signer of all other files. Without a chain, the stack has no certificate.
	Live func(ctx context.Context) (Signer, error)
}

// OpenCredentials loads the library from a file. Live may be nil: the test certificate signs all files then.
func OpenCredentials(path string, test Signer, live func(ctx context.Context) (Signer, error)) (*Credentials, error) {
	l, err := Open(path)
	if live == nil {
		live = func(context.Context) (Signer, error) { return test, nil }
	}
	return &Credentials{l, test, live}, err
}

// Sign writes a signed copy of a file, and returns the name in the certificate: for test, the test certificate. The
// name is empty if there is no certificate, and nothing is written then.
func (c *Credentials) Sign(ctx context.Context, test bool, claim provenance.Claim, mimeType string, from io.ReadSeeker,
	to io.ReadWriteSeeker) (string, error) {
	s := c.Test
	if !test {
		var err error
		if s, err = c.Live(ctx); err != nil || len(s.Chain) == 0 {
			return "", err
		}
	}
	name, err := nameIn(s.Chain)
	if err != nil {
		return "", err
	}
	return name, c.Library.Sign(ctx, s, claim, mimeType, from, to)
}

// Read reads the manifest of a file. Certificates of the service's own issuers are trusted.
func (c *Credentials) Read(ctx context.Context, mimeType string, file io.ReadSeeker) (provenance.Report, error) {
	live, err := c.Live(ctx)
	if err != nil {
		return provenance.Report{}, err
	}
	return c.Library.Read(ctx, mimeType, file, slices.Concat(Anchor(c.Test.Chain), Anchor(live.Chain)))
}

// nameIn returns the name of the first certificate of a chain.
func nameIn(chain []byte) (string, error) {
	block, _ := pem.Decode(chain)
	if block == nil {
		return "", fmt.Errorf("c2pa: the chain has no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("c2pa: %w", err)
	}
	return cert.Subject.CommonName, nil
}
