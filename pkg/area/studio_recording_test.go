package area_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// wav is a recording of silence, in 8 bits at 8 kHz.
func wav(seconds int) []byte {
	data := bytes.Repeat([]byte{128}, 8000*seconds)
	riff := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+len(data)))
	b := []byte(string(riff) + "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data")
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
}

// studioWeb has the files at public addresses.
type studioWeb struct {
	area.Client
	files  map[string][]byte
	reads  int
	direct bool // real servers are asked
}

func (w *studioWeb) Do(req *http.Request) (*http.Response, error) {
	w.reads++
	if w.direct {
		return w.Client.Do(req)
	}
	rec := httptest.NewRecorder()
	if content, ok := w.files[req.URL.String()]; ok {
		_, _ = rec.Write(content)
	} else {
		rec.WriteHeader(http.StatusNotFound)
	}
	return rec.Result(), nil
}

// studioBucket is a bucket that keeps the objects uploaded to it.
type studioBucket struct {
	objects map[string][]byte
	status  int
}

func (b *studioBucket) Do(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if b.status != 0 {
		rec.WriteHeader(b.status)
		return rec.Result(), nil
	}
	content, err := io.ReadAll(req.Body)
	if req.Method == http.MethodPut && req.Header.Get("Authorization") != "" {
		b.objects[strings.TrimPrefix(req.URL.Path, "/")] = content
	}
	return rec.Result(), err
}

// A recording is charged by its length, and the provider gets the copy that was measured.
func TestARecordingIsMeasuredAndKept(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(100)
	live := w.Live()
	body := object{"audio_url": studioPublic, "image_url": studioPublic}
	var estimate studio.Estimate
	live.Call(http.MethodPost, "/v1/studio/estimates", object{"kind": "avatar", "input": body}).Into(t,
		http.StatusOK, &estimate)
	if len(w.bucket.objects) != 0 {
		t.Errorf("an estimate keeps %d files", len(w.bucket.objects))
	}
	made := create(live, t, "avatars", body)
	if w.Balance() != 70 || estimate.Credits != 30 || made.Input.Seconds != 3 || made.Input.AudioURL != studioPublic {
		t.Errorf("the balance is %d, estimated %d, %+v", w.Balance(), estimate.Credits, made.Input)
	}
	w.urls.files = nil // the caller puts something else there
	w.engine.Drain()
	if got := studioGet(live, t, made.ID); got.State != studio.Generated || got.CostCredits != 30 || w.Balance() != 70 {
		t.Errorf("%+v; the balance is %d", got, w.Balance())
	}
	sent, err := url.Parse(w.provider.requests[0].AudioURL)
	if err != nil {
		t.Fatal(err)
	}
	if kept := w.bucket.objects[strings.TrimPrefix(sent.Path, "/")]; !slices.Equal(kept, wav(3)) ||
		!strings.HasPrefix(sent.Path, "/inputs/"+string(w.Principal.Account)+"/live/") ||
		sent.Query().Get("X-Amz-Signature") == "" {
		t.Errorf("the provider was sent %s, and %d bytes are kept", sent, len(kept))
	}
}

func TestARepeatKeepsNothingElse(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(100)
	live := w.Live()
	body := object{"audio_url": studioPublic, "image_url": studioPublic}
	var made, again studio.Generation
	live.Call(http.MethodPost, "/v1/studio/avatars", body, "Idempotency-Key", "k").Into(t, http.StatusAccepted, &made)
	w.urls.files = nil // a repeat is answered as the first time even then
	live.Call(http.MethodPost, "/v1/studio/avatars", body, "Idempotency-Key", "k").Into(t, http.StatusAccepted, &again)
	if again.ID != made.ID || w.Balance() != 70 || len(w.bucket.objects) != 1 {
		t.Errorf("%s and %s; the balance is %d, %d files are kept", made.ID, again.ID, w.Balance(),
			len(w.bucket.objects))
	}
}

