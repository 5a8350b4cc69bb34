package media

import (
	"cmp"
	"strings"
	"time"
)

// Movie describes what is seen and heard of a video. It is read once, when a file comes in, from the boxes of the file
// and, for what these do not say, from the headers of its codecs. Everything that shows, fits, checks or publishes the
// video uses it. The zero value describes a file that was stored before videos were described.
type Movie struct {
	Picture Picture `json:"picture"`
	Sound   Sound   `json:"sound,omitzero"`
	// Edited reports whether the edit list matters: without it, a reader shows more than half of a tenth of a second
	// that it should not, or in another order, or with the sound at another time. Lists that only skip what a codec
	// needs to begin do not count.
	Edited bool `json:"edited,omitempty"`
}

// Codec is the name of a codec, as people and ffmpeg write it.
type Codec string

// The codecs of pictures and sound that MP4 files have.
const (
	H264  Codec = "h264"
	HEVC  Codec = "hevc"
	AV1   Codec = "av1"
	VP8   Codec = "vp8"
	VP9   Codec = "vp9"
	MPEG4 Codec = "mpeg4"
	MPEG2 Codec = "mpeg2"
	MPEG1 Codec = "mpeg1"
	MJPEG Codec = "mjpeg"

	AAC  Codec = "aac"
	MP3  Codec = "mp3"
	AC3  Codec = "ac3"
	EAC3 Codec = "eac3"
	Opus Codec = "opus"
	FLAC Codec = "flac"
	ALAC Codec = "alac"
	AMR  Codec = "amr"
	PCM  Codec = "pcm"
)

// titles are the names of codecs that are not their capitals.
var titles = map[Codec]string{H264: "H.264", HEVC: "HEVC (H.265)", MPEG4: "MPEG-4 Visual", MPEG2: "MPEG-2",
	MPEG1: "MPEG-1", AC3: "AC-3", EAC3: "E-AC-3", Opus: "Opus"}

// Label returns the name by which people know the codec.
func (c Codec) Label() string { return cmp.Or(titles[c], strings.ToUpper(string(c))) }

// Picture describes the pictures of a video.
type Picture struct {
	// Track is the place of the track among those of pictures, from 0: a cover may come before it.
	Track int   `json:"track,omitempty"`
	Codec Codec `json:"codec,omitempty"`
	// Profile is the name of the codec's profile, such as "High 10", or empty if the file does not say it. Level is
	// that of the codec multiplied by ten, such as 41.
	Profile string `json:"profile,omitempty"`
	Level   int    `json:"level,omitempty"`
	// Chroma is the sampling of colors, such as "4:2:0", and Depth the number of bits of a sample.
	Chroma string `json:"chroma,omitempty"`
	Depth  int    `json:"depth,omitempty"`
	// Width and Height are those of the stored frames. They are shown mirrored (left and right are exchanged), and then
	// turned clockwise by so many quarters.
	Width    int  `json:"width,omitempty"`
	Height   int  `json:"height,omitempty"`
	Mirrored bool `json:"mirrored,omitempty"`
	Turn     int  `json:"turn,omitempty"`
	// Aspect is the width of a stored pixel divided by its height. 0 is 1.
	Aspect float64 `json:"aspect,omitempty"`
	Colors Colors  `json:"colors,omitzero"`
	// Start is the time of the first frame, and Rate the mean number of frames in a second.
	Start time.Duration `json:"start,omitempty"`
	Rate  float64       `json:"rate,omitempty"`
}

// Shown returns the size in which the pictures are seen: upright, and with square pixels.
func (p Picture) Shown() (width, height int) {
	width, height = p.Width, p.Height
	if p.Aspect > 0 {
		width = max(int(float64(width)*p.Aspect+0.5), 1)
	}
	if p.Turn%2 == 1 {
		width, height = height, width
	}
	return width, height
}

// Square reports whether the pixels are square.
func (p Picture) Square() bool { return p.Aspect == 0 || p.Aspect == 1 }

// Colors are the numbers of ITU-T H.273 that say which colors the samples mean.
type Colors struct {
	Primaries int `json:"primaries,omitempty"`
	Transfer  int `json:"transfer,omitempty"`
	Matrix    int `json:"matrix,omitempty"`
	// Full reports whether black is 0 and white the largest number, as in pictures.
	Full bool `json:"full,omitempty"`
}

// The numbers of H.273 that matter here.
const (
	ColorsBT709       = 1
	ColorsUnknown     = 2
	ColorsBT601       = 6
	ColorsBT2020      = 9
	PrimariesP3       = 12 // of telephones: Display P3
	PrimariesDCI      = 11
	TransferPQ        = 16 // SMPTE ST 2084
	TransferHLG       = 18 // ARIB STD-B67
	MatrixBT2020Const = 10
)

// HDR reports whether the pictures have a high dynamic range, and must be tone-mapped to be seen elsewhere.
func (c Colors) HDR() bool { return c.Transfer == TransferPQ || c.Transfer == TransferHLG }

// Wide reports whether the colors are outside of those that other screens show, or HDR.
func (c Colors) Wide() bool {
	return c.HDR() || c.Primaries == ColorsBT2020 || c.Primaries == PrimariesP3 || c.Primaries == PrimariesDCI
}

// Sound describes the sound of a video. Without a codec, there is none.
type Sound struct {
	Codec Codec `json:"codec,omitempty"`
	// Profile is that of AAC, such as "LC" or "HE".
	Profile  string `json:"profile,omitempty"`
	Rate     int    `json:"rate,omitempty"` // samples a second
	Channels int    `json:"channels,omitempty"`
	// Start is the time at which it begins.
	Start time.Duration `json:"start,omitempty"`
}
