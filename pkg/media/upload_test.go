package media_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// The signature covers everything in which uploads differ.
func TestAnUploadIsSignedForOneFile(t *testing.T) {
	s, err := media.NewSigner(config(""), "media-bucket", func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("a"))
	file := media.File{MIMEType: "image/png", Bytes: 7, SHA256: hex.EncodeToString(sum[:])}
	key := media.UploadKey(place.Owner, "med_1")
	sign := func(key string, f media.File, until time.Duration) url.Values {
		t.Helper()
		req, err := s.Upload(t.Context(), key, f, noon.Add(until))
		if err != nil {
			t.Fatal(err)
		}
		if len(req.Headers) != 2 || req.Headers["Content-Type"] != f.MIMEType || req.Method != "PUT" {
			t.Errorf("%+v", req)
		}
		u, err := url.Parse(req.URL)
		if err != nil || u.Path != "/"+key {
			t.Fatalf("%s, %v", req.URL, err)
		}
		return u.Query()
	}
	q := sign(key, file, time.Minute)
	if q.Get("X-Amz-SignedHeaders") != "content-length;content-type;host;x-amz-checksum-sha256" ||
		q.Get("X-Amz-Expires") != "60" || q.Has("X-Amz-Checksum-Sha256") {
		t.Errorf("signed are %v", q)
	}
	if key != "uploads/"+string(place.Account)+"/test/med_1" {
		t.Errorf("the key is %s", key)
	}
	other := sha256.Sum256([]byte("b"))
	for name, change := range map[string]func(f *media.File){
		"type": func(f *media.File) { f.MIMEType = "text/html" }, "size": func(f *media.File) { f.Bytes++ },
		"hash": func(f *media.File) { f.SHA256 = hex.EncodeToString(other[:]) },
	} {
		f := file
		change(&f)
		if sign(key, f, time.Minute).Get("X-Amz-Signature") == q.Get("X-Amz-Signature") {
			t.Errorf("another %s has the same signature", name)
		}
	}
	req, err := s.Upload(t.Context(), key, file, noon.Add(time.Minute))
	if err != nil || req.Headers["x-amz-checksum-sha256"] != base64.StdEncoding.EncodeToString(sum[:]) {
		t.Errorf("%+v, %v", req, err)
	}
	if _, err := s.Upload(t.Context(), key, media.File{SHA256: "no hash"}, noon); err == nil {
		t.Error("a hash that is none was signed")
	}
}
