package product_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/pkg/area/media"
	record "github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/task"
)

const public = "https://93.184.215.14/a"

func TestAPhotoIsUploaded(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, importertest.Declare("image/png", picture(1)))
	if photo.State != media.Pending || photo.Upload == nil || photo.ProductID != p.ID || photo.URL != nil {
		t.Fatalf("added was %+v", photo)
	}
	u, err := url.Parse(photo.Upload.URL)
	if err != nil {
		t.Fatal(err)
	}
	if signed := u.Query().Get("X-Amz-SignedHeaders"); signed != "content-length;content-type;host;x-amz-checksum-sha256" || photo.Upload.Headers["Content-Type"] != "image/png" {
		t.Errorf("signed are %s, to send are %v", signed, photo.Upload.Headers)
	}
	if got := w.get(p.ID).Photos[0]; got.Upload == nil || got.Upload.URL == "" {
		t.Errorf("a GET shows %+v", got)
	}
	w.upload(photo, picture(1))
	w.upload(photo, picture(2)) // comes too late
	product := w.get(p.ID)
	got := product.Photos[0]
	if got.State != media.Ready || got.URL == nil || got.Upload != nil || got.Width != 12 || got.Height != 8 ||
		got.MIMEType != "image/png" || product.Version != 3 {
		t.Fatalf("it is %+v of %+v", got, product)
	}
	if u, err = url.Parse(*got.URL); err != nil {
		t.Fatal(err)
	}
	if kept := w.bucket.Objects[strings.TrimPrefix(u.Path, "/")]; !bytes.Equal(kept, picture(1)) {
		t.Errorf("%d bytes are at %s", len(kept), u.Path)
	}
	// It stays for as long as its product.
	w.Clock.Add(365 * 24 * time.Hour)
	w.upload(photo, picture(3))
	if got := w.get(p.ID).Photos[0]; got.State != media.Ready {
		t.Errorf("after a year it is %+v", got)
	}
	if found := apitest.All[media.Media](w.Caller, "/v1/media", 10); len(found) != 0 {
		t.Errorf("photos are listed as media: %+v", found)
	}
}

func TestAPhotoIsFetched(t *testing.T) {
	w := newWorld(t)
	w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(picture(1)) }
	p := w.product("A", nil)
	photo := w.add(p.ID, object{"source_url": public})
	if photo.Upload != nil || *photo.SourceURL != public {
		t.Errorf("added was %+v", photo)
	}
	w.due(photo.ID, 1, 0)
	if got := w.get(p.ID).Photos[0]; got.State != media.Ready || got.Bytes == 0 {
		t.Errorf("it is %+v, %+v", got, got.Reason)
	}
	for _, address := range []string{"https://10.0.0.1/a.png", "https://127.0.0.1/a.png",
		"https://169.254.169.254/latest/meta-data", "http://93.184.215.14/a.png", "https://localhost/"} {
		w.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", object{"source_url": address}).Refused(t, 422,
			errs.ValidationFailed, "/source_url")
	}
}

// No name is looked up for a product that there is not.
func TestTheAddressOfAPhotoIsOnlyLookedUpForAProduct(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	body := object{"source_url": "https://10.0.0.1/a.png"}
	w.Call(http.MethodPost, "/v1/products/prd_01h455vb4pex5vsknk084sn02q/photos", body).Refused(t, 404,
		errs.NotFound, "")
	w.Stranger().Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", body).Refused(t, 404, errs.NotFound, "")
	if len(w.urls.checked) != 0 {
		t.Errorf("looked up were %v", w.urls.checked)
	}
	w.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", body).Refused(t, 422, errs.ValidationFailed, "/source_url")
	if len(w.urls.checked) != 1 {
		t.Errorf("looked up were %v", w.urls.checked)
	}
}

// A change answers no URL of a photo to a key that may not read products.
func TestAChangeOfAProductSignsNothingForWhoMayNotReadIt(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, importertest.Declare("image/png", picture(1)))
	w.upload(photo, picture(1))
	var got record.Product
	a := w.Only(auth.ProductsWrite).Call(http.MethodPatch, "/v1/products/"+p.ID, object{"name": "Boot"})
	if a.Into(t, http.StatusOK, &got); len(got.Photos) != 1 || got.Photos[0].URL != nil ||
		strings.Contains(a.Raw, "X-Amz-Signature") {
		t.Errorf("%s", a.Raw)
	}
	if w.Call(http.MethodPatch, "/v1/products/"+p.ID, object{"name": "Shoe"}).Into(t, http.StatusOK,
		&got); got.Photos[0].URL == nil {
		t.Errorf("%+v", got)
	}
}

