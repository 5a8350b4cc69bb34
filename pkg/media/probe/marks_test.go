package probe_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"testing"

	photos "github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
)

// with returns a picture with a part more behind its beginning: a segment of JPEG or a chunk of PNG.
func with(t *testing.T, content []byte, name, body string) []byte {
	t.Helper()
	if content[0] == 0xff {
		part := binary.BigEndian.AppendUint16([]byte{0xff, name[0]}, uint16(len(body)+2))
		return slices.Concat(content[:2], append(part, body...), content[2:])
	}
	const first = 33
	part := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), name+body...)
	part = binary.BigEndian.AppendUint32(part, crc32.ChecksumIEEE(part[4:]))
	return slices.Concat(content[:first], part, content[first:])
}

// Of a picture that comes in, the marks of its origin stay, and what is personal goes.
func TestMarksOfInputsStayAndPersonalDataGoes(t *testing.T) {
	shown, err := jpeg.Decode(bytes.NewReader(photos.Picture(120, 150, 1)))
	if err != nil {
		t.Fatal(err)
	}
	encoded := func(encode func(io.Writer, image.Image) error) []byte {
		var b bytes.Buffer
		if err := encode(&b, shown); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	photo := encoded(func(w io.Writer, img image.Image) error { return jpeg.Encode(w, img, nil) })
	drawing := encoded(png.Encode)
	for name, c := range map[string]struct {
		content            []byte
		manifest, personal [2]string
	}{
		"JPEG": {photo, [2]string{"\xeb", "JP\x00\x01\x00\x00\x00\x01the manifest"}, [2]string{"\xe1",
			"Exif\x00\x00II*\x00 GPS and serial number"}},
		"PNG": {drawing, [2]string{"caBX", "the manifest"}, [2]string{"eXIf", "II*\x00 GPS and serial number"}},
	} {
		for _, said := range []struct{ before, after provenance.Statement }{
			{provenance.Statement{Source: provenance.Generated, Credit: "Made with a model", Systems: "Imagen"},
				provenance.Statement{Source: provenance.Generated, Credit: "Made with a model", Systems: "Imagen"}},
			{provenance.Statement{Source: "digitalCapture", Credit: "Jane Doe"},
				provenance.Statement{Source: "digitalCapture"}},
			{provenance.Statement{Credit: "Jane Doe"}, provenance.Statement{}},
		} {
			content, err := provenance.Marked(t.Context(), c.content, said.before)
			if err != nil {
				t.Fatal(err)
			}
			content = with(t, with(t, content, c.manifest[0], c.manifest[1]), c.personal[0], c.personal[1])
			got, err := probe.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			found, err := provenance.Read(t.Context(), bytes.NewReader(got.Content), int64(len(got.Content)))
			if err != nil || found.Statement != said.after || !found.Manifest {
				t.Errorf("%s says %+v, %v", name, found, err)
			}
			if !bytes.Contains(got.Content, []byte(c.manifest[1])) {
				t.Errorf("%s has lost its manifest", name)
			}
			for _, gone := range []string{"GPS", "serial", "Jane Doe"} {
				if bytes.Contains(got.Content, []byte(gone)) {
					t.Errorf("%s has kept %q", name, gone)
				}
			}
			if got.Likeness == 0 || got.Likeness.Distance(provenance.LikenessOf(shown)) > provenance.MaxDistance {
				t.Errorf("%s has the likeness %s", name, got.Likeness)
			}
		}
	}
}
