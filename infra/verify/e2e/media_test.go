package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// ownMedia has the members of a media that the tests read.
type ownMedia struct {
	ID, State, Type string
	MIMEType        string `json:"mime_type"`
	Width, Height   int
	DurationSeconds float64 `json:"duration_seconds"`
	URL             *string
	ThumbnailURL    *string `json:"thumbnail_url"`
	Reason          *struct{ Code, Message string }
	Upload          *struct {
		URL, Method string
		Headers     map[string]string
	}
}

// declared returns the body that declares an upload.
func declared(mimeType string, content []byte) object {
	sum := sha256.Sum256(content)
	return object{"mime_type": mimeType, "bytes": len(content), "sha256": hex.EncodeToString(sum[:])}
}

// send uploads a file by the response's instructions, and returns the status.
func send(t *testing.T, m ownMedia, content []byte, headers ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), m.Upload.Method, m.Upload.URL, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range m.Upload.Headers {
		req.Header.Set(name, value)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// settled waits until the service has checked a file.
func settled(t *testing.T, secret, mediaID string) (m ownMedia) {
	t.Helper()
	poll.Until(t, "the import of "+mediaID, func() bool {
		m = into[ownMedia](call(t, secret, http.MethodGet, "/v1/media/"+mediaID, nil), http.StatusOK)
		return m.State != "pending"
	})
	return m
}

// bring uploads a file and waits until it is ready.
func bring(t *testing.T, secret, mimeType string, content []byte) string {
	t.Helper()
	made := into[ownMedia](call(t, secret, http.MethodPost, "/v1/media", declared(mimeType, content)),
		http.StatusCreated)
	if s := send(t, made, content); s != http.StatusOK {
		t.Fatalf("the upload answers %d", s)
	}
	m := settled(t, secret, made.ID)
	if m.State != "ready" || m.URL == nil || status(t, *m.URL) != http.StatusOK {
		t.Fatalf("%+v, %+v", m, m.Reason)
	}
	return m.ID
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestMediaAreUploaded(t *testing.T) {
	secret := newCustomer(t).test.Secret
	photo := picture(t, 90, 160)
	made := into[ownMedia](call(t, secret, http.MethodPost, "/v1/media", declared("image/png", photo)),
		http.StatusCreated)
	other := picture(t, 91, 160)
	for name, s := range map[string]int{
		"another type":    send(t, made, photo, "Content-Type", "text/html"),
		"another content": send(t, made, append(bytes.Clone(photo[:len(photo)-1]), 1)),
		"another size":    send(t, made, other[:len(photo)-1]),
	} {
		if s/100 != 4 {
			t.Errorf("%s: the upload answers %d", name, s)
		}
	}
	id := bring(t, secret, "image/png", photo)
	if s := send(t, made, photo); s != http.StatusOK {
		t.Errorf("the upload answers %d", s)
	}
	settled(t, secret, made.ID)
	listed := into[[]ownMedia](call(t, secret, http.MethodGet, "/v1/media?type=image&state=ready", nil), http.StatusOK)
	if len(listed) != 2 || listed[0].ID != id || listed[1].ID != made.ID {
		t.Errorf("listed are %+v", listed)
	}
	into[ownMedia](call(t, secret, http.MethodDelete, "/v1/media/"+id, nil), http.StatusOK)
	if err := call(t, secret, http.MethodGet, "/v1/media/"+id, nil).refused(http.StatusNotFound,
		"not_found"); err != nil {
		t.Error(err)
	}
}

// A photo of a telephone, by both of its names, and an AVIF become upright JPEGs.
func TestPicturesOfPhonesAreUploaded(t *testing.T) {
	secret := newCustomer(t).test.Secret
	for _, c := range []struct {
		name, mimeType string
		width, height  int
	}{
		{"phone.heic", "image/heic", 90, 120}, {"turned2.heic", "image/heif", 96, 128},
		{"samsung.heic", "image/heic", 90, 120}, {"p3.avif", "image/avif", 128, 96},
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", "pictures", c.name))
		if err != nil {
			t.Fatal(err)
		}
		made := into[ownMedia](call(t, secret, http.MethodPost, "/v1/media", declared(c.mimeType, content)),
			http.StatusCreated)
		if s := send(t, made, content); s != http.StatusOK {
			t.Fatalf("%s: the upload answers %d", c.name, s)
		}
		if m := settled(t, secret, made.ID); m.State != "ready" || m.MIMEType != "image/jpeg" || m.Width != c.width ||
			m.Height != c.height {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

func TestMediaAreFetched(t *testing.T) {
	secret := newCustomer(t).test.Secret
	photo := picture(t, 90, 160)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a.png" {
			_, _ = w.Write(photo)
		} else {
			http.Redirect(w, r, "/a.png", http.StatusFound)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{"/a.png": "ready", "/moved": "ready"} {
		made := into[ownMedia](call(t, secret, http.MethodPost, "/v1/media", object{"source_url": server.URL + path}),
			http.StatusCreated)
		if m := settled(t, secret, made.ID); m.State != want {
			t.Errorf("%s: %+v, %+v", path, m, m.Reason)
		}
	}
	first := call(t, secret, http.MethodGet, "/v1/media?limit=1", nil)
	rest := into[[]ownMedia](call(t, secret, http.MethodGet, "/v1/media?limit=1&cursor="+*first.NextCursor, nil),
		http.StatusOK)
	if one := into[[]ownMedia](first, http.StatusOK); len(one) != 1 || len(rest) != 1 || one[0].ID == rest[0].ID {
		t.Errorf("the pages are %+v and %+v", one, rest)
	}
	if err := call(t, secret, http.MethodPost, "/v1/media",
		object{"source_url": "https://10.0.0.1/a.png"}).refused(http.StatusUnprocessableEntity,
		"validation_failed"); err != nil {
		t.Error(err)
	}
}

func TestMediaAreUsedByTheStudio(t *testing.T) {
	t.Parallel()
	recording, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "providers", "sample", "media",
		"voice.mp3"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCustomer(t)
	c.topUp(10_000)
	for mode, secret := range map[string]string{"live": c.live.Secret, "test": c.test.Secret} {
		photo, speech := bring(t, secret, "image/png", picture(t, 720, 1280)), bring(t, secret, "audio/mpeg", recording)
		for path, body := range map[string]object{
			"videos":  {"prompt": "A shoe", "image_url": photo, "model": "kling-2.6-pro"},
			"avatars": {"audio_url": speech, "image_url": photo},
		} {
			made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/"+path, body), http.StatusAccepted)
			if got := generated(t, secret, made.ID); got.State != "generated" || len(got.Media) == 0 {
				t.Errorf("%s %s: %+v, %+v", mode, path, got, got.Failure)
			}
		}
	}
	photo := bring(t, c.test.Secret, "image/png", picture(t, 720, 1280))
	if err := call(t, c.live.Secret, http.MethodPost, "/v1/studio/videos",
		object{"prompt": "A shoe", "image_url": photo, "model": "kling-2.6-pro"}).refused(
		http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}
}