// A photo is a copy of a media: it stays when the media ends.
func TestAPhotoOfAMedia(t *testing.T) {
	w := newWorld(t)
	w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(picture(1)) }
	var m media.Media
	w.Call(http.MethodPost, "/v1/media", object{"source_url": public}).Into(t, http.StatusCreated, &m)
	p := w.product("A", nil)
	w.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", object{"media_id": m.ID}).Refused(t, 422,
		errs.ValidationFailed, "/media_id")
	first := media.Wake(m.ID)
	w.Do(first)
	photo := w.add(p.ID, object{"media_id": m.ID})
	w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil).Into(t, http.StatusOK, new(any))
	w.due(photo.ID, 1, time.Minute)
	w.Clock.Add(25 * time.Hour)
	w.Do(first) // removes the file of the media
	got := w.get(p.ID).Photos[0]
	if got.State != media.Ready || len(w.bucket.Objects) != 1 {
		t.Errorf("it is %+v, %+v; there are %d objects", got, got.Reason, len(w.bucket.Objects))
	}
	for _, id := range []string{m.ID, "med_01h455vb4pex5vsknk084sn02q", "A", p.ID} {
		w.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", object{"media_id": id}).Unusable(t, "/media_id")
	}
}

// bomb is a PNG that announces more pixels than it has bytes.
func bomb(width, height uint32) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(name string, content []byte) {
		_ = binary.Write(&b, binary.BigEndian, uint32(len(content)))
		body := append([]byte(name), content...)
		b.Write(body)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(head, 8, 2, 0, 0, 0))
	chunk("IDAT", nil)
	chunk("IEND", nil)
	return b.Bytes()
}

// located is a JPEG whose metadata has the place, and says that it lies on its side.
func located(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 20, 10)), nil); err != nil {
		t.Fatal(err)
	}
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00GPS 52.5200 13.4050")
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return slices.Insert(b.Bytes(), 2, segment...)
}

func TestPhotosAreTurnedUprightAndLoseTheirPlace(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, importertest.Declare("image/jpeg", located(t)))
	w.upload(photo, located(t))
	got := w.get(p.ID).Photos[0]
	if got.State != media.Ready || got.Width != 10 || got.Height != 20 {
		t.Errorf("it is %+v, %+v", got, got.Reason)
	}
	for key, content := range w.bucket.Objects {
		if bytes.Contains(content, []byte("GPS")) {
			t.Errorf("%s has the place", key)
		}
	}
}

func TestFilesThatAreNoPhotosAreRejected(t *testing.T) {
	good, text := picture(1), []byte("I am no photo, whatever my name is.")
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	for name, c := range map[string]struct {
		declared object
		sent     []byte
		code     string
	}{
		"a text as a JPEG": {importertest.Declare("image/jpeg", text), text, "unreadable"},
		"SVG as a PNG":     {importertest.Declare("image/png", svg), svg, "unreadable"},
		"2.5 billion pixels": {importertest.Declare("image/png", bomb(50_000, 50_000)), bomb(50_000, 50_000),
			"too_large"},
		"half a picture":  {importertest.Declare("image/png", good[:len(good)/2]), good[:len(good)/2], "unreadable"},
		"another picture": {importertest.Declare("image/png", picture(2)), good, "checksum_mismatch"},
		"a PNG as a JPEG": {importertest.Declare("image/jpeg", good), good, "type_mismatch"},
		"a recording as a picture": {object{"source_url": public}, []byte("ID3\x03\x00\x00\x00\x00\x00\x00"),
			"unreadable"},
		"a picture of 20 MiB and 1": {object{"source_url": public}, make([]byte, 20<<20+1), "too_large"},
	} {
		w := newWorld(t)
		p := w.product("A", nil)
		photo := w.add(p.ID, c.declared)
		if photo.Upload != nil {
			w.upload(photo, c.sent)
		} else {
			w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(c.sent) }
			w.due(photo.ID, 1, 0)
		}
		got := w.get(p.ID).Photos[0]
		if got.State != media.Rejected || got.Reason == nil || got.Reason.Code != c.code || got.URL != nil ||
			len(w.bucket.Objects) != 0 {
			t.Errorf("%s: %+v, %+v; there are %d objects", name, got, got.Reason, len(w.bucket.Objects))
		}
	}
}

