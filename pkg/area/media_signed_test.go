package area_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
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

// signedFilm returns a video with a signature of the service.
func signedFilm(t *testing.T, c *c2pa.Credentials, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte("Lavf")) {
		t.Fatalf("%s is not of ffmpeg", path)
	}
	to, err := os.Create(filepath.Join(t.TempDir(), "signed.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	claim := provenance.Claim{Title: "video", Ingredients: []provenance.Ingredient{{Title: "original",
		MIMEType: "video/mp4", Relation: provenance.Component, File: bytes.NewReader(content)}}}
	if _, err := c.Sign(t.Context(), true, claim, "video/mp4", bytes.NewReader(content), to); err != nil {
		t.Fatal(err)
	}
	content, err = os.ReadFile(to.Name())
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A video of ffmpeg says nothing about a person, and stays as it is.
func TestAPlainVideoStaysAsItIs(t *testing.T) {
	for _, name := range []string{"tagged709.mp4", "sync.mp4", "rot_b.mp4", "frag_full.mp4"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "media", "videos", name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := probe.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
		if err != nil || f.Content != nil || len(f.Edits) > 0 {
			t.Errorf("%s: %d edits, %v", name, len(f.Edits), err)
		}
	}
}

// A signed file without personal data stays as it is. One with them is signed anew, with what came as its parent.
func TestSignedFilesStayValid(t *testing.T) {
	root := filepath.Join("..", "..")
	signer, err := c2pa.NewTest(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := c2pa.OpenCredentials(filepath.Join(root, ".tools", "media", "c2pa", "libs", "libc2pa_c.so"), signer, nil)
	if err != nil {
		t.Fatalf("%v (make media-tools installs what is missing)", err)
	}
	plain, placed := filepath.Join(root, "testdata", "media", "videos", "tagged709.mp4"), filepath.Join(t.TempDir(), "a.mp4")
	if out, err := exec.CommandContext(t.Context(), filepath.Join(root, ".tools", "media", "ffmpeg"), "-v", "error", "-i",
		plain, "-c", "copy", "-metadata", "location=+48.1371+011.5754/", placed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
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
		// The handlers and the note of the encoder are those of ffmpeg.
		"a video":              {signedFilm(t, c, plain), false},
		"a video with a place": {signedFilm(t, c, placed), true},
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
			bytes.Contains(stored, []byte("Jane")) || bytes.Contains(stored, []byte("+48.1371")) {
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
