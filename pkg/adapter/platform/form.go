package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/media"
)

// Form is what the documents of a platform say of the codecs of videos. An empty member sets no bound. What is not
// known of a video is the platform's to check.
type Form struct {
	// Pictures and Sounds are the codecs.
	Pictures, Sounds []media.Codec
	// Chroma is the sampling of colors, and MaxDepth bounds the bits of a sample.
	Chroma   string
	MaxDepth int
	// MaxRate bounds the frames in a second.
	MaxRate float64
	// LowComplexity takes AAC of the profile LC alone.
	LowComplexity bool
	// MaxChannels and MaxSampleRate bound the sound.
	MaxChannels, MaxSampleRate int
	// Uncut reports whether the platform ignores or refuses edit lists.
	Uncut bool
}

// Meta is the form of Instagram and Threads
// (developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media, and
// developers.facebook.com/docs/threads/overview).
var Meta = Form{Pictures: []media.Codec{media.H264, media.HEVC}, Sounds: []media.Codec{media.AAC}, Chroma: "4:2:0",
	MaxRate: 60, MaxChannels: 2, MaxSampleRate: 48_000, Uncut: true}

// form checks the codecs of a video.
func (f *fitting) form(param string, m media.Movie, form Form) {
	const convert = "Convert the video, or send fit, which does."
	p, s := m.Picture, m.Sound
	takes := func(what, this string) {
		f.add(param, "%s takes videos %s; this %s. %s", f.label, what, this, convert)
	}
	switch {
	case p.Codec == "": // it is not known
	case len(form.Pictures) > 0 && !slices.Contains(form.Pictures, p.Codec):
		takes("in "+labels(form.Pictures), "is in "+p.Codec.Label())
	case form.Chroma != "" && p.Chroma != "" && p.Chroma != form.Chroma:
		takes("with the colors in "+form.Chroma, fmt.Sprintf("is %s with %s%s", p.Codec.Label(), p.Chroma,
			profile(p.Profile)))
	case form.MaxDepth > 0 && p.Depth > form.MaxDepth:
		takes(fmt.Sprintf("with %d bits a sample", form.MaxDepth), fmt.Sprintf("is %s with %d%s", p.Codec.Label(),
			p.Depth, profile(p.Profile)))
	}
	const slack = 0.5
	if form.MaxRate > 0 && p.Rate > form.MaxRate+slack {
		takes(fmt.Sprintf("of up to %.0f frames a second", form.MaxRate), fmt.Sprintf("has %.0f", p.Rate))
	}
	switch {
	case s.Codec == "":
	case len(form.Sounds) > 0 && !slices.Contains(form.Sounds, s.Codec):
		takes("with sound in "+labels(form.Sounds), "has "+s.Codec.Label())
	case form.LowComplexity && s.Codec == media.AAC && s.Profile != "" && s.Profile != "LC":
		takes("with sound in AAC-LC", "has "+s.Profile+"-AAC")
	case form.MaxChannels > 0 && s.Channels > form.MaxChannels:
		takes(fmt.Sprintf("with sound of up to %d channels", form.MaxChannels), fmt.Sprintf("has %d", s.Channels))
	case form.MaxSampleRate > 0 && s.Rate > form.MaxSampleRate:
		takes(fmt.Sprintf("with sound of up to %d Hz", form.MaxSampleRate), fmt.Sprintf("has %d", s.Rate))
	}
}

func profile(name string) string {
	if name == "" {
		return ""
	}
	return ", the profile " + name
}

func labels(all []media.Codec) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Label()
	}
	return strings.Join(names, " or ")
}

// Recut returns a problem for each video of a post whose edit list the platform does not follow. It may take such a
// post, and show what was cut off, or the sound at another time.
func Recut(name string, p Post, c Capabilities) []Problem {
	f := &fitting{platform: name, label: c.Label}
	for i, m := range p.Media {
		if limit := c.Kinds[p.Kind].Video; m.Video() && limit != nil && limit.Form.Uncut && m.Movie.Edited {
			f.add(fmt.Sprintf("media[%d]", i), "%s takes videos without an edit list, and that of media[%d] leaves out "+
				"or moves a part: it may be shown, or be heard at another time. Send fit, which makes a video without "+
				"one.", f.label, i)
		}
	}
	return f.problems
}
