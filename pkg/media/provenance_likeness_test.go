package media_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"

	"golang.org/x/image/draw"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/provenance"
)

func provenancePicture(t *testing.T, seed uint64) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(sample.Picture(540, 675, seed)))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// What platforms do to pictures leaves the likeness, and other pictures have another one.
func TestALikenessSurvivesAnotherEncoding(t *testing.T) {
	var seen []provenance.Likeness
	for seed := range uint64(12) {
		img := provenancePicture(t, seed)
		was := provenance.LikenessOf(img)
		smaller := image.NewRGBA(image.Rect(0, 0, 320, 400))
		draw.ApproxBiLinear.Scale(smaller, smaller.Bounds(), img, img.Bounds(), draw.Src, nil)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, smaller, &jpeg.Options{Quality: 40}); err != nil {
			t.Fatal(err)
		}
		worse, err := jpeg.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if d := was.Distance(provenance.LikenessOf(worse)); d > provenance.MaxDistance || was == 0 {
			t.Errorf("picture %d: %s has the distance %d from itself", seed, was, d)
		}
		for _, other := range seen {
			if d := was.Distance(other); d <= provenance.MaxDistance {
				t.Errorf("picture %d has the distance %d from another one", seed, d)
			}
		}
		seen = append(seen, was)
	}
}

func TestAPlainPictureHasNoLikeness(t *testing.T) {
	if h := provenance.LikenessOf(image.NewGray(image.Rect(0, 0, 100, 100))); h != 0 {
		t.Errorf("%s", h)
	}
	if h := provenance.LikenessOf(image.NewGray(image.Rect(0, 0, 3, 3))); h != 0 {
		t.Errorf("%s", h)
	}
}
