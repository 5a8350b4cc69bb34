package standalone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/media/objects/s3objects"
)

// ofBothKinds runs a test with blobs of each kind.
func ofBothKinds(t *testing.T, f func(t *testing.T, b blobs)) {
	t.Run("folder", func(t *testing.T) {
		b, err := openFolder(filepath.Join(t.TempDir(), "objects"))
		if err != nil {
			t.Fatal(err)
		}
		f(t, b)
	})
	t.Run("memory", func(t *testing.T) { f(t, &memory{all: map[string]content{}}) })
}

// contentOf returns the content of an object, or "none".
func contentOf(t *testing.T, b blobs, name string) string {
	t.Helper()
	object, at, err := b.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(object)
	if err = errors.Join(err, object.Close()); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("%s is of %v, %v", name, at, err)
	}
	return string(data)
}

func TestBlobs(t *testing.T) {
	ofBothKinds(t, func(t *testing.T, b blobs) {
		const odd = "media/a b/%2F/../ü+?.jpg"
		for _, name := range []string{"media/b", "media/a/2", "media/a/1", odd, "other/a"} {
			if err := b.put(name, strings.NewReader("of "+name)); err != nil {
				t.Fatal(err)
			}
		}
		if got := contentOf(t, b, odd); got != "of "+odd {
			t.Errorf("%s is %q", odd, got)
		}
		if err := b.put("media/b", strings.NewReader("new")); err != nil || contentOf(t, b, "media/b") != "new" {
			t.Errorf("replaced: %q, %v", contentOf(t, b, "media/b"), err)
		}
		for _, name := range []string{"media/b", "media/c"} {
			before := contentOf(t, b, name)
			broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrClosedPipe))
			if err := b.put(name, broken); !errors.Is(err, io.ErrClosedPipe) || contentOf(t, b, name) != before {
				t.Errorf("%s is %q after the failure %v", name, contentOf(t, b, name), err)
			}
		}
		want := []string{odd, "media/a/1", "media/a/2", "media/b"}
		if names, err := b.list("media/"); err != nil || !reflect.DeepEqual(names, want) {
			t.Errorf("listed: %q, %v", names, err)
		}
		for range 2 { // The second time it is gone.
			if err := b.remove("media/b"); err != nil || contentOf(t, b, "media/b") != "none" {
				t.Errorf("removed: %q, %v", contentOf(t, b, "media/b"), err)
			}
		}
		if names, err := b.list("media/b"); err != nil || len(names) > 0 {
			t.Errorf("listed: %q, %v", names, err)
		}
	})
}