func TestBodiesOfPhotosThatAreRefused(t *testing.T) {
	w := newWorld(t)
	path := "/v1/products/" + w.product("A", nil).ID + "/photos"
	with := func(changes object) object {
		b := importertest.Declare("image/png", picture(1))
		for name, value := range changes {
			b[name] = value
		}
		return b
	}
	for _, c := range []struct {
		body  object
		param string
	}{
		{object{}, "/mime_type"},
		{with(object{"mime_type": "image/svg+xml"}), "/mime_type"},
		{with(object{"bytes": 20<<20 + 1}), "/bytes"},
		{with(object{"sha256": "abc"}), "/sha256"},
		{with(object{"media_id": "med_01h455vb4pex5vsknk084sn02q"}), "/media_id"},
		{object{"media_id": "med_01h455vb4pex5vsknk084sn02q", "source_url": public}, "/media_id"},
		{with(object{"position": 11}), "/position"},
		{with(object{"position": 0}), "/position"},
	} {
		w.Call(http.MethodPost, path, c.body).Refused(t, 422, errs.ValidationFailed, c.param)
	}
}

func TestTheOrderOfPhotos(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	var ids []string
	for i := range record.MaxPhotos {
		body := importertest.Declare("image/png", picture(byte(i)))
		if i == record.MaxPhotos-1 {
			body["position"] = 1
		}
		ids = append(ids, w.add(p.ID, body).ID)
	}
	w.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", importertest.Declare("image/png", picture(0))).
		Refused(t, 409, errs.InvalidState, "")
	order := func() (all []string) {
		for _, photo := range w.get(p.ID).Photos {
			all = append(all, photo.ID)
		}
		return all
	}
	want := append([]string{ids[9]}, ids[:9]...)
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("they are %v, want %v", got, want)
	}
	slices.Reverse(want)
	w.Call(http.MethodPatch, "/v1/products/"+p.ID, object{"photo_ids": want}).Into(t, http.StatusOK, new(any))
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("they are %v, want %v", got, want)
	}
	for _, wrong := range [][]string{want[1:], append(slices.Clone(want[1:]), "pho_01h455vb4pex5vsknk084sn02q"), {}} {
		w.Call(http.MethodPatch, "/v1/products/"+p.ID, object{"photo_ids": wrong}).Refused(t, 422,
			errs.ValidationFailed, "/photo_ids")
	}
	w.Call(http.MethodDelete, "/v1/products/"+p.ID+"/photos/"+want[0], nil, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	w.Call(http.MethodDelete, "/v1/products/"+p.ID+"/photos/"+want[0], nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodDelete, "/v1/products/"+p.ID+"/photos/"+want[0], nil).Refused(t, 404, errs.NotFound, "")
	if got := order(); !slices.Equal(got, want[1:]) {
		t.Errorf("they are %v, want %v", got, want[1:])
	}
	w.add(p.ID, importertest.Declare("image/png", picture(0)))
}

// The file of a deleted photo stays for a day, for work that was accepted before.
func TestTheFilesOfDeletedPhotos(t *testing.T) {
	for name, remove := range map[string]func(w *world, p record.Product, photo record.Photo){
		"the photo": func(w *world, p record.Product, photo record.Photo) {
			w.Call(http.MethodDelete, "/v1/products/"+p.ID+"/photos/"+photo.ID, nil).Into(t, http.StatusOK, new(any))
		},
		"the product": func(w *world, p record.Product, _ record.Photo) {
			w.Call(http.MethodDelete, "/v1/products/"+p.ID, nil).Into(t, http.StatusOK, new(any))
		},
	} {
		w := newWorld(t)
		p := w.product("A", nil)
		photo := w.ready(p.ID, 1)
		remove(w, p, photo)
		w.due(photo.ID, 2, 23*time.Hour)
		if len(w.bucket.Objects) != 1 {
			t.Errorf("%s: after 23 hours there are %d objects", name, len(w.bucket.Objects))
		}
		w.due(photo.ID, 2, time.Hour)
		if len(w.bucket.Objects) != 0 {
			t.Errorf("%s: after a day there are %d objects", name, len(w.bucket.Objects))
		}
	}
}

