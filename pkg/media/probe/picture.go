package probe

import (
	"bytes"
	"context"
	"errors"
	"image"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/provenance"
)

// form is a format of pictures.
type form struct {
	name, ext string
	// strip removes what is not part of the picture. If notes is true, what says nothing about a person stays: which
	// program has encoded the file, and XMP.
	strip func(content []byte, notes bool) []byte
}

var forms = map[string]form{
	"image/jpeg": {"JPEG", "jpg", stripJPEG},
	"image/png":  {"PNG", "png", stripPNG},
	"image/webp": {"WebP", "webp", stripWebP},
}

// moving refuses a picture of several frames: the other ones would be lost without a word.
const moving = "The picture is animated, and one picture is needed. Save one frame of it as JPEG, PNG or WebP, or all " +
	"of it as an MP4 video."

// pixels reads the size of a picture from its headers.
func pixels(content []byte) (Info, error) {
	p, err := picture.Open(content)
	if err != nil {
		return Info{}, audio.Unsupported("%v", err)
	}
	return infoOf(p), nil
}

func infoOf(p *picture.Picture) Info {
	return Info{Type: media.Image, MIMEType: p.MIMEType, Ext: forms[p.MIMEType].ext, Width: p.Width, Height: p.Height}
}

// still decodes a picture. A picture that is stored on its side is turned upright, because readers may not support
// that.
func still(ctx context.Context, content []byte) (f Decoded, err error) {
	p, err := picture.Open(content)
	if err != nil {
		return f, broken("picture in one of the formats JPEG, PNG and WebP")
	}
	if p.Animated {
		return f, &Refused{Message: moving}
	}
	f.Info, f.Came = infoOf(p), p.MIMEType
	d, err := p.Decode(ctx)
	if err == nil {
		err = f.look(ctx, d)
	}
	if err != nil {
		return Decoded{}, refusal(err, f.MIMEType)
	}
	strip := forms[p.MIMEType].strip
	if p.Orientation == 1 {
		if plain, err := nothingPersonal(ctx, content, strip(content, true)); plain || err != nil {
			return f, err
		}
		f.Content = strip(content, false)
	} else if f.Content, f.MIMEType, f.Ext, err = d.Upright(ctx); err != nil {
		return Decoded{}, refusal(err, p.MIMEType)
	} else if f.MIMEType == p.MIMEType {
		f.Content = withManifest(f.Content, strip(content, false), f.MIMEType)
	}
	f.Content, err = originKept(ctx, f.Content, content)
	return f, err
}

// look sets what is seen of a picture.
func (f *Decoded) look(ctx context.Context, d *picture.Decoded) error {
	seen, err := d.Within(ctx, image.Pt(min(d.Width, media.ThumbnailWidth),
		min(d.Height, tallest*media.ThumbnailWidth)))
	if err != nil {
		return err
	}
	f.Likeness = provenance.LikenessOf(seen)
	if small(d.Width, d.Height) {
		f.Thumbnail, err = encoded(seen)
	}
	return err
}

// refusal returns why a picture cannot be used.
func refusal(err error, mimeType string) error {
	var large *picture.TooLargeError
	switch {
	case errors.As(err, &large):
		return &Refused{TooLarge: true, Message: large.Message}
	case errors.Is(err, picture.ErrBroken):
		return broken(forms[mimeType].name)
	}
	return err
}

// nothingPersonal reports whether a file is all that stays of it, with XMP that says where it comes from and no more.
func nothingPersonal(ctx context.Context, content, kept []byte) (bool, error) {
	if !bytes.Equal(content, kept) {
		return false, nil
	}
	plain, err := provenance.Plain(ctx, bytes.NewReader(content), int64(len(content)))
	if errors.Is(err, provenance.ErrUnsupported) {
		return false, nil
	}
	return plain, err
}

// originKept returns a picture without metadata with what the file has said of its origin in XMP, and the credit line
// of a model. Everything else that was there, such as a place or a name, is left out.
func originKept(ctx context.Context, stripped, content []byte) ([]byte, error) {
	found, err := provenance.Read(ctx, bytes.NewReader(content), int64(len(content)))
	said := found.Statement.Impersonal()
	if errors.Is(err, provenance.ErrUnsupported) || err == nil && said == (provenance.Statement{}) {
		return stripped, nil
	}
	if err != nil {
		return nil, err
	}
	return provenance.Marked(ctx, stripped, said)
}
