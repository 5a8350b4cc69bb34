package compose

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// joined is the file that mux writes.
const joined = "final.mp4"

// mux joins an encoded picture with the sound. The index comes first, so that players can begin before they have the
// whole file. There is no edit list: Instagram refuses one.
func (r *run) mux(ctx context.Context, format, picture string) error {
	in := ffmpeg.Input{Path: r.path(picture), Format: format}
	if format == "concat" {
		in.Options = []string{"-safe", "0"}
	}
	_, err := r.ffmpeg(ctx, StageJoin, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{in, {Path: r.path(soundFile), Format: "aac"}},
		Output: []string{"-map", "0:v", "-map", "1:a", "-c", "copy", "-movflags", "+faststart+negative_cts_offsets",
			"-use_editlist", "0", "-map_metadata", "-1", "-f", "mp4", joined},
	})
	return err
}

// poster delivers a frame of a video as a picture.
func (r *run) poster(ctx context.Context, video string, at time.Duration, width, height int) error {
	const name = "poster.jpg"
	_, err := r.ffmpeg(ctx, StageJoin, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{{Path: video, Format: "mov",
			Options: []string{"-ss", fmt.Sprintf("%.3f", at.Seconds())}}},
		Output: []string{"-map", "0:v", "-frames:v", "1", "-vf", toJPEG, "-q:v", "2", "-update", "1", "-f", "image2",
			name},
	})
	if err != nil {
		return err
	}
	return r.deliver(name, File{Role: media.Poster, Type: media.Image, MIMEType: "image/jpeg", Width: width,
		Height: height})
}

// Frame returns the first frame of a video as a JPEG, which is at most as wide as a thumbnail. A failure is an *Error.
func (e *Engine) Frame(ctx context.Context, video string) ([]byte, error) {
	path, err := filepath.Abs(video)
	if err != nil {
		return nil, internal(StageInputs, err)
	}
	info, err := probeFile(path)
	if err != nil {
		return nil, unreadable(StageInputs, "", err)
	}
	in := input{Input: ffmpeg.Input{Path: path, Format: "mov", Options: upright}, width: info.Width,
		height: info.Height, movie: info.Movie}
	width := min(in.width, media.ThumbnailWidth)
	height := max(in.height*width/max(in.width, 1), 2)
	var out bytes.Buffer
	_, err = e.tool.Run(ctx, ffmpeg.Job{Dir: e.scratch, Stdout: &out, Inputs: []ffmpeg.Input{in.Input},
		Filter: in.pictures(0) + in.inside(width, height) + "," + toJPEG + "[out]",
		Output: []string{"-map", "[out]", "-frames:v", "1", "-q:v", "4", "-f", "mjpeg", "pipe:1"}})
	if err != nil {
		return nil, ofRun(StageInputs, "", err)
	}
	return out.Bytes(), nil
}

// encoder returns the options that encode a picture in a form that all platforms accept: H.264 High, with a key frame
// every two seconds, and no frame that refers beyond it.
//
// The frames of a draft are hardly analyzed: those of its stills have one quality, as nothing in them moves that could
// exceed the rate.
func encoder(q Quality, still bool, rate int) []string {
	preset, quality := "veryfast", []string{"-crf", "21"}
	switch {
	case q == Draft && still:
		preset, quality = "ultrafast", []string{"-qp", "24"}
	case q == Draft:
		preset, quality = "ultrafast", []string{"-crf", "25"}
	}
	fps := q.fps()
	options := []string{
		"-r", fmt.Sprint(fps), "-c:v", "libx264", "-preset", preset, quality[0], quality[1], "-profile:v", "high",
		"-level:v", "4.1", "-pix_fmt", "yuv420p", "-maxrate", fmt.Sprint(rate), "-bufsize", fmt.Sprint(rate),
		"-g", fmt.Sprint(2 * fps), "-keyint_min", fmt.Sprint(2 * fps), "-sc_threshold", "0", "-flags", "+cgop",
		"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
		"-video_track_timescale", "15360",
	}
	if q == Draft {
		// 8x8dct is the minimum of the profile High. Several threads would wait for each other more than they encode.
		options = append(options, "-x264-params", "8x8dct=1:psy=0:threads=1:lookahead-threads=1")
	}
	return options
}
