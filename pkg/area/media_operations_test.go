package area_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// photo is a small picture; number makes it different from others.
func photo(number byte) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 12, 8))
	img.Set(1, 1, color.NRGBA{number, 2, 3, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func mediaSample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "providers", "sample", "media", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAnUploadBecomesReady(t *testing.T) {
	w := newMediaWorld(t)
	for mimeType, content := range map[string][]byte{
		"image/png": photo(1), "audio/mpeg": mediaSample(t, "voice.mp3"), "audio/wav": mediaSample(t, "voice.wav"),
		"video/mp4": mediaSample(t, "video-9x16.mp4"),
	} {
		m := w.create(importertest.Declare(mimeType, content))
		if m.State != incoming.Pending || m.Upload == nil || m.URL != nil || m.Type != media.TypeOf(mimeType) {
			t.Fatalf("%s: created %+v", mimeType, m)
		}
		u, err := url.Parse(m.Upload.URL)
		if err != nil {
			t.Fatal(err)
		}
		if signed := u.Query().Get("X-Amz-SignedHeaders"); signed != "content-length;content-type;host;x-amz-checksum-sha256" || u.Query().Get("X-Amz-Expires") != "900" {
			t.Errorf("%s: signed are %s, for %s seconds", mimeType, signed, u.Query().Get("X-Amz-Expires"))
		}
		if h := m.Upload.Headers; m.Upload.Method != http.MethodPut || len(h) != 2 || h["Content-Type"] != mimeType ||
			h["x-amz-checksum-sha256"] != checksum(content) {
			t.Errorf("%s: to send are %v", mimeType, h)
		}
		w.start(m.ID) // the relay's message comes long before the file
		if got := w.get(m.ID); got.State != incoming.Pending || got.Upload == nil {
			t.Errorf("%s: before the upload it is %+v", mimeType, got)
		}
		w.bucket.Upload(w.T, m.Upload.URL, content)
		w.notify(m.ID)
		got := w.get(m.ID)
		if got.State != incoming.Ready || got.URL == nil || got.Upload != nil || got.Reason != nil ||
			got.MIMEType != mimeType || got.Version != 2 {
			t.Fatalf("%s: %+v", mimeType, got)
		}
		if shown := got.Type != media.Audio; shown != (got.Width > 0 && got.Height > 0) ||
			(got.Type != media.Image) != (got.DurationSeconds > 0) {
			t.Errorf("%s: %d x %d, %v seconds", mimeType, got.Width, got.Height, got.DurationSeconds)
		}
		if u, err = url.Parse(*got.URL); err != nil {
			t.Fatal(err)
		}
		if kept := w.bucket.Objects[strings.TrimPrefix(u.Path, "/")]; int64(len(kept)) != got.Bytes ||
			strings.Contains(u.Path, "/uploads/") {
			t.Errorf("%s: %d bytes are at %s", mimeType, len(kept), u.Path)
		}
	}
	for key := range w.bucket.Objects {
		if strings.HasPrefix(key, "uploads/") {
			t.Errorf("the upload %s stays", key)
		}
	}
}

// A video is compared with its declaration, and then kept without its place and notes, as the hash says.
func TestAnUploadedVideoLosesItsPlace(t *testing.T) {
	w := newMediaWorld(t)
	content := noted(t)
	m := w.bring("video/mp4", content)
	if m.State != incoming.Ready || m.Bytes != int64(len(content)) || m.SHA256 == hex.EncodeToString(sum(content)) {
		t.Fatalf("%+v", m)
	}
	u, err := url.Parse(*m.URL)
	if err != nil {
		t.Fatal(err)
	}
	kept := w.bucket.Objects[strings.TrimPrefix(u.Path, "/")]
	if len(kept) != len(content) || m.SHA256 != hex.EncodeToString(sum(kept)) || bytes.Contains(kept, []byte(place)) {
		t.Errorf("%d of %d bytes are kept, with the hash %x of %s", len(kept), len(content), sum(kept), m.SHA256)
	}
	again := w.bring("video/mp4", kept)
	if again.SHA256 != m.SHA256 {
		t.Errorf("brought in again, it has the hash %s, not %s", again.SHA256, m.SHA256)
	}
}

// place is in the notes of a video.
const place = "+48.1371+011.5754/"

// noted is a video with a place at its end and in free space.
func noted(t *testing.T) []byte {
	t.Helper()
	udta := "\x00\x00\x00\x26udta\x00\x00\x00\x1e\xa9xyz\x00\x12\x15\xc7" + place
	return slices.Concat(mediaSample(t, "video-9x16.mp4"), []byte(udta+"\x00\x00\x00\x1afree"+place))
}

func sum(content []byte) []byte {
	s := sha256.Sum256(content)
	return s[:]
}

// Once a file was read, further uploads to the same URL change nothing.
func TestALaterUploadChangesNothing(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	w.notify(m.ID)
	before := w.get(m.ID)
	w.bucket.Upload(w.T, m.Upload.URL, photo(2))
	w.notify(m.ID)
	w.notify(m.ID)
	after := w.get(m.ID)
	if after.State != incoming.Ready || after.SHA256 != before.SHA256 || after.Version != before.Version ||
		len(w.bucket.Objects) != 1 {
		t.Errorf("it was %+v and is %+v; there are %d objects", before, after, len(w.bucket.Objects))
	}
}

func TestAFileThatIsNotWhatWasDeclaredIsRejected(t *testing.T) {
	good := photo(1)
	text := []byte("I am no photo, whatever my name is.")
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	for name, c := range map[string]struct {
		declared object
		sent     []byte
		code     string
	}{
		"another size": {importertest.Declare("image/png", good), good[:len(good)-1], "size_mismatch"},
		"another content": {importertest.Declare("image/png", good), append(bytes.Clone(good[:len(good)-1]), 0),
			"checksum_mismatch"},
		"another type":     {importertest.Declare("image/jpeg", good), good, "type_mismatch"},
		"a text as a JPEG": {importertest.Declare("image/jpeg", text), text, "unreadable"},
		"SVG":              {importertest.Declare("image/png", svg), svg, "unreadable"},
		"half a picture":   {importertest.Declare("image/png", good[:len(good)/2]), good[:len(good)/2], "unreadable"},
		"a single byte":    {importertest.Declare("image/png", []byte{0}), []byte{0}, "unreadable"},
		"nothing":          {importertest.Declare("image/png", good), nil, "size_mismatch"},
	} {
		w := newMediaWorld(t)
		m := w.create(c.declared)
		w.bucket.Upload(w.T, m.Upload.URL, c.sent)
		w.notify(m.ID)
		got := w.get(m.ID)
		if got.State != incoming.Rejected || got.Reason == nil || got.Reason.Code != c.code ||
			got.Reason.Message == "" || got.URL != nil || got.Upload != nil || len(w.bucket.Objects) != 0 {
			t.Errorf("%s: %+v, %+v; there are %d objects", name, got, got.Reason, len(w.bucket.Objects))
		}
		w.bucket.Upload(w.T, m.Upload.URL, good)
		w.notify(m.ID)
		if again := w.get(m.ID); again.State != incoming.Rejected {
			t.Errorf("%s: a second upload makes it %s", name, again.State)
		}
	}
}

func TestAnUploadThatNeverComes(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.start(m.ID)
	w.due(m.ID, 20*time.Minute)
	if got := w.get(m.ID); got.State != incoming.Pending || got.Upload != nil {
		t.Errorf("after 20 minutes it is %+v", got)
	}
	w.due(m.ID, 40*time.Minute)
	if got := w.get(m.ID); got.State != incoming.Rejected || got.Reason.Code != "not_uploaded" {
		t.Errorf("after an hour it is %+v, %+v", got, got.Reason)
	}
}

// The notice of S3 may be lost.
func TestAnUploadWithoutANotice(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	w.due(m.ID, time.Hour)
	if got := w.get(m.ID); got.State != incoming.Ready {
		t.Errorf("it is %+v", got)
	}
}

func TestASourceIsFetched(t *testing.T) {
	w := newMediaWorld(t)
	answers := []int{http.StatusBadGateway, http.StatusTooManyRequests, http.StatusOK}
	w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(answers[0])
		_, _ = rw.Write(photo(1))
		answers = answers[1:]
	}
	m := w.create(object{"source_url": public})
	if m.Upload != nil || m.Type != "" || m.SourceURL == nil || *m.SourceURL != public {
		t.Errorf("created %+v", m)
	}
	w.start(m.ID)
	if got := w.get(m.ID); got.State != incoming.Ready || got.Type != media.Image || got.MIMEType != "image/png" ||
		got.Bytes == 0 {
		t.Errorf("it is %+v, %+v", got, got.Reason)
	}
	w.create(object{"source_url": public})
	for query, want := range map[string]int{"type=image&state=ready": 1, "state=pending,ready": 2,
		"state=rejected,ready": 1, "type=audio,image": 1, "type=audio,video": 0} {
		if found := apitest.All[incoming.Media](w.Caller, "/v1/media?"+query, 1); len(found) != want {
			t.Errorf("%s: listed are %+v", query, found)
		}
	}
}

// A server that asks to wait is waited for, up to an hour each time, and the file is fetched then.
func TestASourceWhoseServerAsksToWait(t *testing.T) {
	for asked, wait := range map[string]time.Duration{"600": 10 * time.Minute, "86400": time.Hour} {
		for _, status := range []int{408, 429, 503} {
			w := newMediaWorld(t)
			w.urls.answer = func(rw http.ResponseWriter, _ *http.Request) {
				if w.urls.fetches < 3 {
					rw.Header().Set("Retry-After", asked)
					rw.WriteHeader(status)
				}
				_, _ = rw.Write(photo(1))
			}
			m := w.create(object{"source_url": public})
			w.start(m.ID)
			for n := 1; n < 3; n++ {
				w.due(m.ID, wait-5*time.Minute)
				if got := w.get(m.ID); w.urls.fetches != n || got.State != incoming.Pending {
					t.Errorf("%d, %s: %s after %d fetches, want %d", status, asked, got.State, w.urls.fetches, n)
				}
				w.due(m.ID, 6*time.Minute)
			}
			if got := w.get(m.ID); got.State != incoming.Ready || w.urls.fetches != 3 {
				t.Errorf("%d, %s: %s after %d fetches", status, asked, got.State, w.urls.fetches)
			}
		}
	}
}

func TestASourceThatCannotBeTaken(t *testing.T) {
	large := make([]byte, 21<<20)
	for name, c := range map[string]struct {
		body    object
		answer  http.HandlerFunc
		code    string
		fetches int
	}{
		"it is not there": {object{}, http.NotFound, "not_fetched", 1},
		"it redirects": {object{}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1/", http.StatusFound)
		}, "not_fetched", 1},
		"it stays broken": {object{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
			"not_fetched", 4},
		"it is a page": {object{}, func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write([]byte("<html></html>"))
		}, "unreadable", 1},
		"it is empty": {object{}, func(http.ResponseWriter, *http.Request) {}, "unreadable", 1},
		"it is packed": {object{}, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "identity" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(photo(1))
		}, "not_fetched", 1},
		"it is too large": {object{"type": "image"}, func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write(large)
		}, "too_large", 1},
		"it is a picture": {object{"type": "audio"}, func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write(photo(1))
		}, "type_mismatch", 1},
		"it is another one": {importertest.Declare("image/png", photo(2)), func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write(photo(1))
		}, "checksum_mismatch", 1},
	} {
		w := newMediaWorld(t)
		w.urls.answer = c.answer
		c.body["source_url"] = public
		m := w.create(c.body)
		w.start(m.ID)
		got := w.get(m.ID)
		if got.State != incoming.Rejected || got.Reason.Code != c.code || w.urls.fetches != c.fetches ||
			len(w.bucket.Objects) != 0 || name == "it is packed" && !strings.Contains(got.Reason.Message, "packs") {
			t.Errorf("%s: %+v, %+v after %d fetches", name, got, got.Reason, w.urls.fetches)
		}
	}
}

