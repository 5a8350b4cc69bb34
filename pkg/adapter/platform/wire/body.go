package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/wire"
)

// Body is a body that is streamed.
type Body = wire.Body

// Range returns a range of a file as a body. The file is opened at the first read, and closed with the request.
func Range(ctx context.Context, m platform.Media, offset, length int64) *Body {
	return &Body{Type: m.MIME, Length: length,
		Reader: &lazy{open: func() (io.ReadCloser, error) { return m.Open(ctx, offset, length) }}}
}

// File is a file of a multipart form.
type File struct {
	Field, Name string
	Media       platform.Media
}

// Multipart returns a form with fields and files as a body. Its length is known before the files are read.
func Multipart(ctx context.Context, fields url.Values, files ...File) (*Body, error) {
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	body := &Body{Type: w.FormDataContentType()}
	var parts many
	flush := func() {
		part := bytes.Clone(head.Bytes())
		head.Reset()
		body.Length += int64(len(part))
		parts = append(parts, bytes.NewReader(part))
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := w.WriteField(name, fields.Get(name)); err != nil {
			return nil, fmt.Errorf("wire: form: %w", err)
		}
	}
	for _, f := range files {
		header := textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.Field, f.Name)},
			"Content-Type":        {f.Media.MIME},
		}
		if _, err := w.CreatePart(header); err != nil {
			return nil, fmt.Errorf("wire: form: %w", err)
		}
		flush()
		content := Range(ctx, f.Media, 0, f.Media.Bytes)
		body.Length += content.Length
		parts = append(parts, content.Reader)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("wire: form: %w", err)
	}
	flush()
	body.Reader = &parts
	return body, nil
}

// FileName returns the name of a file in a form, which matters for its extension only.
func FileName(m platform.Media) string {
	_, extension, _ := strings.Cut(m.MIME, "/")
	return "file." + strings.ReplaceAll(extension, "quicktime", "mov")
}

// lazy opens a reader at the first read.
type lazy struct {
	open func() (io.ReadCloser, error)
	r    io.ReadCloser
}

// Read implements io.Reader.
func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open()
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

// Close implements io.Closer. The transport calls it, since it closes the body of a request.
func (l *lazy) Close() error {
	if l.r == nil {
		return nil
	}
	return l.r.Close()
}

// many reads its readers in order, and closes those that implement io.Closer.
type many []io.Reader

// Read implements io.Reader.
func (m *many) Read(p []byte) (int, error) {
	for len(*m) > 0 {
		n, err := (*m)[0].Read(p)
		if errors.Is(err, io.EOF) {
			if c, ok := (*m)[0].(io.Closer); ok {
				_ = c.Close() // it was read to its end
			}
			*m = (*m)[1:]
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (m *many) Close() error {
	for _, r := range *m {
		if c, ok := r.(io.Closer); ok {
			_ = c.Close() // the request has failed
		}
	}
	*m = nil
	return nil
}
