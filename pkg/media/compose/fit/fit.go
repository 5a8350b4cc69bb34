// Package fit has the limits of the platforms for media, and checks files against them.
package fit

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"time"
)

// Platform is a platform on which content is published.
type Platform string

// The platforms.
const (
	Instagram Platform = "instagram"
	TikTok    Platform = "tiktok"
	YouTube   Platform = "youtube"
	Telegram  Platform = "telegram"
	VK        Platform = "vk"
	Rutube    Platform = "rutube"
)

// Platforms lists them.
var Platforms = []Platform{Instagram, TikTok, YouTube, Telegram, VK, Rutube}

// The parts of a video that no platform covers with its own buttons and texts: inside the greatest margins of TikTok,
// Reels, Shorts and clips of VK.
var (
	SafePortrait  = image.Rect(70, 250, 1080-130, 1920-430)
	SafeLandscape = image.Rect(96, 54, 1920-96, 1080-64)
)

// Video has a platform's limits for a video.
type Video struct {
	Codecs, Audio      []string
	MinWidth, MaxWidth int // of the shorter side, and of either
	MinRatio, MaxRatio float64
	MinFPS, MaxFPS     float64
	Min, Max           time.Duration
	MaxBytes           int64
	MaxRate            int64 // bits a second of the picture; 0: no limit is known
	MaxSample          int   // Hz of the sound
	// NoEditList reports that the file must not have an edit list.
	NoEditList bool
}

// Picture has a platform's limits for a picture.
type Picture struct {
	Codecs             []string
	MinRatio, MaxRatio float64 // width : height
	MaxBytes           int64
	MinWidth, MaxSide  int
	// MaxSum bounds the sum of width and height. 0 means no bound.
	MaxSum int
}

// Limits are the limits of one platform. Unsupported kinds are nil.
type Limits struct {
	Short *Video // portrait
	Long  *Video // landscape
	Story *Video // a clip that is seen for a day
	Image *Picture
	Card  *Picture // a story that is a picture
}

const (
	mb  = 1_000_000
	mib = 1 << 20
	gb  = 1000 * mb
)

var (
	h264 = []string{"h264"}
	aac  = []string{"aac"}
	jpeg = []string{"mjpeg"}
)

// Table has the limits of all platforms, according to their developer documents. VK and Rutube document little, so
// their limits are cautious.
var Table = map[Platform]Limits{
	Instagram: {
		Short: &Video{h264, aac, 360, 1920, 0.01, 10, 23, 60, 3 * time.Second, 15 * time.Minute, 300 * mb, 25 * mb,
			48_000, true},
		Long: &Video{h264, aac, 360, 1920, 0.01, 10, 23, 60, 3 * time.Second, 15 * time.Minute, 300 * mb, 25 * mb,
			48_000, true},
		Story: &Video{h264, aac, 360, 1920, 0.1, 10, 23, 60, 3 * time.Second, time.Minute, 100 * mb, 25 * mb,
			48_000, true},
		Image: &Picture{jpeg, 0.8, 1.91, 8 * mib, 320, 1440 * 2, 0},
		Card:  &Picture{jpeg, 0.5, 1.91, 8 * mib, 320, 1920, 0},
	},
	TikTok: {
		Short: &Video{h264, aac, 360, 4096, 0.1, 10, 23, 60, 3 * time.Second, 10 * time.Minute, 4 * gb, 0,
			48_000, false},
		Long: &Video{h264, aac, 360, 4096, 0.1, 10, 23, 60, 3 * time.Second, 10 * time.Minute, 4 * gb, 0,
			48_000, false},
		Image: &Picture{jpeg, 0.1, 10, 20 * mb, 360, 1920, 0},
	},
	YouTube: {
		Short: &Video{h264, aac, 240, 3840, 0.4, 1, 23, 60, time.Second, 3 * time.Minute, 256 * gb, 0, 48_000, false},
		Long:  &Video{h264, aac, 240, 3840, 1, 2.4, 23, 60, time.Second, 12 * time.Hour, 256 * gb, 0, 48_000, false},
	},
	Telegram: {
		Short: &Video{h264, aac, 90, 3840, 0.05, 20, 1, 60, 0, time.Hour, 50 * mb, 0, 48_000, false},
		Long:  &Video{h264, aac, 90, 3840, 0.05, 20, 1, 60, 0, time.Hour, 50 * mb, 0, 48_000, false},
		Image: &Picture{jpeg, 0.05, 20, 5 * mb, 1, 10_000, 10_000},
	},
	VK: {
		Short: &Video{h264, aac, 240, 3840, 0.4, 1, 1, 60, 2 * time.Second, 3 * time.Minute, 2 * gb, 0, 48_000, false},
		Long:  &Video{h264, aac, 240, 3840, 0.4, 2.4, 1, 60, time.Second, 12 * time.Hour, 2 * gb, 0, 48_000, false},
		Image: &Picture{jpeg, 0.05, 20, 50 * mb, 1, 14_000, 14_000},
	},
	Rutube: {
		Short: &Video{h264, aac, 240, 3840, 0.4, 1, 23, 60, time.Second, 3 * time.Minute, 10 * gb, 0, 48_000, false},
		Long:  &Video{h264, aac, 240, 3840, 1, 2.4, 23, 60, time.Second, 5 * time.Hour, 10 * gb, 0, 48_000, false},
	},
}