func TestAFolderLosesItsUnfinishedFiles(t *testing.T) {
	dir := t.TempDir()
	b, err := openFolder(dir)
	if err == nil {
		err = errors.Join(b.put("media/a", strings.NewReader("whole")),
			os.WriteFile(filepath.Join(dir, ".part-1"), []byte("half"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err = openFolder(dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || contentOf(t, b, "media/a") != "whole" {
		t.Errorf("left are %v, %v", files, err)
	}
}

// served are buckets behind a server, with the signer and the store of the service.
type served struct {
	t      *testing.T
	blobs  blobs
	url    string
	now    time.Time
	stored []string // keys that were announced
	signer *media.Signer
	config aws.Config
}

const filesPrefix = "/files"

func newServed(t *testing.T, b blobs) *served {
	t.Helper()
	s := &served{t: t, blobs: b, now: time.Now().Truncate(time.Second)}
	key := accessKey{AccessKeyID: accessKeyID, SecretAccessKey: "secret"}
	server := httptest.NewServer(&buckets{blobs: b, prefix: filesPrefix, access: key,
		now: func() time.Time { return s.now }, put: func(bucket, key string) { s.stored = append(s.stored, key) }})
	t.Cleanup(server.Close)
	s.url = server.URL
	s.config = aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(server.URL + filesPrefix),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials(key), nil
		}), Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
	var err error
	if s.signer, err = media.NewSigner(s.config, bucket, func() time.Time { return s.now }); err != nil {
		t.Fatal(err)
	}
	return s
}

// call makes a call. Headers are pairs of name and value.
func (s *served) call(method, url string, body io.Reader, headers ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(data)
}

func (s *served) signed(key, kind string) string {
	s.t.Helper()
	url, err := s.signer.URL(s.t.Context(), key, kind)
	if err != nil {
		s.t.Fatal(err)
	}
	return url
}

func TestSignedURLs(t *testing.T) {
	ofBothKinds(t, func(t *testing.T, b blobs) {
		s := newServed(t, b)
		const key = "media/acc 1/ü+.mp4"
		if err := b.put(bucket+"/"+key, strings.NewReader("0123456789")); err != nil {
			t.Fatal(err)
		}
		url := s.signed(key, "video/mp4")
		for _, c := range []struct {
			part, want, contentRange string
			status                   int
		}{
			{"", "0123456789", "", 200},
			{"bytes=0-3", "0123", "bytes 0-3/10", 206},
			{"bytes=7-", "789", "bytes 7-9/10", 206},
			{"bytes=-2", "89", "bytes 8-9/10", 206},
			{"bytes=10-", "invalid range: failed to overlap\n", "bytes */10", 416},
		} {
			resp, body := s.call("GET", url, nil, "Range", c.part)
			if resp.StatusCode != c.status || body != c.want || resp.Header.Get("Content-Range") != c.contentRange ||
				c.status < 300 && (resp.Header.Get("Content-Type") != "video/mp4" ||
					resp.Header.Get("Accept-Ranges") != "bytes") {
				t.Errorf("%q: %d %q %v", c.part, resp.StatusCode, body, resp.Header)
			}
		}
		other := s.signed("media/other", "video/mp4")
		refused := map[string]string{
			"another key":       strings.Replace(url, ".mp4?", ".mp3?", 1),
			"another bucket":    strings.Replace(url, "/media/", "/private/", 1),
			"another type":      strings.Replace(url, "video%2Fmp4", "text%2Fhtml", 1),
			"another lifetime":  strings.Replace(url, "X-Amz-Expires=3600", "X-Amz-Expires=360000", 1),
			"another signature": url[:strings.LastIndex(url, "=")] + other[strings.LastIndex(other, "="):],
			"no signature":      url[:strings.Index(url, "?")],
			"no date":           strings.Replace(url, "X-Amz-Date", "X-Amz-Day", 1),
			"another parameter": url + "&versionId=1",
		}
		for name, address := range refused {
			if address == url {
				t.Errorf("%s: the URL is unchanged", name)
			}
			if resp, body := s.call("GET", address, nil); resp.StatusCode != http.StatusForbidden ||
				!strings.Contains(body, "<Code>") || strings.Contains(body, "0123") {
				t.Errorf("%s: %d %s", name, resp.StatusCode, body)
			}
		}
		for _, method := range []string{"PUT", "DELETE", "HEAD", "POST"} {
			if resp, _ := s.call(method, url, nil); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s by the URL of GET: %d", method, resp.StatusCode)
			}
		}
		if resp, body := s.call("GET", other, nil); resp.StatusCode != http.StatusNotFound ||
			!strings.Contains(body, "<Code>NoSuchKey</Code>") {
			t.Errorf("no object: %d %s", resp.StatusCode, body)
		}
		s.now = s.now.Add(media.Lifetime)
		if resp, _ := s.call("GET", url, nil); resp.StatusCode != http.StatusOK {
			t.Errorf("at its end: %d", resp.StatusCode)
		}
		s.now = s.now.Add(time.Second)
		if resp, body := s.call("GET", url, nil); resp.StatusCode != http.StatusForbidden ||
			!strings.Contains(body, "Request has expired") {
			t.Errorf("after its end: %d %s", resp.StatusCode, body)
		}
	})
}

func TestUploads(t *testing.T) {
	ofBothKinds(t, func(t *testing.T, b blobs) {
		s := newServed(t, b)
		const text = "the content"
		sum := sha256.Sum256([]byte(text))
		file := media.File{MIMEType: "image/png", SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(text))}
		key := media.UploadKey(tenant.Of("acc_1", tenant.Test), "med_1")
		up, err := s.signer.Upload(t.Context(), key, file, s.now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		headers := func(change ...string) (all []string) {
			for name, value := range up.Headers {
				all = append(all, name, value)
			}
			return append(all, change...)
		}
		other := sha256.Sum256([]byte("other text!"))
		encodedSum := base64.StdEncoding.EncodeToString(other[:])
		for name, c := range map[string]struct {
			body    io.Reader
			headers []string
			status  int
		}{
			"other content":  {strings.NewReader("other text!"), headers(), http.StatusBadRequest},
			"another length": {strings.NewReader(text + text), headers(), http.StatusForbidden},
			"no length":      {io.MultiReader(strings.NewReader(text)), headers(), http.StatusForbidden},
			"another type": {strings.NewReader(text), headers("Content-Type", "text/html"),
				http.StatusForbidden},
			"another checksum": {strings.NewReader("other text!"), headers("X-Amz-Checksum-Sha256", encodedSum),
				http.StatusForbidden},
			"no headers": {strings.NewReader(text), nil, http.StatusForbidden},
			"chunks": {strings.NewReader(text), headers("Content-Encoding", "aws-chunked"),
				http.StatusNotImplemented},
		} {
			if resp, body := s.call(up.Method, up.URL, c.body, c.headers...); resp.StatusCode != c.status {
				t.Errorf("%s: %d %s", name, resp.StatusCode, body)
			}
		}
		// A body that ends before its length does.
		req, err := http.NewRequestWithContext(t.Context(), up.Method, up.URL, strings.NewReader(text[:4]))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range up.Headers {
			req.Header.Set(name, value)
		}
		req.ContentLength = file.Bytes
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 400 {
				t.Errorf("a short body: %d", resp.StatusCode)
			}
		}
		if names, err := b.list(""); err != nil || len(names) > 0 || len(s.stored) > 0 {
			t.Errorf("refused uploads have stored %q, and announced %q: %v", names, s.stored, err)
		}
		resp, body := s.call(up.Method, up.URL, strings.NewReader(text), headers()...)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == "" ||
			contentOf(t, b, bucket+"/"+key) != text || !reflect.DeepEqual(s.stored, []string{key}) {
			t.Errorf("%d %s, announced %q", resp.StatusCode, body, s.stored)
		}
		s.now = s.now.Add(time.Hour + time.Second)
		if resp, _ := s.call(up.Method, up.URL, strings.NewReader(text), headers()...); resp.StatusCode !=
			http.StatusForbidden {
			t.Errorf("a late upload: %d", resp.StatusCode)
		}
	})
}

func TestBrowsersMayUpload(t *testing.T) {
	s := newServed(t, &memory{all: map[string]content{}})
	resp, _ := s.call("OPTIONS", s.url+filesPrefix+"/media/uploads/1", nil, "Origin", "https://example.com",
		"Access-Control-Request-Method", "PUT")
	up, err := s.signer.Upload(t.Context(), "uploads/1", media.File{MIMEType: "image/png"}, s.now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != "*" ||
		resp.Header.Get("Access-Control-Allow-Methods") != up.Method {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	allowed := resp.Header.Get("Access-Control-Allow-Headers")
	for name := range up.Headers {
		if !strings.Contains(allowed, strings.ToLower(name)) {
			t.Errorf("%s is not among %s", name, allowed)
		}
	}
	if resp, _ := s.call("GET", s.url+filesPrefix+"/media/a", nil); resp.StatusCode != http.StatusForbidden ||
		resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a refusal: %d %v", resp.StatusCode, resp.Header)
	}
}

// The clients of the service use the buckets as they use S3.
func TestTheClientsOfTheService(t *testing.T) {
	ofBothKinds(t, func(t *testing.T, b blobs) {
		s := newServed(t, b)
		store := objects.New(s3objects.New(s.config, bucket))
		const text = "0123456789"
		sum := sha256.Sum256([]byte(text))
		file := media.File{Key: "media/a", MIMEType: "text/plain", SHA256: hex.EncodeToString(sum[:]), Bytes: 10}
		if err := store.Put(t.Context(), file, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		read := func(r io.ReadCloser, err error) string {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		if got := read(store.Open(t.Context(), file.Key)); got != text {
			t.Errorf("it is %q", got)
		}
		if got := read(store.Range(t.Context(), file.Key, 3, 4)); got != "3456" {
			t.Errorf("a part is %q", got)
		}
		client := s3.NewFromConfig(s.config, func(o *s3.Options) { o.UsePathStyle = true })
		head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &file.Key})
		if err != nil || aws.ToInt64(head.ContentLength) != 10 {
			t.Errorf("HEAD: %v, %v", head, err)
		}
		kept, err := s.signer.KeepInput(t.Context(), tenant.Of("acc_1", tenant.Test), "png",
			media.File{MIMEType: "image/png"}, []byte("an input"))
		if err != nil || contentOf(t, b, bucket+"/"+kept.Key) != "an input" {
			t.Errorf("an input: %+v, %v", kept, err)
		}
		if err := store.Delete(t.Context(), file.Key); err != nil {
			t.Error(err)
		}
		if _, err := store.Open(t.Context(), file.Key); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("removed: %v", err)
		}

		// The requests of another secret are refused.
		other := s.config.Copy()
		other.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKeyID, SecretAccessKey: accessKeyID}, nil
		})
		if err := s3objects.New(other, bucket).Put(t.Context(), file, strings.NewReader(text)); err == nil ||
			contentOf(t, b, "media/media/a") != "none" {
			t.Errorf("another secret: %v", err)
		}
	})
}

