// Package media holds the operations on the media that callers bring in. Service.Register in operations.go has the
// operations; Importer brings files in.
package media

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
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
