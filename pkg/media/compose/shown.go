package compose

import (
	"fmt"
	"math"

	"github.com/content-automation/api/pkg/media"
)

// The filters below draw the pictures of a clip as its description says that they are seen: upright, with square pixels
// and in the colors of BT.709. ffmpeg guesses what a file leaves unsaid, and turns a picture before it is scaled.

// upright are the options of an input whose pictures these filters turn.
var upright = []string{"-noautorotate"}

// pictures returns the link of the pictures of the n-th input.
func (in input) pictures(n int) string { return fmt.Sprintf("[%d:v:%d]", n, in.movie.Picture.Track) }

// covering returns the filters that scale a clip so that it covers a size, and crop the rest.
func (in input) covering(width, height int) string {
	by := math.Max(float64(width)/float64(in.width), float64(height)/float64(in.height))
	w, h := max(even(float64(in.width)*by), width), max(even(float64(in.height)*by), height)
	return in.scaled(w, h) + fmt.Sprintf("crop=%d:%d,", width, height) + in.toned() + "setsar=1,format=yuv420p"
}

// inside returns the filters that scale a clip into a size.
func (in input) inside(width, height int) string {
	by := math.Min(float64(width)/float64(in.width), float64(height)/float64(in.height))
	w, h := even(float64(in.width)*by), even(float64(in.height)*by)
	return in.scaled(min(w, max(width&^1, 2)), min(h, max(height&^1, 2))) + in.toned() + "setsar=1,format=yuv420p"
}

// even returns the nearest even number of pixels.
func even(n float64) int { return max(2*int(math.Round(n/2)), 2) }

// scaled returns the filters that scale and turn a clip to a size in which it is seen.
func (in input) scaled(width, height int) string {
	p := in.movie.Picture
	if p.Turn%2 == 1 {
		width, height = height, width
	}
	c, to := p.Colors, "bt709"
	if c.Wide() {
		to = matrix(c)
	}
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic:in_color_matrix=%s:in_range=%s:out_color_matrix=%s:out_range=tv,",
		width, height, matrix(c), extent(c), to)
	if c.Wide() {
		scale += "format=yuv420p10le,"
	}
	if p.Mirrored {
		scale += "hflip,"
	}
	return scale + []string{"", "transpose=clock,", "hflip,vflip,", "transpose=cclock,"}[p.Turn&3]
}

// matrix returns ffmpeg's name of the matrix of colors.
func matrix(c media.Colors) string {
	switch c.Matrix {
	case 4:
		return "fcc"
	case 5, media.ColorsBT601:
		return "bt601"
	case 7:
		return "smpte240m"
	case media.ColorsBT2020, media.MatrixBT2020Const:
		return "bt2020"
	}
	return "bt709"
}

// extent returns ffmpeg's name of the range of samples.
func extent(c media.Colors) string {
	if c.Full {
		return "pc"
	}
	return "tv"
}

// white is the luminance of white in HDR, in cd/m² (ITU-R BT.2408), and peak that of its brightest lights.
const (
	white = 203
	peak  = 1000
)

// toned returns the filters that bring the colors of HDR, and others that screens of BT.709 do not have, to BT.709.
// Lights up to 0.6 of white keep their luminance, and those above it are compressed, so that nothing clips.
func (in input) toned() string {
	c := in.movie.Picture.Colors
	if !c.Wide() {
		return ""
	}
	from := fmt.Sprintf("zscale=tin=%s:pin=%s:min=%s:rin=limited", transfer(c), primaries(c), zMatrix(c))
	const to = "t=709:m=709:p=709:r=limited"
	if !c.HDR() {
		return from + ":" + to + ","
	}
	return fmt.Sprintf("%s:t=linear:npl=%d,format=gbrpf32le,zscale=p=709,tonemap=mobius:param=0.6:desat=0:peak=%.3f,"+
		"zscale=%s,", from, white, float64(peak)/white, to)
}

// transfer, primaries and zMatrix return the names that zscale has for the colors.
func transfer(c media.Colors) string {
	switch c.Transfer {
	case media.TransferPQ:
		return "smpte2084"
	case media.TransferHLG:
		return "arib-std-b67"
	case 13:
		return "iec61966-2-1"
	}
	return "709"
}

func primaries(c media.Colors) string {
	switch c.Primaries {
	case media.ColorsBT2020:
		return "2020"
	case media.PrimariesP3:
		return "smpte432"
	case media.PrimariesDCI:
		return "smpte431"
	}
	return "709"
}

func zMatrix(c media.Colors) string {
	switch matrix(c) {
	case "bt2020":
		return "2020_ncl"
	case "bt601":
		return "170m"
	}
	return "709"
}

// The conversions of frames that are in BT.709: to RGB, and to the colors of a JPEG, which readers take to be in
// BT.601. Between the two, ffmpeg would convert the range alone.
const (
	toRGB  = "scale=in_color_matrix=bt709:in_range=tv,format=rgb24"
	toJPEG = toRGB + ",scale=out_color_matrix=bt601:out_range=full,format=yuvj420p"
)

// timed brings the times of a clip to frames. A clip whose pictures begin later than its sound begins with its first
// frame.
func timed(fps int) string { return fmt.Sprintf("fps=fps=%d:start_time=0", fps) }

// whole returns the filters that show a clip without cropping it, over its blurred copy. The copy is not darkened, so
// that a plain ground goes on around the clip. n is the number of the input, which names the links.
func (in input) whole(n, width, height int) string {
	if off := in.width*height - in.height*width; max(off, -off) <= 2*max(width, height) {
		return in.covering(width, height)
	}
	const coarse = 16
	back := [2]int{max(width/coarse&^1, 2), max(height/coarse&^1, 2)}
	return fmt.Sprintf("%[2]s,split[back%[1]d][front%[1]d];"+
		"[back%[1]d]scale=%[3]d:%[4]d:force_original_aspect_ratio=increase:flags=bicubic,crop=%[3]d:%[4]d,"+
		"gblur=sigma=4,scale=%[5]d:%[6]d:flags=bicubic[ground%[1]d];"+
		"[ground%[1]d][front%[1]d]overlay=x=(W-w)/2:y=(H-h)/2:format=yuv420",
		n, in.inside(width, height), back[0], back[1], width, height)
}