func TestListsHavePages(t *testing.T) {
	ofBothKinds(t, func(t *testing.T, b blobs) {
		s := newServed(t, b)
		place := media.Place{Owner: tenant.Of("acc_1", tenant.Test), Resource: "cnt_1", Attempt: 1}
		var want []string
		for i := range mostListed + 5 {
			want = append(want, fmt.Sprintf("%s%04d", place.Prefix(), i))
			if err := b.put(bucket+"/"+want[i], strings.NewReader("")); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.put(bucket+"/media/acc_2", strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
		client := s3.NewFromConfig(s.config, func(o *s3.Options) { o.UsePathStyle = true })
		pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: aws.String(bucket),
			Prefix: aws.String(place.Prefix())})
		var got []string
		var sizes []int
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range page.Contents {
				got = append(got, *object.Key)
			}
			sizes = append(sizes, len(page.Contents))
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(sizes, []int{mostListed, 5}) {
			t.Errorf("%d keys in pages of %v", len(got), sizes)
		}
		if err := objects.New(s3objects.New(s.config, bucket)).Remove(t.Context(), place); err != nil {
			t.Fatal(err)
		}
		if left, err := b.list(""); err != nil || !reflect.DeepEqual(left, []string{bucket + "/media/acc_2"}) {
			t.Errorf("left are %q, %v", left, err)
		}
	})
}

