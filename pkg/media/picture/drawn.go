package picture

import (
	"image"
)

// Of returns a picture that was decoded elsewhere, as it is stored: an *image.YCbCr of the full range, an *image.Gray,
// or an *image.NRGBA. A picture whose Type is image/jpeg becomes a photo when it is turned upright, and another one a
// PNG. The image cannot be used afterwards.
func Of(img image.Image, mimeType string, orientation int, profile []byte) *Decoded {
	p := &Picture{MIMEType: mimeType, Orientation: orientation, stored: img.Bounds().Size()}
	p.Width, p.Height = p.stored.X, p.stored.Y
	if p.turned() {
		p.Width, p.Height = p.Height, p.Width
	}
	d := &Decoded{Picture: p, whole: img, source: memory(img, false)}
	colors := map[kind]string{gray: "GRAY"}[d.source.kind]
	if colors == "" {
		colors = "RGB "
	}
	if bounded(profile) && string(profile[16:20]) == colors {
		p.profile = profile
	}
	d.colors = converterOf(p.profile, d.source.kind)
	return d
}