func TestATestKeyMeasuresAndKeepsNothing(t *testing.T) {
	w := newStudioWorld(t)
	if made := create(w.Caller, t, "avatars",
		object{"audio_url": studioPublic, "image_url": studioPublic}); made.Input.Seconds != 3 || len(w.bucket.objects) != 0 {
		t.Errorf("%+v, %d files are kept", made.Input, len(w.bucket.objects))
	}
}

func TestARecordingIsRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte{128}, 26<<20))
		case "/moved":
			http.Redirect(w, r, "/long", http.StatusFound)
		case "/page":
			_, _ = io.WriteString(w, "<html></html>")
		case "/long":
			_, _ = w.Write(wav(61))
		case "/broken":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	w := newStudioWorld(t)
	w.TopUp(1000)
	w.urls.Client, w.urls.direct = studio.NewClient(area.Env{Loopback: true}), true
	live := w.Live()
	refused := func(path string) apitest.Answer {
		return live.Call(http.MethodPost, "/v1/studio/avatars",
			object{"audio_url": server.URL + path, "image_url": studioPublic, "model": "omnihuman-1.5"})
	}
	for _, path := range []string{"/large", "/moved", "/page", "/long", "/broken", "/none"} {
		refused(path).Refused(t, 422, errs.UnsupportedMedia, "/audio_url")
	}
	live.Call(http.MethodPost, "/v1/studio/estimates",
		object{"kind": "avatar", "input": object{"audio_url": server.URL + "/page", "image_url": studioPublic}}).Refused(t,
		422, errs.UnsupportedMedia, "/input/audio_url")
	w.urls.Client = studio.NewClient(area.Env{})
	refused("/long").Refused(t, 422, errs.ValidationFailed, "/audio_url")
	if w.Balance() != 1000 || len(w.bucket.objects) != 0 {
		t.Errorf("the balance is %d, %d files are kept", w.Balance(), len(w.bucket.objects))
	}
}

// The address may be a third party's, so an account has it called so often only.
func TestRecordingsAreFetchedSoOftenOnly(t *testing.T) {
	w := newStudioWorld(t)
	calls := []struct {
		path string
		body object
	}{
		{"estimates", object{"kind": "avatar", "input": object{"audio_url": studioPublic, "image_url": studioPublic}}},
		{"avatars", object{"audio_url": studioPublic, "image_url": studioPublic,
			"sandbox": object{"outcome": "insufficient_balance"}}},
	}
	for i := range 20 {
		c := calls[i%2]
		if a := w.Call(http.MethodPost, "/v1/studio/"+c.path, c.body); a.Status != http.StatusOK &&
			a.Status != http.StatusPaymentRequired {
			t.Fatalf("%d: %s", i, a.Raw)
		}
	}
	for _, c := range calls {
		a := w.As(func(p *auth.Principal) { p.Actor = auth.Key("key_01h455vb4pex5vsknk084sn02q") }).Call(
			http.MethodPost, "/v1/studio/"+c.path, c.body)
		if a.Refused(t, 429, errs.RateLimited, ""); a.Header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
		}
	}
	if w.urls.reads != 20 {
		t.Errorf("it was fetched %d times", w.urls.reads)
	}
	w.Stranger().Call(http.MethodPost, "/v1/studio/estimates", calls[0].body).Into(t, http.StatusOK,
		new(studio.Estimate))
	w.Clock.Add(time.Minute)
	w.Call(http.MethodPost, "/v1/studio/estimates", calls[0].body).Into(t, http.StatusOK, new(studio.Estimate))
}

// Where the copy cannot be kept, nothing is accepted.
func TestARecordingThatIsNotKept(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(100)
	w.bucket.status = http.StatusForbidden
	w.Live().Call(http.MethodPost, "/v1/studio/avatars", object{"audio_url": studioPublic, "image_url": studioPublic}).Refused(t,
		503, errs.ProviderUnavailable, "")
	if w.Balance() != 100 {
		t.Errorf("the balance is %d", w.Balance())
	}
}
