package compose

import (
	"context"
	"image"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// The areas of the headline of a cover. That of a portrait video is inside the part that the grids of Instagram (3:4),
// TikTok and YouTube show, and that of a landscape one beside the length that YouTube writes into its corner.
var (
	coverPortrait  = image.Rect(84, 330, 1080-84, 1920-360)
	coverLandscape = image.Rect(110, 80, 1920-110, 1080-120)
)

// cover delivers the poster of a video: its headline over the picture of its first scene, with the mark of the brand. A
// video without a headline, or with one that cannot be shown, has a frame as its poster.
func (f *videoRun) cover(ctx context.Context) (bool, error) {
	first := f.Scenes[0]
	if f.Headline == "" {
		return false, nil
	}
	path := first.Picture
	if path == "" {
		path = f.path("cover.png")
		in := f.scenes[0].input
		in.Options = append([]string{"-ss", "0.3"}, in.Options...)
		_, err := f.ffmpeg(ctx, StagePicture, in.about, ffmpeg.Job{Inputs: []ffmpeg.Input{in.Input},
			Filter: in.pictures(0) + in.inside(in.width, in.height) + "," + toRGB + "[out]",
			Output: []string{"-map", "[out]", "-frames:v", "1", "-update", "1", "-f", "image2", "cover.png"}})
		if err != nil {
			return false, err
		}
	}
	c := card{about: "/headline", name: "poster", layout: cover, size: f.full(), area: coverPortrait, maxEm: 132,
		text: f.Headline, lang: f.Language, brand: f.Brand, whole: first.Whole && first.Picture != "", notice: f.Notice,
		lifted: true}
	if f.Format == Landscape {
		c.area, c.maxEm = coverLandscape, 140
	}
	err := f.card(ctx, path, c)
	if unfit(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.deliver("poster.jpg", File{Role: media.Poster, Type: media.Image, MIMEType: "image/jpeg",
		Width: c.size.X, Height: c.size.Y})
}
