package media_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// A signed file without personal data stays as it is. One with them is signed anew, with what came as its parent.
func TestSignedFilesStayValid(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	signer, err := c2pa.NewTest(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := c2pa.OpenCredentials(filepath.Join(root, ".tools", "media", "c2pa", "libs", "libc2pa_c.so"), signer, nil)
	if err != nil {
		t.Fatalf("%v (make media-tools installs what is missing)", err)
	}
	ours, err := os.ReadFile(filepath.Join(root, "testdata", "media", "pictures", "ours_signed.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	comment := []byte("\xff\xfe\x00\x10Jane's garden")
	comment[3] = byte(len(comment) - 2)
	exif := []byte("\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	for name, one := range map[string]struct {
		content []byte
		changed bool
	}{
		"unchanged":      {ours, false},
		"with a comment": {slices.Concat(ours[:2], comment, ours[2:]), true},
		"on its side":    {slices.Concat(ours[:2], exif, ours[2:]), true},
	} {
		received, err := media.Spool(t.Context(), bytes.NewReader(one.content), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		a, err := incoming.Accept(t.Context(), probe.Decoder{}, c, true, received)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := a.Content.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		stored, err := io.ReadAll(a.Content)
		if err != nil || int64(len(stored)) != a.Bytes || bytes.Equal(stored, one.content) == one.changed ||
			bytes.Contains(stored, []byte("Jane")) {
			t.Errorf("%s: %d bytes, %d claimed, %v", name, len(stored), a.Bytes, err)
		}
		r, err := c.Read(t.Context(), a.MIMEType, bytes.NewReader(stored))
		if err != nil || r.Signature == provenance.Invalid || r.Signature == provenance.None {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		parent := slices.ContainsFunc(r.Facts, func(f provenance.Fact) bool {
			return f.As == string(provenance.Parent)
		})
		if parent != one.changed {
			t.Errorf("%s: %+v", name, r.Facts)
		}
		_ = received.Close()
	}
}
