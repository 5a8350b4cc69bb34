package probe

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"golang.org/x/image/draw"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/picture"
)

const (
	// thumbnailQuality is the quality of thumbnails, which have about 30 KB.
	thumbnailQuality = 80
	// tallest bounds the height of pictures with a thumbnail, as a multiple of their width: no post is as tall, and the
	// thumbnail of a picture of one column would be as large as the picture.
	tallest = 5
	// sampled bounds what is averaged for a pixel of a thumbnail, in one direction. Larger pictures are sampled, so
	// that the time does not grow with them.
	sampled = 4
)

// small reports whether a picture has a thumbnail: one that is wider, and not much taller than wide.
func small(width, height int) bool {
	return width > media.ThumbnailWidth && height <= tallest*width
}

// Thumbnail returns a JPEG of a picture in sRGB, as wide as thumbnails may be. It is nil for a picture that is not
// wider, or is much taller than wide.
func Thumbnail(of image.Image) ([]byte, error) {
	b := of.Bounds()
	if !small(b.Dx(), b.Dy()) {
		return nil, nil
	}
	size := image.Rect(0, 0, media.ThumbnailWidth, max(1, b.Dy()*media.ThumbnailWidth/b.Dx()))
	if most := image.Rect(0, 0, sampled*size.Dx(), sampled*size.Dy()); b.Dx() > most.Dx() {
		less := image.NewRGBA(most)
		draw.ApproxBiLinear.Scale(less, most, of, b, draw.Src, nil)
		of, b = less, most
	}
	reduced := image.NewNRGBA(size)
	draw.BiLinear.Scale(reduced, size, of, b, draw.Src, nil)
	return encoded(reduced)
}

// encoded returns a thumbnail as a JPEG. White is seen where it is transparent.
func encoded(thumbnail *image.NRGBA) ([]byte, error) {
	var out bytes.Buffer
	flat := picture.Flat(thumbnail, image.White)
	if err := jpeg.Encode(&out, flat, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("probe: encode a thumbnail: %w", err)
	}
	return out.Bytes(), nil
}
