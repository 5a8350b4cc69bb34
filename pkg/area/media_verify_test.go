package area_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image/jpeg"
	"io"
	"net/http"
	"testing"
	"time"

	photos "github.com/content-automation/api/infra/verify/harness/sample"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// reader reads the same manifest in each file that has one.
type reader struct{ report provenance.Report }

func (r reader) Read(context.Context, string, io.ReadSeeker) (provenance.Report, error) {
	return r.report, nil
}

// registered adds a finished file to the register of an owner.
func (w *mediaWorld) registered(o tenant.Owner, subject string, content []byte) {
	w.T.Helper()
	img, err := jpeg.Decode(bytes.NewReader(content))
	if err != nil {
		w.T.Fatal(err)
	}
	sum := sha256.Sum256(content)
	tx := &store.Tx{}
	if err := generate.Register(tx, o, []generate.Entry{{Subject: subject, File: subject + "_1_1",
		SHA256: hex.EncodeToString(sum[:]), Likeness: provenance.LikenessOf(img).String(), Models: []string{"FLUX"},
		GeneratedAt: resource.Instant(w.Now())}}); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

func (w *mediaWorld) verify(mediaID string) (v mediaarea.Verified) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/provenance/verify", object{"media_id": mediaID}).Into(w.T, http.StatusOK, &v)
	return v
}

const subject = "cnt_01h455vb4pex5vsknk084sn02q"

func TestAFileOfOursIsFoundByItsHashOrItsLikeness(t *testing.T) {
	w := newMediaWorld(t)
	owner := w.Principal.Owner
	finished, err := provenance.Marked(t.Context(), photos.Picture(540, 675, 1), provenance.Statement{
		Source: provenance.Generated,
		Credit: "Acme", Systems: "FLUX, Claude"})
	if err != nil {
		t.Fatal(err)
	}
	w.registered(owner, subject, finished)
	w.registered(tenant.Owner{Account: "other", Mode: tenant.Test}, "cnt_01h455vb4pex5vsknk084sn02r",
		photos.Picture(540, 675, 2))
	v := w.verify(w.bring("image/jpeg", finished).ID)
	if o := v.Ours; o == nil || o.ContentItemID == nil || *o.ContentItemID != subject || o.GenerationID != nil ||
		o.Match != "hash" || o.Distance != 0 || len(o.Models) != 1 ||
		!o.GeneratedAt.Equal(w.Now().Truncate(time.Millisecond)) {
		t.Errorf("by its hash: %+v", o)
	}
	if f := v.File; f.DigitalSourceType == nil || *f.DigitalSourceType != provenance.Generated.URI() ||
		f.Credit == nil || *f.Credit != "Acme" || len(f.Models) != 2 || f.Signature != provenance.None {
		t.Errorf("the file says %+v", f)
	}
	img, err := jpeg.Decode(bytes.NewReader(finished))
	if err != nil {
		t.Fatal(err)
	}
	var worse bytes.Buffer
	if err := jpeg.Encode(&worse, img, &jpeg.Options{Quality: 30}); err != nil {
		t.Fatal(err)
	}
	v = w.verify(w.bring("image/jpeg", worse.Bytes()).ID)
	if o := v.Ours; o == nil || o.Match != "likeness" || *o.ContentItemID != subject || v.File.DigitalSourceType != nil {
		t.Errorf("without its metadata: %+v, %+v", v.File, o)
	}
	if v := w.verify(w.bring("image/jpeg", photos.Picture(540, 675, 2)).ID); v.Ours != nil {
		t.Errorf("a file of another account: %+v", v.Ours)
	}
}

func TestTheManifestOfAFileIsShown(t *testing.T) {
	w := newMediaWorld(t)
	w.manifests = reader{provenance.Report{Signature: provenance.Invalid, Signer: "Someone", Generator: "A camera",
		Signed: "digitalCapture", Facts: []provenance.Fact{{Kind: "action", Name: "c2pa.created", By: "A camera",
			Source: "digitalCapture"}}, Problems: []string{"assertion.dataHash.mismatch"}}}
	w.Tasks = w.newKernel(w.bucket)
	photo := photos.Picture(120, 150, 1)
	manifest := append([]byte{0xff, 0xeb, 0, 22}, "JP\x00\x01\x00\x00\x00\x01the manifest"...)
	v := w.verify(w.bring("image/jpeg", append(append(photo[:2:2], manifest...), photo[2:]...)).ID)
	f := v.File
	if f.Signature != provenance.Invalid || *f.Signer != "Someone" || *f.Generator != "A camera" || len(f.Claims) != 1 ||
		*f.DigitalSourceType != "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture" || len(f.Problems) != 1 {
		t.Errorf("%+v", f)
	}
	// Without a manifest nothing is read.
	if v := w.verify(w.bring("image/jpeg", photo).ID); v.File.Signature != provenance.None || len(v.File.Claims) > 0 {
		t.Errorf("%+v", v.File)
	}
}

func TestOnlyAMediaThatIsReadyIsChecked(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(object{"source_url": public})
	w.Call(http.MethodPost, "/v1/provenance/verify", object{"media_id": m.ID}).Refused(t, http.StatusConflict,
		errs.InvalidState, "")
	w.Call(http.MethodPost, "/v1/provenance/verify", object{"media_id": subject}).Refused(t, http.StatusNotFound,
		errs.NotFound, "/media_id")
}
