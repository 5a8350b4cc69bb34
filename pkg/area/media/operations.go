// Package media holds the operations on the media that callers bring in. Service.Register in operations.go has the
// operations; Importer brings files in.
package media

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type createBody struct {
	profile.ProfileMember
	// Type of the file. Absent: as the mime_type or the file says.
	Type media.Type `json:"type,omitempty" enum:"image,audio,video,data"`
	// MIME type. Required for an upload. The file must be what it says.
	MIMEType string `json:"mime_type,omitempty" format:"media-mime" example:"image/jpeg"`
	// Size in bytes: up to 20 MiB for images, 25 MiB for audio, 200 MiB for videos. Required for an upload.
	Bytes int64 `json:"bytes,omitempty" minimum:"1" maximum:"209715200" example:"482113"`
	// SHA-256 of the file in hexadecimal. Required for an upload.
	SHA256 string `json:"sha256,omitempty" format:"sha256"`
	// Public https URL of a file that the service fetches. Absent: the answer has a signed upload.
	SourceURL string `json:"source_url,omitempty" maxLength:"2048" example:"https://www.example.com/shoe.jpg"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type createInput struct{ Body createBody }

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only media of these types, separated by commas.
	Type []string `query:"type" filter:"type" enum:"image,audio,video,data" nullable:"false"`
	// Only media in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"pending,ready,rejected" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	kind.List[listInput](r, s.media, httpapi.Op{ID: "listMedia", Summary: "List your media",
		Description: "Newest first."}, s.view)
	op := httpapi.Ops("media", "Media")
	create := op("createMedia", http.MethodPost, "/v1/media", auth.ContentWrite, "Bring in a file",
		"Brings in a picture, a recording or a video for other operations, which take the id of the media wherever "+
			"they take the URL of a file. "+
			"Without `source_url`, declare `mime_type`, `bytes` and `sha256`, and send the file by the request in "+
			"`upload` within 15 minutes; with it, the service fetches the file. "+
			"The media is `pending` until the file was decoded, and then `ready` or `rejected` with a `reason`. "+
			"Pictures have up to 50 million pixels; they are turned upright, and their metadata, such as the place, "+
			"is removed. MP4 videos and M4A recordings lose theirs, too, and all tracks but those of pictures and "+
			"sound. A file without any of it stays as it is, byte for byte. Of a video, the length is that of what "+
			"plays, and `width` and `height` are those of the picture as it is shown. "+
			"A media is deleted 30 days after its last use. Up to 100 may be pending, and all together have up to 1 "+
			"TiB, those of test keys 25 GiB.").Opening(httpapi.Nothing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.NotFound, errs.QueueFull}
	create.FixedMembers = map[string]string{"url": "send the address of the file as source_url"}
	httpapi.Write(r, create, s.create)

	kind.Get(r, s.media, httpapi.Op{ID: "getMedia", Summary: "Get a media",
		Description: "Its URLs are signed anew."}, s.view)
	deleted := *s.media
	deleted.Beside = func(_ tenant.Owner, mediaID string) []store.Key { return []store.Key{TaskKey(mediaID)} }
	kind.Delete(r, &deleted, httpapi.Op{ID: "deleteMedia", Summary: "Delete a media",
		Description: "Its id cannot be used from now on. A media that content items publish is not deleted before " +
			"them. Work that was accepted before still gets the file, which is removed within 24 hours.",
		Errors: []errs.Code{errs.InvalidState}}, s.ended,
		func(_ context.Context, f *kind.Found[Record]) (Media, error) { return f.Record.Media, nil })
	s.registerVerify(r, op("", "", "", "", "", ""))
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Media, err error) {
	b := in.Body
	if faults := b.faults(); len(faults) > 0 {
		return out, errs.InvalidFields(faults...)
	}
	if b.SourceURL != "" {
		if err := s.urls.CheckURL(ctx, b.SourceURL); err != nil {
			return out, safehttp.InvalidURL(err, "/source_url")
		}
	}
	declared := Declared{Type: b.fileType(), MIMEType: b.MIMEType, Bytes: b.Bytes, SHA256: b.SHA256}
	now := s.now()
	o, err := b.ProfileMember.Owner(ctx, tx, now)
	if err != nil {
		return out, err
	}
	r := New(id.New(id.Media, now), now, declared, b.SourceURL, b.Metadata)
	r.ProfileID = o.ProfileID()
	if err := Create(tx, now, o, r); err != nil {
		return out, err
	}
	return s.view(ctx, &kind.Found[Record]{Record: r})
}

// fileType is the type that the body declares, by itself or by the MIME type.
func (b createBody) fileType() media.Type {
	if b.Type != "" {
		return b.Type
	}
	return media.TypeOf(b.MIMEType)
}

// faults returns the errors of the members together.
func (b createBody) faults() (faults []errs.Detail) {
	invalid := func(param, format string, args ...any) {
		faults = append(faults, errs.Detail{Param: param, Message: fmt.Sprintf(format, args...)})
	}
	if b.SourceURL == "" {
		for _, m := range []struct {
			param  string
			absent bool
		}{{"/mime_type", b.MIMEType == ""}, {"/bytes", b.Bytes == 0}, {"/sha256", b.SHA256 == ""}} {
			if m.absent {
				invalid(m.param, "is required, unless source_url is sent")
			}
		}
	}
	t := b.fileType()
	if b.MIMEType != "" && !slices.Contains(media.Formats[t], b.MIMEType) {
		invalid("/mime_type", "%s, by the type %s", text.NotOneOf(b.MIMEType, media.Formats[t]), t)
	}
	if most := media.Limit(t); b.Bytes > most {
		invalid("/bytes", "must be at most %d for the type %s", most, t)
	}
	return faults
}

// view returns a media as the caller sees it.
func (s *Service) view(ctx context.Context, f *kind.Found[Record]) (Media, error) {
	p := auth.FromContext(ctx)
	return f.Record.View(ctx, s.signer, p.Owner, s.now(), p.Has(auth.ContentWrite))
}

// ended ends what belongs to a deleted media. The answer shows its last state, without URLs.
func (s *Service) ended(_ context.Context, tx *store.Tx, f *kind.Found[Record]) error {
	r, now := f.Record, s.now()
	if r.Holders > 0 {
		return errs.New(errs.InvalidState, "The media is shown by %d content items. Delete them first.",
			r.Holders).In(string(r.State))
	}
	r.Touch(now)
	return r.end(tx, now, f.Item.Owner, f.Beside[0])
}

// Service creates, reads and deletes media.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   safehttp.Checker
	now    func() time.Time
	media  *kind.Kind[Record]
}

var kindOfMedia = kind.Kind[Record]{Name: ItemKind, ID: id.Media, Path: "/v1/media/{media_id}", Function: "media",
	Tag: "Media", Reads: auth.ContentRead, Writes: auth.ContentWrite}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, signer *media.Signer, urls safehttp.Checker, now func() time.Time) *Service {
	return &Service{db, signer, urls, now, kindOfMedia.On(db, now)}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
}

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
	out.Signature = cmp.Or(out.Signature, provenance.None)
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
