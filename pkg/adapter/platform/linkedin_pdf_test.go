package platform_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
)

func read(t *testing.T, m platform.Media, offset, length int64) []byte {
	t.Helper()
	r, err := m.Open(t.Context(), offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func pages(t *testing.T, images []platform.Media) platform.Media {
	t.Helper()
	m, err := linkedin.Document(t.Context(), images)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Pages have the colors of their images: gray ones, inks, and those of a profile.
func TestPagesHaveTheColorsOfTheirImages(t *testing.T) {
	for name, want := range map[string]string{
		"gray.jpg": "/DeviceGray", "cmyk.jpg": "/DeviceCMYK /Decode [ 1 0 1 0 1 0 1 0 ]", "noeoi.jpg": "/DeviceRGB",
		"p3.jpg": "[ /ICCBased 6 0 R ]", "gray_table.jpg": "[ /ICCBased 6 0 R ]",
		"inks.jpg": "[ /ICCBased 6 0 R ] /Decode [ 1 0 1 0 1 0 1 0 ]",
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", "pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		m := pages(t, []platform.Media{{MIME: "image/jpeg", Bytes: int64(len(content)), Width: 300, Height: 200,
			Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(content[offset : offset+length])), nil
			}}})
		all := read(t, m, 0, m.Bytes)
		if dir := os.Getenv("PDF_DIR"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, name+".pdf"), all, 0o600)
		}
		if !bytes.Contains(all, []byte("/ColorSpace "+want+" /BitsPerComponent")) {
			t.Errorf("%s: the page is not in %s", name, want)
		}
	}
}

// Every object is where the table says, and every stream is as long as its dictionary says.
func TestTheDocumentIsWellFormed(t *testing.T) {
	images := []platform.Media{fixture.Image("a"), fixture.Image("b"), fixture.Image("c")}
	m := pages(t, images)
	all := read(t, m, 0, m.Bytes)
	if int64(len(all)) != m.Bytes {
		t.Fatalf("%d bytes, want %d", len(all), m.Bytes)
	}
	at := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(all)
	if at == nil {
		t.Fatal("the document has no end")
	}
	table, err := strconv.Atoi(string(at[1]))
	if err != nil || !bytes.HasPrefix(all[table:], []byte("xref\n0 15\n")) {
		t.Fatalf("the table is not at %s", at[1])
	}
	for i, entry := range regexp.MustCompile(`(\d{10}) 00000 n `).FindAllSubmatch(all[table:], -1) {
		offset, err := strconv.Atoi(string(entry[1]))
		if err != nil || !bytes.HasPrefix(all[offset:], fmt.Appendf(nil, "%d 0 obj\n", i+1)) {
			t.Errorf("object %d is not at %s", i+1, entry[1])
		}
	}
	for _, s := range regexp.MustCompile(`/Length (\d+) >>\nstream\n`).FindAllSubmatchIndex(all, -1) {
		length, err := strconv.Atoi(string(all[s[2]:s[3]]))
		if err != nil || !bytes.HasPrefix(all[s[1]+length:], []byte("\nendstream")) {
			t.Errorf("the stream at %d does not end after %d bytes", s[1], length)
		}
	}
	for i, image := range images {
		if content := read(t, image, 0, image.Bytes); !bytes.Contains(all, content) {
			t.Errorf("image %d is missing", i)
		}
	}
}

// A range is the same part of the document, wherever it begins.
func TestRanges(t *testing.T) {
	m := pages(t, []platform.Media{fixture.Image("a"), fixture.Image("b")})
	all := read(t, m, 0, m.Bytes)
	for offset := int64(0); offset < m.Bytes; offset += 97 {
		length := min(333, m.Bytes-offset)
		if got := read(t, m, offset, length); !bytes.Equal(got, all[offset:offset+length]) {
			t.Fatalf("the range %d+%d differs", offset, length)
		}
	}
	if _, err := m.Open(t.Context(), 0, m.Bytes+1); err == nil {
		t.Error("opened more than the document has")
	}
}
