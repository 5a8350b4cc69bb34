package media_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/media"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

func config(endpoint string) aws.Config {
	cfg := aws.Config{
		Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: secret,
				SessionToken: "a+token/of=sts"}, nil
		}),
	}
	if endpoint != "" {
		cfg.BaseEndpoint = aws.String(endpoint)
	}
	return cfg
}

func sign(t *testing.T, endpoint string) *url.URL {
	t.Helper()
	s, err := media.NewSigner(config(endpoint), "media-bucket", func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.URL(t.Context(), place.Key(1, "png"), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// verify computes the signature of a presigned GET anew, as the receiver of the
// request does (AWS Signature Version 4, authentication by query parameters).
func verify(u *url.URL, secret string) bool {
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

	q := u.Query()
	given := q.Get("X-Amz-Signature")
	q.Del("X-Amz-Signature")
	var pairs []string
	for name, values := range q {
		for _, v := range values {
			pairs = append(pairs, escape(name)+"="+escape(v))
		}
	}
	sort.Strings(pairs)
	canonical := strings.Join([]string{
		"GET", u.EscapedPath(), strings.Join(pairs, "&"), "host:" + u.Host + "\n", "host", "UNSIGNED-PAYLOAD",
	}, "\n")
	hash := sha256.Sum256([]byte(canonical))

	scope := strings.SplitN(q.Get("X-Amz-Credential"), "/", 2)[1]
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", q.Get("X-Amz-Date"), scope, hex.EncodeToString(hash[:])}, "\n")
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	return hmac.Equal([]byte(given), []byte(hex.EncodeToString(mac(key, toSign))))
}

func TestAddressesCarryAValidSignature(t *testing.T) {
	for name, c := range map[string]struct{ endpoint, host, path string }{
		"on AWS":              {"", "media-bucket.s3.eu-central-1.amazonaws.com", "/" + place.Key(1, "png")},
		"on a local endpoint": {"http://127.0.0.1:4566", "127.0.0.1:4566", "/media-bucket/" + place.Key(1, "png")},
		"below a base path": {"https://s3.example.test/store/", "s3.example.test",
			"/store/media-bucket/" + place.Key(1, "png")},
	} {
		t.Run(name, func(t *testing.T) {
			u := sign(t, c.endpoint)
			if u.Host != c.host || u.Path != c.path {
				t.Errorf("host %s, path %s; want %s, %s", u.Host, u.Path, c.host, c.path)
			}
			if !verify(u, secret) {
				t.Errorf("the signature of %s does not hold", u)
			}
			q := u.Query()
			for name, want := range map[string]string{
				"X-Amz-Expires": "3600", "X-Amz-Date": "20260501T120000Z", "response-content-type": "image/png",
				"X-Amz-Credential":     "AKIDEXAMPLE/20260501/eu-central-1/s3/aws4_request",
				"X-Amz-Security-Token": "a+token/of=sts",
			} {
				if got := q.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestAChangedAddressNoLongerHolds(t *testing.T) {
	for name, change := range map[string]func(*url.URL){
		"another object": func(u *url.URL) { u.Path = strings.Replace(u.Path, "/1.png", "/2.png", 1) },
		"another host":   func(u *url.URL) { u.Host = "other.s3.eu-central-1.amazonaws.com" },
		"a longer life": func(u *url.URL) {
			u.RawQuery = strings.Replace(u.RawQuery, "X-Amz-Expires=3600", "X-Amz-Expires=7200", 1)
		},
		"another type": func(u *url.URL) { u.RawQuery = strings.Replace(u.RawQuery, "image%2Fpng", "text%2Fhtml", 1) },
	} {
		u := sign(t, "")
		before := u.String()
		change(u)
		if u.String() == before {
			t.Fatalf("%s: nothing was changed in %s", name, before)
		}
		if verify(u, secret) {
			t.Errorf("%s: the signature still holds", name)
		}
	}
}

func TestSignerReportsMissingCredentialsAndBadConfiguration(t *testing.T) {
	cause := errors.New("no credentials")
	cfg := config("")
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials,
		error) {
		return aws.Credentials{}, cause
	})
	s, err := media.NewSigner(cfg, "media-bucket", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Views(t.Context(), []media.File{{Key: "k"}}); !errors.Is(err, cause) {
		t.Errorf("got %v, want the provider's error", err)
	}
	if _, err := media.NewSigner(config(""), "", time.Now); err == nil {
		t.Error("a bucket without a name was accepted")
	}
	for _, endpoint := range []string{"127.0.0.1:4566", "localhost", "http://%"} {
		if _, err := media.NewSigner(config(endpoint), "b", time.Now); err == nil {
			t.Errorf("the endpoint %q was accepted", endpoint)
		}
	}
}

func TestViewsShowTheAddressAndHideTheKey(t *testing.T) {
	s, err := media.NewSigner(config(""), "media-bucket", func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	file := media.File{ID: place.ID(1), Type: media.Image, MIMEType: "image/png", Key: place.Key(1, "png"), Width: 1080,
		Height: 1350, Bytes: 13691, SHA256: strings.Repeat("ab", 32)}
	views, err := s.Views(t.Context(), []media.File{file})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(views[0])
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id": file.ID, "type": "image", "mime_type": "image/png", "width": 1080., "height": 1350.,
		"bytes": 13691., "sha256": file.SHA256, "url": views[0].URL, "thumbnail_url": nil}
	if len(got) != len(want) {
		t.Errorf("members %v, want those of %v", got, want)
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	file.Thumb = true
	small, err := s.View(t.Context(), file)
	if err != nil || small.ThumbnailURL == nil {
		t.Fatalf("a file with a thumbnail shows %v, %v", small.ThumbnailURL, err)
	}
	u, err := url.Parse(*small.ThumbnailURL)
	if err != nil || u.Path != "/"+place.Key(1, "png")+".thumb.jpg" ||
		u.Query().Get("response-content-type") != "image/jpeg" || u.Query().Get("X-Amz-Signature") == "" {
		t.Errorf("the thumbnail is at %v, %v", u, err)
	}
	if q := u.Query(); q.Get("response-cache-control") == "" || q.Get("X-Amz-Expires") != "7200" ||
		!verify(u, secret) {
		t.Errorf("the thumbnail is at %v", u)
	}
	if none, err := s.Views(t.Context(), nil); err != nil || none == nil || len(none) != 0 {
		t.Errorf("no files give %v, %v; want an empty list", none, err)
	}
}

// The address of a thumbnail is the same within an hour, and works for an hour at least. That of a file is new each
// time.
func TestTheAddressOfAThumbnailStaysForAnHour(t *testing.T) {
	now := noon
	s, err := media.NewSigner(config(""), "media-bucket", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	at := func(after time.Duration) media.View {
		now = noon.Add(after)
		v, err := s.View(t.Context(), media.File{Key: place.Key(1, "png"), MIMEType: "image/png", Thumb: true})
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(*v.ThumbnailURL)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := time.Parse("20060102T150405Z", u.Query().Get("X-Amz-Date"))
		if left := signed.Add(2 * time.Hour).Sub(now); err != nil || left < time.Hour || left > 2*time.Hour {
			t.Errorf("after %s it works for %s, %v", after, left, err)
		}
		return v
	}
	first, last, next := at(0), at(time.Hour-time.Second), at(time.Hour)
	if *first.ThumbnailURL != *last.ThumbnailURL || *next.ThumbnailURL == *first.ThumbnailURL || first.URL == last.URL {
		t.Errorf("%s\n%s\n%s", *first.ThumbnailURL, *last.ThumbnailURL, *next.ThumbnailURL)
	}
}

func BenchmarkURL(b *testing.B) {
	s, err := media.NewSigner(config(""), "media-bucket", time.Now)
	if err != nil {
		b.Fatal(err)
	}
	key := place.Key(1, "png")
	for b.Loop() {
		if _, err := s.URL(b.Context(), key, "image/png"); err != nil {
			b.Fatal(err)
		}
	}
}
