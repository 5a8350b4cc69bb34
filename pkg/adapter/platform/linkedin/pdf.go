package linkedin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/media/picture"
)

// pdfMIME is the media type of a document.
const pdfMIME = "application/pdf"

// Document returns a document with JPEG images as its pages, each on a page of its own. Of the images, the headers are
// read: they say which colors they have. They are not decoded, so that the document needs no memory and its length is
// known before it is read.
func Document(ctx context.Context, images []platform.Media) (platform.Media, error) {
	spaces := make([]space, len(images))
	for i, m := range images {
		var err error
		if spaces[i], err = spaceOf(ctx, m); err != nil {
			return platform.Media{}, err
		}
	}
	parts := layout(images, spaces)
	m := platform.Media{MIME: pdfMIME}
	for _, p := range parts {
		m.Bytes += p.length()
	}
	m.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		if offset < 0 || length <= 0 || offset+length > m.Bytes {
			return nil, fmt.Errorf("linkedin: the range %d+%d of %d bytes", offset, length, m.Bytes)
		}
		return &reader{ctx: ctx, parts: parts, skip: offset, left: length}, nil
	}
	return m, nil
}

// space is what the values of an image mean.
type space struct {
	components int
	// inverted is set for inks of which 0 is full, as programs of Adobe store them.
	inverted bool
	profile  []byte
}

// The headers of an image: most are short, and those with the profile of a printer are not.
const (
	shortHead = 64 << 10
	longHead  = 2 << 20
)

// spaceOf reads the headers of an image.
func spaceOf(ctx context.Context, m platform.Media) (space, error) {
	for _, most := range []int64{shortHead, longHead} {
		length := min(m.Bytes, most)
		r, err := m.Open(ctx, 0, length)
		if err != nil {
			return space{}, err
		}
		head, err := io.ReadAll(io.LimitReader(r, length))
		if err = errors.Join(err, r.Close()); err != nil {
			return space{}, fmt.Errorf("linkedin: read an image: %w", err)
		}
		if colors, ok := picture.ColorsOf(head); ok {
			return space{colors.Components, colors.Adobe && colors.Components == 4, colors.Profile}, nil
		}
	}
	return space{components: 3}, nil
}

// describe returns the entries of a dictionary that name the space. profile is the object with the profile.
func (s space) describe(profile int) string {
	name := map[int]string{1: "/DeviceGray", 4: "/DeviceCMYK"}[s.components]
	if name == "" {
		name = "/DeviceRGB"
	}
	if s.profile != nil {
		name = fmt.Sprintf("[ /ICCBased %d 0 R ]", profile)
	}
	if s.inverted {
		name += " /Decode [ 1 0 1 0 1 0 1 0 ]"
	}
	return name
}

// part is a text, or the content of an image.
type part struct {
	text  string
	image *platform.Media
}

func (p part) length() int64 {
	if p.image != nil {
		return p.image.Bytes
	}
	return int64(len(p.text))
}

// layout returns the document. Its objects are the catalog, the list of pages, and for each page the page, its drawing,
// its image and the color profile of that, which may be empty.
func layout(images []platform.Media, spaces []space) (parts []part) {
	const each = 4 // objects of a page
	var offsets []int64
	var at int64
	add := func(p part) {
		parts = append(parts, p)
		at += p.length()
	}
	object := func(body string) {
		offsets = append(offsets, at)
		add(part{text: fmt.Sprintf("%d 0 obj\n%s", len(offsets), body)})
	}
	add(part{text: "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n"})
	object("<< /Type /Catalog /Pages 2 0 R >>\nendobj\n")
	var kids strings.Builder
	for i := range images {
		fmt.Fprintf(&kids, "%d 0 R ", 3+each*i)
	}
	object(fmt.Sprintf("<< /Type /Pages /Kids [ %s] /Count %d >>\nendobj\n", kids.String(), len(images)))
	for i, m := range images {
		page := 3 + each*i
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "+
			"/Resources << /XObject << /I %d 0 R >> >> >>\nendobj\n", m.Width, m.Height, page+1, page+2))
		drawing := fmt.Sprintf("q %d 0 0 %d 0 0 cm /I Do Q", m.Width, m.Height)
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", len(drawing), drawing))
		object(fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s "+
			"/BitsPerComponent 8 /Filter /DCTDecode /Length %d >>\nstream\n", m.Width, m.Height,
			spaces[i].describe(page+3), m.Bytes))
		add(part{image: &images[i]})
		add(part{text: "\nendstream\nendobj\n"})
		object(fmt.Sprintf("<< /N %d /Length %d >>\nstream\n%s\nendstream\nendobj\n", max(spaces[i].components, 1),
			len(spaces[i].profile), spaces[i].profile))
	}
	var end bytes.Buffer
	fmt.Fprintf(&end, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&end, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&end, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	add(part{text: end.String()})
	return parts
}

// reader reads a range of the document, and opens one image at a time.
type reader struct {
	ctx        context.Context
	parts      []part
	skip, left int64
	open       io.ReadCloser
}

// Read implements io.Reader.
func (r *reader) Read(b []byte) (int, error) {
	for r.left > 0 {
		if r.open == nil {
			if err := r.next(); err != nil {
				return 0, err
			}
		}
		n, err := r.open.Read(b[:min(int64(len(b)), r.left)])
		if r.left -= int64(n); errors.Is(err, io.EOF) {
			err = r.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// next opens the next part that the range has.
func (r *reader) next() (err error) {
	for len(r.parts) > 0 && r.skip >= r.parts[0].length() {
		r.skip -= r.parts[0].length()
		r.parts = r.parts[1:]
	}
	if len(r.parts) == 0 {
		return io.ErrUnexpectedEOF
	}
	p := r.parts[0]
	r.parts = r.parts[1:]
	if p.image == nil {
		r.open = io.NopCloser(strings.NewReader(p.text[r.skip:]))
	} else if r.open, err = p.image.Open(r.ctx, r.skip, p.image.Bytes-r.skip); err != nil {
		r.open = nil
		return err
	}
	r.skip = 0
	return nil
}

// Close implements io.Closer.
func (r *reader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}
