package publishing

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
)

// Signed has a signer sign the dossiers of live posts. Without one, and those of sandboxes, they are signed with a key
// that everybody knows, whose id says so.
func (s *Service) Signed(by seal.Signer) *Service {
	s.signatures = by
	return s
}

// SignedDossier is a dossier with its signature.
type SignedDossier struct {
	// What is known of the post, as it was when it was published.
	Dossier canonical `json:"dossier"`
	// SHA-256 of the canonical form of the dossier (RFC 8785), in hexadecimal. The entry publication.published of the
	// audit log has it as dossier_sha256.
	SHA256 string `json:"sha256"`
	// Signature by ES256 of the canonical form: a JWS without its payload (RFC 7515, Appendix F). To verify it, put the
	// canonical form in base64url between its two points.
	Signature string `json:"signature"`
	// Public key that verifies the signature.
	Key seal.JWK `json:"key"`
}

// canonical is a dossier in its canonical form.
type canonical struct{ json.RawMessage }

// Schema describes the dossier in the OpenAPI document.
func (canonical) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[publication.Dossier](), true, "")
}

// registerDossiers adds the operation that reads dossiers.
func (s *Service) registerDossiers(r *httpapi.Router) {
	get := op("getPublicationDossier", http.MethodGet, "/v1/publications/{publication_id}/dossier", auth.ContentRead,
		"Get the dossier of a published post",
		"Returns what is known of a post as it was when it was published: the rules of law that were checked, who "+
			"approved it, the models, the hashes of its files and its texts. It is never changed, also if the post is "+
			"changed or deleted, and ends with its content item. It is signed at each call. Its hash is in the audit "+
			"log since the publication.").Opening(httpapi.Nothing)
	get.Errors = []errs.Code{errs.NotFound, errs.InvalidState, errs.ProviderUnavailable}
	httpapi.Read(r, get, s.dossier)
}

func (s *Service) dossier(ctx context.Context, in *PublicationPath) (out SignedDossier, err error) {
	r, it, _, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if pub := r.Item.Publication(in.ID); pub.PublishedAt == nil {
		return out, errs.New(errs.InvalidState, "The publication is %s. A dossier is made when the post is published.",
			pub.State).In(pub.State)
	}
	found, err := s.db.Lookup(ctx, publication.DossierKey(in.ID))
	if err != nil {
		return out, err
	}
	if found.Kind != publication.DossierKind || found.Owner != it.Owner {
		return out, errs.Missing("dossier", in.ID)
	}
	var d publication.StoredDossier
	if err := found.Decode(&d); err != nil {
		return out, err
	}
	signer := s.signatures
	if signer == nil || it.Owner.Mode == tenant.Test {
		if signer, err = seal.TestSigner(); err != nil {
			return out, err
		}
	}
	out.Dossier, out.SHA256 = canonical{json.RawMessage(d.Canonical)}, d.SHA256
	out.Signature, out.Key, err = seal.Detached(ctx, signer, []byte(d.Canonical))
	if err != nil {
		return out, errs.Wrap(err, errs.ProviderUnavailable, "The dossier cannot be signed at the moment. Repeat the "+
			"request.")
	}
	return out, nil
}