// An address is checked when it is sent, and again when it is dialled.
func TestASourceInOurNetworkIsRefused(t *testing.T) {
	w := newMediaWorld(t)
	for _, address := range []string{"https://10.0.0.1/a.png", "https://127.0.0.1/a.png",
		"https://169.254.169.254/latest/meta-data", "http://93.184.215.14/a.png", "https://localhost/",
		"ftp://a.example.com/"} {
		w.Call(http.MethodPost, "/v1/media", object{"source_url": address}).Refused(t, 422, errs.ValidationFailed,
			"/source_url")
	}
	w.urls.Client = safehttp.New(safehttp.Options{AllowLoopback: true})
	m := w.create(object{"source_url": "http://127.0.0.1:9/a.png"})
	w.urls.Client = safehttp.New(safehttp.Options{})
	w.start(m.ID)
	if got := w.get(m.ID); got.State != incoming.Rejected || got.Reason.Code != "not_fetched" || w.urls.fetches != 1 {
		t.Errorf("it is %+v, %+v", got, got.Reason)
	}
}

// A server may send less than it has announced.
func TestASourceThatBreaksOff(t *testing.T) {
	w := newMediaWorld(t)
	server := lying(t, photo(1))
	w.urls.Client = safehttp.New(safehttp.Options{AllowLoopback: true})
	m := w.create(object{"source_url": server})
	w.start(m.ID)
	if got := w.get(m.ID); got.State != incoming.Rejected || got.Reason.Code != "not_fetched" || w.urls.fetches != 4 {
		t.Errorf("it is %+v, %+v after %d fetches", got, got.Reason, w.urls.fetches)
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	w := newMediaWorld(t)
	with := func(changes object) object {
		body := importertest.Declare("image/png", photo(1))
		for name, value := range changes {
			body[name] = value
		}
		return body
	}
	for _, c := range []struct {
		body  object
		param string
	}{
		{object{}, "/mime_type"},
		{object{"type": "image", "mime_type": "image/png", "bytes": 1}, "/sha256"},
		{with(object{"bytes": 20<<20 + 1}), "/bytes"},
		{with(object{"bytes": 0}), "/bytes"},
		{with(object{"bytes": -1}), "/bytes"},
		{with(object{"mime_type": "image/svg+xml"}), "/mime_type"},
		{with(object{"type": "video"}), "/mime_type"},
		{with(object{"sha256": "abc"}), "/sha256"},
		{with(object{"url": "https://a.example.com"}), "/url"},
	} {
		w.Call(http.MethodPost, "/v1/media", c.body).Refused(t, 422, errs.ValidationFailed, c.param)
	}
	if a := w.Call(http.MethodPost, "/v1/media", object{}); len(a.Error.Details) != 3 {
		t.Errorf("an empty body is refused with %+v", a.Error)
	}
	if found := apitest.All[incoming.Media](w.Caller, "/v1/media", 1); len(found) != 0 {
		t.Errorf("there are %+v", found)
	}
}

func TestOnlySoManyArePending(t *testing.T) {
	w := newMediaWorld(t)
	var all []incoming.Media
	for i := range incoming.MaxPending {
		all = append(all, w.create(importertest.Declare("image/png", photo(byte(i)))))
	}
	full := func(c *apitest.Caller) apitest.Answer {
		return c.Call(http.MethodPost, "/v1/media", importertest.Declare("image/png", photo(0)))
	}
	a := full(w.Caller)
	a.Refused(t, http.StatusTooManyRequests, errs.QueueFull, "")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	full(w.Live()).Into(t, http.StatusCreated, new(any))
	w.bucket.Upload(t, all[0].Upload.URL, photo(0))
	w.notify(all[0].ID)
	w.Call(http.MethodDelete, "/v1/media/"+all[1].ID, nil).Into(t, http.StatusOK, new(any))
	full(w.Caller).Into(t, http.StatusCreated, new(any))
	full(w.Caller).Into(t, http.StatusCreated, new(any))
	full(w.Caller).Refused(t, http.StatusTooManyRequests, errs.QueueFull, "")
}

func TestOnlyWhoMayWriteIsShownTheUpload(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	reader := w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.ContentRead} })
	var got incoming.Media
	reader.Call(http.MethodGet, "/v1/media/"+m.ID, nil).Into(t, http.StatusOK, &got)
	if got.Upload != nil {
		t.Errorf("a reader is shown %+v", got.Upload)
	}
}