// Facts are the properties of a file.
type Facts struct {
	Width, Height    int
	Bytes            int64
	Codec, Pixels    string // of the picture
	FPS              float64
	Length           time.Duration
	Rate             int64 // bits a second of the picture
	Audio            string
	Sample, Channels int
	Faststart        bool // the index precedes the content
	EditList         bool
	Loudness, Peak   float64 // LUFS, dBTP
}

// faults collects violations of limits.
type faults []string

func (f *faults) unless(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

// Check returns the reasons for which the platform would refuse a video, or none.
func (v Video) Check(f Facts) []string {
	var bad faults
	short, long := min(f.Width, f.Height), max(f.Width, f.Height)
	ratio := float64(f.Width) / float64(max(f.Height, 1))
	bad.unless(slices.Contains(v.Codecs, f.Codec), "the codec %s is none of %s", f.Codec, strings.Join(v.Codecs, ", "))
	bad.unless(f.Pixels == "yuv420p", "the pixel format is %s, not yuv420p", f.Pixels)
	bad.unless(slices.Contains(v.Audio, f.Audio), "the sound is %q, none of %s", f.Audio, strings.Join(v.Audio, ", "))
	bad.unless(short >= v.MinWidth && long <= v.MaxWidth, "%d x %d pixels are not between %d and %d", f.Width, f.Height,
		v.MinWidth, v.MaxWidth)
	bad.unless(ratio >= v.MinRatio && ratio <= v.MaxRatio, "the ratio %.3f is not between %.2f and %.2f", ratio,
		v.MinRatio, v.MaxRatio)
	bad.unless(f.FPS >= v.MinFPS && f.FPS <= v.MaxFPS, "%.2f frames a second are not between %.0f and %.0f", f.FPS,
		v.MinFPS, v.MaxFPS)
	bad.unless(f.Length >= v.Min && f.Length <= v.Max, "it plays %v, not from %v to %v", f.Length, v.Min, v.Max)
	bad.unless(f.Bytes <= v.MaxBytes, "%d bytes are more than %d", f.Bytes, v.MaxBytes)
	bad.unless(v.MaxRate == 0 || f.Rate <= v.MaxRate, "%d bits a second are more than %d", f.Rate, v.MaxRate)
	bad.unless(f.Sample <= v.MaxSample && f.Channels <= 2, "the sound has %d Hz and %d channels", f.Sample, f.Channels)
	bad.unless(f.Faststart, "players need the whole file before they can begin")
	bad.unless(!v.NoEditList || !f.EditList, "the file has an edit list")
	return bad
}

// Check returns the reasons for which the platform would refuse a picture, or none.
func (p Picture) Check(f Facts) []string {
	var bad faults
	ratio := float64(f.Width) / float64(max(f.Height, 1))
	bad.unless(slices.Contains(p.Codecs, f.Codec), "the codec %s is none of %s", f.Codec, strings.Join(p.Codecs, ", "))
	bad.unless(ratio >= p.MinRatio-0.001 && ratio <= p.MaxRatio+0.001, "the ratio %.3f is not between %.2f and %.2f",
		ratio, p.MinRatio, p.MaxRatio)
	bad.unless(f.Width >= p.MinWidth && max(f.Width, f.Height) <= p.MaxSide, "%d x %d pixels are not between %d and %d",
		f.Width, f.Height, p.MinWidth, p.MaxSide)
	bad.unless(p.MaxSum == 0 || f.Width+f.Height <= p.MaxSum, "%d x %d pixels are more than %d together", f.Width,
		f.Height, p.MaxSum)
	bad.unless(f.Bytes <= p.MaxBytes, "%d bytes are more than %d", f.Bytes, p.MaxBytes)
	return bad
}
