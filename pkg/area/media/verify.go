package media

import (
	"context"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type verifyBody struct {
	// Id of a media that is ready: of the file to check, which you have uploaded or named by `source_url`.
	MediaID string `json:"media_id" example:"med_01h455vb4pex5vsknk084sn02q"`
}

type verifyInput struct{ Body verifyBody }

// Verified is what is known of the origin of a file.
type Verified struct {
	// Id of the media.
	MediaID string `json:"media_id" example:"med_01h455vb4pex5vsknk084sn02q"`
	// What the file says of itself, before its personal data was removed. Anyone can write anything into a file: only
	// a valid signature shows who says it.
	File FileSays `json:"file"`
	// Your content item or generation that the file is of. Null if the register of your finished files has neither its
	// hash nor a picture like it.
	Ours *Ours `json:"ours"`
}

// FileSays is what a file says of its origin.
type FileSays struct {
	// IPTC's term for how the file was made, of its XMP or else of its Content Credentials. Null if it says nothing.
	DigitalSourceType *string `json:"digital_source_type" format:"uri"`
	// Credit line of its XMP. Null if it has none.
	Credit *string `json:"credit" example:"Acme"`
	// Models that its XMP names.
	Models []string `json:"models" nullable:"false"`
	// State of the signature of its Content Credentials (C2PA). `untrusted`: it holds, and nobody vouches for its
	// certificate. `invalid`: the file was changed after it was signed, or the manifest is broken. `none`: it has no
	// manifest.
	Signature provenance.Signature `json:"signature" enum:"valid,untrusted,invalid,none"`
	// Name in the certificate. Null without a manifest.
	Signer *string `json:"signer" example:"Acme GmbH"`
	// Software that has written the manifest. Null without a manifest.
	Generator *string `json:"generator" example:"Content Automation 1a2b3c4d5e6f"`
	// What its manifest says, and what the manifests of its ingredients say; up to 100.
	Claims []FileClaim `json:"claims" nullable:"false"`
	// Codes of C2PA for what is wrong with the manifest, such as `assertion.dataHash.mismatch`.
	Problems []string `json:"problems" nullable:"false"`
}

// FileClaim is one thing that a manifest says.
type FileClaim struct {
	// What the name is of.
	Kind string `json:"kind" enum:"action,model,ingredient"`
	// Action of C2PA, model, or title of the ingredient.
	Name string `json:"name" example:"c2pa.created"`
	// Software that has acted.
	By string `json:"by,omitempty" example:"FLUX 1.1 [pro]"`
	// Relation of the ingredient to the file.
	Relation string `json:"relation,omitempty" example:"componentOf"`
	// IPTC's term for how the part was made that the action is about.
	DigitalSourceType string `json:"digital_source_type,omitempty" format:"uri"`
}

// Ours is the finished file of the account that a file is a copy of.
type Ours struct {
	// Content item that has the file. Null if it is of a generation.
	ContentItemID *string `json:"content_item_id"`
	// Generation that has the file. Null if it is of a content item.
	GenerationID *string `json:"generation_id"`
	// Id of the file in `media` of the item or generation.
	FileID string `json:"file_id"`
	// How it was found: by the `hash` of the file, which is the same to the last byte, or by the `likeness` of the
	// picture, which other programs may have encoded anew. Videos and audio have no likeness.
	Match string `json:"match" enum:"hash,likeness"`
	// In how many of 64 areas the pictures differ: 0 to 6. 0 for a match by hash.
	Distance int `json:"distance" minimum:"0" maximum:"6"`
	// Models that took part, writers of texts included.
	Models []string `json:"models" nullable:"false"`
	// When it was generated.
	GeneratedAt resource.Time `json:"generated_at"`
}

// registerVerify adds the operation that checks the origin of files.
func (s *Service) registerVerify(r *httpapi.Router, op httpapi.Op) {
	op.ID, op.Method, op.Path = "verifyProvenance", http.MethodPost, "/v1/provenance/verify"
	op.Summary = "Check where a file comes from"
	op.Description = "Returns what a file says of its origin – IPTC's metadata and the Content Credentials of C2PA – " +
		"whether the signature holds, and whether it is a file of yours: by its hash, or by the likeness of a " +
		"picture that has lost its metadata. First [bring the file in](#operation/createMedia), and wait until it " +
		"is `ready`. It changes nothing."
	op.Scope, op.Opens = auth.ContentRead, httpapi.Nothing
	op.Errors = []errs.Code{errs.NotFound, errs.InvalidState}
	httpapi.Write(r, op, s.verify)
}

func (s *Service) verify(ctx context.Context, _ *store.Tx, in *verifyInput) (out Verified, err error) {
	it, err := resource.Find(ctx, s.db, id.Media, "media", in.Body.MediaID)
	if errs.CodeOf(err) == errs.NotFound {
		err = errs.MissingAt("/media_id", "media", in.Body.MediaID)
	}
	if err != nil {
		return out, err
	}
	r, err := Decode(&it)
	if err != nil {
		return out, err
	}
	if r.State != Ready {
		return out, errs.New(errs.InvalidState, "The media %s is %s. Only a media that is ready can be checked.", r.ID,
			r.State).In(string(r.State), string(Ready))
	}
	found := provenance.Inspection{SHA256: r.SHA256}
	if r.File.Inspection != nil {
		found = *r.File.Inspection
	}
	out = Verified{MediaID: r.ID, File: says(found)}
	e, err := generate.Find(ctx, s.db, auth.FromContext(ctx).Owner, found.SHA256, found.Likeness)
	if err != nil || e == nil {
		return out, err
	}
	out.Ours = &Ours{FileID: e.File, Match: "hash", Distance: e.Distance, Models: append([]string{}, e.Models...),
		GeneratedAt: e.GeneratedAt}
	if e.SHA256 != found.SHA256 {
		out.Ours.Match = "likeness"
	}
	if id.Valid(id.ContentItem, e.Subject) {
		out.Ours.ContentItemID = &e.Subject
	} else {
		out.Ours.GenerationID = &e.Subject
	}
	return out, nil
}

// says returns an inspection as callers see it.
func says(i provenance.Inspection) FileSays {
	out := FileSays{DigitalSourceType: resource.OrNil(i.Source.URI()), Credit: resource.OrNil(i.Credit),
		Models: []string{}, Signature: i.Signature, Signer: resource.OrNil(i.Signer),
		Generator: resource.OrNil(i.Generator), Claims: []FileClaim{}, Problems: append([]string{}, i.Problems...)}
	if out.DigitalSourceType == nil {
		out.DigitalSourceType = resource.OrNil(i.Signed.URI())
	}
	if out.Signature == "" {
		out.Signature = provenance.None
	}
	for name := range strings.SplitSeq(i.Systems, ", ") {
		if name != "" {
			out.Models = append(out.Models, name)
		}
	}
	for _, f := range i.Facts {
		out.Claims = append(out.Claims, FileClaim{Kind: f.Kind, Name: f.Name, By: f.By, Relation: f.As,
			DigitalSourceType: f.Source.URI()})
	}
	return out
}