func TestMediaAreTheirOwnersAlone(t *testing.T) {
	w := newMediaWorld(t)
	m := w.bring("image/png", photo(1))
	for name, c := range map[string]*apitest.Caller{"the other mode": w.Live(), "another account": w.Stranger()} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			c.Call(method, "/v1/media/"+m.ID, nil).Refused(t, 404, errs.NotFound, "")
		}
		if found := apitest.All[incoming.Media](c, "/v1/media", 1); len(found) != 0 {
			t.Errorf("%s lists %+v", name, found)
		}
	}
}

// The file of a deleted media stays for a day, for work that was accepted before.
// The thumbnail of a picture is beside the file, and is removed with it.
func TestAPictureHasAThumbnail(t *testing.T) {
	w := newMediaWorld(t)
	var wide bytes.Buffer
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 800, 600))); err != nil {
		t.Fatal(err)
	}
	m := w.bring("image/png", wide.Bytes())
	if m.ThumbnailURL == nil {
		t.Fatal("a picture of 800 x 600 has no thumbnail")
	}
	u, err := url.Parse(*m.ThumbnailURL)
	if err != nil {
		t.Fatal(err)
	}
	small, err := jpeg.DecodeConfig(bytes.NewReader(w.bucket.Objects[strings.TrimPrefix(u.Path, "/")]))
	if err != nil || small.Width != 400 || small.Height != 300 || u.Query().Get("X-Amz-Signature") == "" {
		t.Errorf("%d x %d at %s, %v", small.Width, small.Height, u, err)
	}
	if m := w.bring("video/mp4", mediaSample(t, "video-9x16.mp4")); m.ThumbnailURL != nil {
		t.Errorf("a video has the thumbnail %s", *m.ThumbnailURL)
	}
	if m := w.bring("image/png", photo(1)); m.ThumbnailURL != nil {
		t.Errorf("a small picture has the thumbnail %s", *m.ThumbnailURL)
	}
	w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil).Into(t, http.StatusOK, new(any))
	w.due(m.ID, 24*time.Hour)
	for key := range w.bucket.Objects {
		if strings.Contains(key, m.ID) {
			t.Errorf("%s is left", key)
		}
	}
}

