package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/media"
)

// A codec, a sampling, a rate or a sound that the documents of a platform refuse is named, and how to mend it.
func TestVideosInOtherFormsAreRefusedByName(t *testing.T) {
	phone := media.Movie{
		Picture: media.Picture{Codec: media.H264, Profile: "High", Chroma: "4:2:0", Depth: 8, Width: 1080, Height: 1920,
			Rate: 30},
		Sound: media.Sound{Codec: media.AAC, Profile: "LC", Rate: 48000, Channels: 2}}
	for name, c := range map[string]struct {
		change  func(*media.Movie)
		message string
		refuse  []string
	}{
		"a phone":      {func(*media.Movie) {}, "", nil},
		"not known":    {func(m *media.Movie) { *m = media.Movie{} }, "", nil},
		"without":      {func(m *media.Movie) { m.Sound = media.Sound{} }, "", nil},
		"an edit list": {func(m *media.Movie) { m.Edited = true }, "", nil},
		"MJPEG": {func(m *media.Movie) { m.Picture.Codec = media.MJPEG }, "is in MJPEG",
			[]string{"instagram", "pinterest", "threads", "tiktok", "x"}},
		"AV1": {func(m *media.Movie) { m.Picture.Codec = media.AV1 }, "is in AV1",
			[]string{"instagram", "pinterest", "threads", "tiktok", "x"}},
		"HEVC": {func(m *media.Movie) { m.Picture.Codec = media.HEVC }, "is in HEVC (H.265)", []string{"x"}},
		"4:4:4": {func(m *media.Movie) { m.Picture.Chroma, m.Picture.Profile = "4:4:4", "High 4:4:4 Predictive" },
			"with 4:4:4, the profile High 4:4:4 Predictive", []string{"instagram", "threads", "x"}},
		"10 bits": {func(m *media.Movie) { m.Picture.Depth, m.Picture.Profile = 10, "High 10" },
			"with 10, the profile High 10", []string{"x"}},
		"120": {func(m *media.Movie) { m.Picture.Rate = 119.88 }, "has 120",
			[]string{"instagram", "threads", "tiktok", "x"}},
		"5.1":    {func(m *media.Movie) { m.Sound.Channels = 6 }, "has 6", []string{"instagram", "threads", "x"}},
		"96 kHz": {func(m *media.Movie) { m.Sound.Rate = 96000 }, "has 96000", []string{"instagram", "threads"}},
		"Opus":   {func(m *media.Movie) { m.Sound.Codec = media.Opus }, "has Opus", []string{"instagram", "threads", "x"}},
		"HE":     {func(m *media.Movie) { m.Sound.Profile = "HE" }, "has HE-AAC", []string{"x"}},
	} {
		movie := phone
		c.change(&movie)
		var refuse, warn []string
		for _, row := range registry.Rows() {
			if row.Capabilities.Kinds[platform.KindVideo].Video == nil {
				continue
			}
			post := platform.Post{Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
				Media: []platform.Media{{MIME: "video/mp4", Bytes: 900_000, Width: 1080, Height: 1920,
					Duration: 20 * time.Second, Movie: movie}}}
			for _, p := range platform.Fit(row.Name, post, row.Capabilities) {
				refuse = append(refuse, row.Name)
				if p.Param != "media[0]" || !strings.Contains(p.Message, c.message) || !strings.Contains(p.Message, "fit") {
					t.Errorf("%s: %s", name, p.Message)
				}
			}
			for _, p := range platform.Recut(row.Name, post, row.Capabilities) {
				warn = append(warn, p.Platform)
			}
		}
		slices.Sort(refuse)
		if !slices.Equal(refuse, c.refuse) {
			t.Errorf("%s is refused by %v, not by %v", name, refuse, c.refuse)
		}
		if want := movie.Edited; want != slices.Equal(warn, []string{"instagram", "threads"}) || !want && warn != nil {
			t.Errorf("%s is warned of by %v", name, warn)
		}
	}
}