// A file that is uploaded for a deleted photo is removed, and no longer counts as pending.
func TestAPendingPhotoIsDeleted(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	for range media.MaxPending + 5 {
		photo := w.add(p.ID, importertest.Declare("image/png", picture(1)))
		w.Call(http.MethodDelete, "/v1/products/"+p.ID+"/photos/"+photo.ID, nil).Into(t, http.StatusOK, new(any))
	}
	photo := w.add(p.ID, importertest.Declare("image/png", picture(1)))
	w.Call(http.MethodDelete, "/v1/products/"+p.ID, nil).Into(t, http.StatusOK, new(any))
	w.upload(photo, picture(1))
	w.due(photo.ID, 1, time.Hour)
	if len(w.bucket.Objects) != 0 {
		t.Errorf("%d objects stay", len(w.bucket.Objects))
	}
}

// A product is deleted with all its pending photos, which count as pending no more.
func TestAProductWithPendingPhotosIsDeleted(t *testing.T) {
	w := newWorld(t)
	for range media.MaxPending {
		p := w.product("A", nil)
		w.add(p.ID, importertest.Declare("image/png", picture(1)))
		w.add(p.ID, importertest.Declare("image/png", picture(2)))
		w.Call(http.MethodDelete, "/v1/products/"+p.ID, nil).Into(t, http.StatusOK, new(any))
	}
}

func TestAPhotoThatNeverComes(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, importertest.Declare("image/png", picture(1)))
	w.due(photo.ID, 1, 50*time.Minute)
	if got := w.get(p.ID).Photos[0]; got.State != media.Pending || got.Upload != nil {
		t.Errorf("after 50 minutes it is %+v", got)
	}
	w.due(photo.ID, 1, 10*time.Minute)
	if got := w.get(p.ID).Photos[0]; got.State != media.Rejected || got.Reason.Code != "not_uploaded" {
		t.Errorf("after an hour it is %+v, %+v", got, got.Reason)
	}
}

// Photos and media wait in the same queue.
func TestOnlySoManyPhotosArePending(t *testing.T) {
	w := newWorld(t)
	for i := range media.MaxPending / record.MaxPhotos {
		p := w.product(string(rune('A'+i)), nil)
		for n := range record.MaxPhotos {
			w.add(p.ID, importertest.Declare("image/png", picture(byte(n))))
		}
	}
	p := w.product("other", nil)
	w.Call(http.MethodPost, "/v1/products/"+p.ID+"/photos", importertest.Declare("image/png", picture(0))).
		Refused(t, 429, errs.QueueFull, "")
	if got := w.get(p.ID); len(got.Photos) != 0 || got.Version != 1 {
		t.Errorf("it is %+v", got)
	}
}

// A change of the product while its photo is looked at loses neither.
func TestAChangeWhileAPhotoIsLookedAt(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, object{"source_url": public})
	w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) {
		w.Call(http.MethodPatch, "/v1/products/"+p.ID, object{"name": "Shoe"}).Into(t, http.StatusOK, new(any))
		_, _ = rw.Write(picture(1))
	}
	w.due(photo.ID, 1, 0)
	if got := w.get(p.ID); got.Name != "Shoe" || got.Photos[0].State != media.Ready || got.Version != 4 {
		t.Errorf("it is %+v", got)
	}
}

// A photo that is deleted while it is looked at stays deleted, and so does its file.
func TestADeletionWhileAPhotoIsLookedAt(t *testing.T) {
	w := newWorld(t)
	p := w.product("A", nil)
	photo := w.add(p.ID, object{"source_url": public})
	w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) {
		w.Call(http.MethodDelete, "/v1/products/"+p.ID+"/photos/"+photo.ID, nil).Into(t, http.StatusOK, new(any))
		_, _ = rw.Write(picture(1))
	}
	w.due(photo.ID, 1, 0)
	w.Clock.Add(time.Hour)
	m := media.Wake(photo.ID)
	w.Do(task.Message{ID: m.ID, Wake: true})
	if got := w.get(p.ID); len(got.Photos) != 0 || len(w.bucket.Objects) != 0 {
		t.Errorf("it is %+v; there are %d objects", got, len(w.bucket.Objects))
	}
}