func TestADeletedMediaLosesItsFileAfterADay(t *testing.T) {
	w := newMediaWorld(t)
	m := w.bring("image/png", photo(1))
	w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	var gone incoming.Media
	w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil, "If-Match", `"2"`).Into(t, http.StatusOK, &gone)
	if gone.URL != nil || gone.Version != 3 {
		t.Errorf("deleted is %+v", gone)
	}
	w.Call(http.MethodGet, "/v1/media/"+m.ID, nil).Refused(t, 404, errs.NotFound, "")
	w.due(m.ID, 23*time.Hour)
	if len(w.bucket.Objects) != 1 {
		t.Errorf("after 23 hours there are %d objects", len(w.bucket.Objects))
	}
	w.due(m.ID, time.Hour)
	if len(w.bucket.Objects) != 0 {
		t.Errorf("after a day there are %d objects", len(w.bucket.Objects))
	}
}

func TestAPendingMediaIsDeleted(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil).Into(t, http.StatusOK, new(any))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	w.notify(m.ID)
	w.due(m.ID, time.Hour)
	if len(w.bucket.Objects) != 0 {
		t.Errorf("%d objects stay", len(w.bucket.Objects))
	}
}

// A media that a resource shows does not end by itself.
func TestAKeptMediaStays(t *testing.T) {
	w := newMediaWorld(t)
	m := w.bring("image/png", photo(1))
	it, err := w.DB.Get(t.Context(), store.IDKey(m.ID))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	if err := incoming.Of(it.Owner, []store.Item{it}).Keep(tx, w.Now()); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.due(m.ID, 30*24*time.Hour)
		if got := w.get(m.ID); got.State != incoming.Ready || len(w.bucket.Objects) != 1 ||
			!got.ExpiresAt.After(w.Now()) {
			t.Fatalf("%+v, %d objects", got, len(w.bucket.Objects))
		}
	}
	w.Call(http.MethodDelete, "/v1/media/"+m.ID, nil).Into(t, http.StatusOK, new(any))
	w.due(m.ID, 24*time.Hour)
	if len(w.bucket.Objects) != 0 {
		t.Errorf("%d objects stay", len(w.bucket.Objects))
	}
}

