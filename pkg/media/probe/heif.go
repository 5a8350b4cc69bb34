package probe

import (
	"context"
	"errors"
	"image"
	"os"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/picture"
)

// heif makes a JPEG of a HEIC or an AVIF, or a PNG if it is transparent. What the file says of persons and places goes.
func (d Decoder) heif(ctx context.Context, content []byte) (f Decoded, err error) {
	f, err = d.drawn(ctx, content)
	var refused *heif.RefusedError
	switch {
	case errors.As(err, &refused):
		return Decoded{}, &Refused{TooLarge: refused.TooLarge, Message: refused.Message}
	case errors.Is(err, heif.ErrBroken):
		return Decoded{}, broken("HEIC or AVIF picture")
	case errors.Is(err, budget.ErrExceeded):
		return Decoded{}, &Refused{TooLarge: true, Message: "The picture has more parts than one of a telephone or an " +
			"editor. Convert it to JPEG, PNG or WebP."}
	case err != nil:
		return Decoded{}, err
	}
	f.Content, err = originKept(ctx, f.Content, content)
	return f, err
}

func (d Decoder) drawn(ctx context.Context, content []byte) (f Decoded, err error) {
	p, err := heif.Open(ctx, content)
	if err != nil {
		return f, err
	}
	img, err := p.Decode(ctx, d.FFmpeg, os.TempDir())
	if err != nil {
		return f, err
	}
	profile, mimeType := p.Profile, "image/jpeg"
	if profile == nil {
		profile = picture.ProfileOf(img.Colors.Primaries, img.Colors.Transfer)
	}
	if clear, is := img.Image.(*image.NRGBA); is && !clear.Opaque() {
		mimeType = "image/png"
	}
	drawn := picture.Of(img.Image, mimeType, img.Orientation, profile)
	if err := f.look(ctx, drawn); err != nil {
		return f, err
	}
	f.Info, f.Came = infoOf(drawn.Picture), p.MIMEType
	f.Content, f.MIMEType, f.Ext, err = drawn.Upright(ctx)
	return f, err
}