func TestOldObjectsAreRemoved(t *testing.T) {
	old := time.Now().Add(-25 * time.Hour)
	m := &memory{all: map[string]content{
		"media/" + media.Uploads + "old": {nil, old}, "media/" + media.Uploads + "new": {nil, time.Now()},
		"media/" + media.Inputs + "old": {nil, old}, "media/" + media.Inputs + "older": {nil, old.Add(-24 * time.Hour)},
		"media/raw/old": {nil, old}, "media/media/oldest": {nil, old.AddDate(-1, 0, 0)},
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	(&buckets{blobs: m}).clean(ctx, bucket)
	left, err := m.list("")
	want := []string{"media/" + media.Inputs + "old", "media/media/oldest", "media/raw/old",
		"media/" + media.Uploads + "new"}
	if err != nil || !reflect.DeepEqual(left, want) {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestTheChecksumIsThatOfTheWholeContent(t *testing.T) {
	sum := sha256.Sum256([]byte("whole"))
	for want, fails := range map[string]bool{"": false, base64.StdEncoding.EncodeToString(sum[:]): false, "AAAA": true} {
		// Some readers return their last bytes with io.EOF, and others return them before.
		for _, r := range []io.Reader{strings.NewReader("whole"), iotest.DataErrReader(strings.NewReader("whole")),
			iotest.OneByteReader(bytes.NewBufferString("whole"))} {
			_, err := io.Copy(io.Discard, &checked{r: r, sum: sha256.New(), want: want})
			if errors.Is(err, errChecksum) != fails {
				t.Errorf("%q: %v", want, err)
			}
		}
	}
}