func TestAnUnusedMediaEndsAfter30Days(t *testing.T) {
	w := newMediaWorld(t)
	m := w.bring("image/png", photo(1))
	if want := m.CreatedAt.Add(30 * 24 * time.Hour); !m.ExpiresAt.Equal(want) {
		t.Errorf("it ends at %v, want %v", m.ExpiresAt, want)
	}
	w.due(m.ID, 30*24*time.Hour-time.Hour)
	if got := w.get(m.ID); got.State != incoming.Ready || len(w.bucket.Objects) != 1 {
		t.Errorf("an hour before, it is %+v", got)
	}
	w.due(m.ID, time.Hour)
	w.Call(http.MethodGet, "/v1/media/"+m.ID, nil).Refused(t, 404, errs.NotFound, "")
	if len(w.bucket.Objects) != 0 {
		t.Errorf("%d objects stay", len(w.bucket.Objects))
	}
}

// The bucket may fail for as long as it likes.
func TestAFailingBucketIsWaitedFor(t *testing.T) {
	w := newMediaWorld(t)
	m := w.create(importertest.Declare("image/png", photo(1)))
	w.bucket.Upload(w.T, m.Upload.URL, photo(1))
	w.bucket.Fail = errors.New("no")
	message := incoming.Wake(m.ID)
	for range 20 {
		next, err := w.Tasks.Do(t.Context(), message, "")
		if err != nil || next == nil {
			t.Fatalf("%+v, %v", next, err)
		}
		w.Clock.Add(next.Delay)
		message = next.Message
	}
	if got := w.get(m.ID); got.State != incoming.Pending {
		t.Errorf("it is %+v", got)
	}
	w.bucket.Fail = nil
	w.Do(message)
	if got := w.get(m.ID); got.State != incoming.Ready {
		t.Errorf("it is %+v", got)
	}
}

