package generate

import (
	"context"
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/store"
)

// CertificateKind is the kind of the item with the certificate that signs live media.
const CertificateKind = "provenance_certificate"

// certificateKey is the key of the only item of its kind.
func certificateKey() store.Key { return store.IDKey("provenance-certificate") }

// certificate is the document of the item.
type certificate struct {
	// Chain has the certificate and those that have issued it, in PEM.
	Chain string `json:"chain"`
}

// Certificate returns the chain of the certificate that signs live media, in PEM. It is empty if the operator has set
// none.
func Certificate(ctx context.Context, db *store.DB) ([]byte, error) {
	it, err := db.Get(ctx, certificateKey())
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var c certificate
	if err == nil {
		err = it.Decode(&c)
	}
	if err != nil {
		return nil, fmt.Errorf("generate: the certificate: %w", err)
	}
	return []byte(c.Chain), nil
}

// SetCertificate stores the chain of the certificate, in place of the one before. An empty one removes it.
func SetCertificate(ctx context.Context, db *store.DB, chain []byte) error {
	it, err := db.Get(ctx, certificateKey())
	missing := errors.Is(err, store.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	it.Key, it.Kind = certificateKey(), CertificateKind
	if err := it.Encode(certificate{string(chain)}); err != nil {
		return err
	}
	tx := &store.Tx{}
	if missing {
		tx.Create(it, store.ErrConflict)
	} else {
		tx.Replace(it)
	}
	return db.Commit(ctx, tx)
}
