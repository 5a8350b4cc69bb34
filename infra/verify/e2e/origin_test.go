package e2e

import (
	"bytes"
	"encoding/json"
	"image/jpeg"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// origin is what a file says of its origin.
type origin struct {
	DigitalSourceType string `json:"digital_source_type"`
	C2PA              bool   `json:"c2pa"`
	Signer            string `json:"signer"`
}

// verified is the answer of verifyProvenance.
type verified struct {
	File struct {
		DigitalSourceType string `json:"digital_source_type"`
		Signature         string `json:"signature"`
		Signer            string `json:"signer"`
		Claims            []struct{ Kind, Name, Relation string }
	}
	Ours *struct {
		ContentItemID string `json:"content_item_id"`
		Match         string
		Models        []string
	}
}

// exiftool returns what exiftool reads in a file.
func exiftool(t *testing.T, content []byte) map[string]any {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "perl", filepath.Join("..", "..", "..", ".tools", "media", "exiftool",
		"exiftool"), "-j", "-G", path).Output()
	var read []map[string]any
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	if err != nil || len(read) != 1 {
		t.Fatalf("exiftool: %v: %s", err, out)
	}
	return read[0]
}

// A post and a video say where they come from, to others and to the service, with and without their metadata.
func TestFinishedMediaSayTheirOrigin(t *testing.T) {
	t.Parallel()
	secret := newCustomer(t).test.Secret
	factory := into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/factories", object{"type": "brand",
		"name": "A factory", "quality": "draft", "settings": object{"brand_name": "Müller"}}), http.StatusCreated).ID
	for kind, mime := range map[string]string{"post": "image/jpeg", "story": "image/jpeg", "video": "video/mp4"} {
		body := object{"factory_id": factory, "prompt": "A shoe made of recycled nets", "kind": kind}
		if kind == "video" {
			body["visuals"], body["duration_seconds"] = "stills", 10
		}
		made := into[contentItem](call(t, secret, http.MethodPost, contentPath, body), http.StatusAccepted)
		ended(t, secret, made.ID)
		shown := into[struct {
			Media []struct {
				URL        string
				Provenance origin
			}
		}](call(t, secret, http.MethodGet, contentPath+"/"+made.ID, nil), http.StatusOK)
		final := shown.Media[0]
		if o := final.Provenance; o.DigitalSourceType != provenance.Generated.URI() || !o.C2PA ||
			o.Signer != c2pa.TestName {
			t.Errorf("%s is shown with %+v", kind, o)
		}
		resp, err := http.Get(final.URL)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if read := exiftool(t, content); read["XMP:Credit"] != "Müller" || read["XMP:DigitalSourceType"] == nil ||
			read["XMP:AISystemUsed"] == nil {
			t.Errorf("exiftool reads in the %s: %v", kind, read)
		}
		v := into[verified](call(t, secret, http.MethodPost, "/v1/provenance/verify", object{"media_id": bring(t, secret,
			mime, content)}), http.StatusOK)
		if v.File.Signature != signature || v.File.Signer != c2pa.TestName || v.Ours == nil ||
			v.Ours.ContentItemID != made.ID || v.Ours.Match != "hash" || len(v.Ours.Models) == 0 {
			t.Errorf("the %s is %+v, %+v", kind, v.File, v.Ours)
		}
		if kind == "video" {
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		var bare bytes.Buffer
		if err := jpeg.Encode(&bare, img, &jpeg.Options{Quality: 60}); err != nil {
			t.Fatal(err)
		}
		v = into[verified](call(t, secret, http.MethodPost, "/v1/provenance/verify", object{"media_id": bring(t, secret,
			mime, bare.Bytes())}), http.StatusOK)
		if v.File.Signature != "none" || v.Ours == nil || !strings.HasPrefix(v.Ours.ContentItemID, "cnt_") ||
			v.Ours.Match != "likeness" {
			t.Errorf("without its metadata the %s is %+v, %+v", kind, v.File, v.Ours)
		}
	}
}