// The media of a sandbox have a common limit. A pending one counts with its largest permitted size.
func TestTheBytesOfMediaAreLimited(t *testing.T) {
	w := newMediaWorld(t)
	used := func() int64 {
		it, err := w.DB.Get(t.Context(), store.IDKey("media-bytes#"+w.Principal.Owner.String()))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return it.Count()
	}
	content := photo(1)
	m := w.bring("image/png", content)
	if m.State != incoming.Ready || used() != m.Bytes {
		t.Errorf("%+v, and %d bytes are counted", m, used())
	}
	fetched := w.create(object{"source_url": public, "type": "image"})
	if want := m.Bytes + media.Limit(media.Image); used() != want {
		t.Errorf("%d bytes are counted, want %d", used(), want)
	}
	w.Call(http.MethodDelete, "/v1/media/"+fetched.ID, nil).Into(t, http.StatusOK, new(any))
	tx := &store.Tx{}
	tx.Count(store.IDKey("media-bytes#"+w.Principal.Owner.String()), incoming.MaxTestBytes-2*m.Bytes,
		incoming.MaxTestBytes, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	last := w.create(importertest.Declare("image/png", content)) // the last that fits
	a := w.Call(http.MethodPost, "/v1/media", importertest.Declare("image/png", content))
	a.Refused(t, http.StatusTooManyRequests, errs.QueueFull, "")
	w.Call(http.MethodDelete, "/v1/media/"+last.ID, nil).Into(t, http.StatusOK, new(any))
	again := w.create(importertest.Declare("image/png", content))
	// A file that never arrives, or is rejected, takes nothing; nor does one that has expired.
	w.due(again.ID, 2*time.Hour)
	if got := w.get(again.ID); got.State != incoming.Rejected {
		t.Errorf("%+v", got)
	}
	before := used()
	w.Clock.Add(31 * 24 * time.Hour)
	w.due(m.ID, 0)
	if got := w.Call(http.MethodGet, "/v1/media/"+m.ID, nil); got.Status != http.StatusNotFound ||
		before-used() != m.Bytes || used() != incoming.MaxTestBytes-2*m.Bytes {
		t.Errorf("%d; %d bytes are counted, before %d", got.Status, used(), before)
	}
}

// Addresses of shops redirect. A redirect that leads into a network is told with its place.
func TestASourceBehindRedirects(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/short", http.RedirectHandler("/long", http.StatusMovedPermanently))
	mux.Handle("/long", http.RedirectHandler("/photo.png?v=2", http.StatusFound))
	mux.HandleFunc("/photo.png", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(photo(1)) })
	mux.Handle("/inside", http.RedirectHandler("https://10.0.0.1/a.png", http.StatusFound))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for path, say := range map[string]string{"/short": "", "/inside": "First redirect, to 10.0.0.1: The URL's host is " +
		"not a public address on the internet."} {
		w := newMediaWorld(t)
		w.urls.Client = incoming.NewClient(true)
		m := w.create(object{"source_url": server.URL + path})
		w.start(m.ID)
		got := w.get(m.ID)
		if say == "" && got.State != incoming.Ready || say != "" && (got.Reason == nil ||
			!strings.Contains(got.Reason.Message, say)) {
			t.Errorf("%s: %+v, %+v", path, got, got.Reason)
		}
	}
}
