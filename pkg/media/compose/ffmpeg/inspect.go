package ffmpeg

import (
	"bufio"
	"context"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Streams describes the streams of a file.
type Streams struct {
	// VideoCodec and AudioCodec are empty if there is no such stream.
	VideoCodec, AudioCodec string
	PixelFormat            string
	Width, Height          int
	FPS                    float64
}

var (
	videoStream = regexp.MustCompile(`Stream #\d+:\d+[^:]*: Video: (\w+)[^,]*, (\w+)[^\n]*?, (\d+)x(\d+)[^\n]*`)
	audioStream = regexp.MustCompile(
		`Stream #\d+:\d+[^:]*: Audio: (\w+)`)
	frameRate = regexp.MustCompile(`([\d.]+) fps`)
)

// Inspect reads the headers of a file. It decodes nothing.
func (t Tool) Inspect(ctx context.Context, in Input) (Streams, Usage, error) {
	// Copying no frame succeeds if the headers can be read.
	report, err := t.Run(ctx, Job{Inputs: []Input{in}, Output: []string{"-map", "0", "-c", "copy", "-t", "0", "-f",
		"null", "-"}})
	if err != nil {
		return Streams{}, report.Usage, err
	}
	return streamsOf(report.Log), report.Usage, nil
}

// streamsOf reads the description of the first input.
func streamsOf(log string) (s Streams) {
	log, _, _ = strings.Cut(log, "Output #0")
	if m := videoStream.FindStringSubmatch(log); m != nil {
		s.VideoCodec, s.PixelFormat = m[1], m[2]
		s.Width, _ = strconv.Atoi(m[3])
		s.Height, _ = strconv.Atoi(m[4])
		if fps := frameRate.FindStringSubmatch(m[0]); fps != nil {
			s.FPS, _ = strconv.ParseFloat(fps[1], 64)
		}
	}
	if m := audioStream.FindStringSubmatch(log); m != nil {
		s.AudioCodec = m[1]
	}
	return s
}

// Loudness is the result of the measuring filter ebur128 (EBU R 128).
type Loudness struct {
	// Integrated is in LUFS. Silence has Silent or less.
	Integrated float64
	// Peak is the true peak, in dBTP.
	Peak float64
}

// Silent is the loudness of silence, in LUFS.
const Silent = -69.9

var (
	integrated = regexp.MustCompile(`I:\s+(-?[\d.]+|-?inf|nan) LUFS`)
	truePeak   = regexp.MustCompile(
		`Peak:\s+(-?[\d.]+|-?inf|nan) dBFS`)
)

// LoudnessOf reads the summary of ebur128=peak=true from a log, and reports whether there is one.
func LoudnessOf(log string) (Loudness, bool) {
	at := strings.LastIndex(log, "Summary:")
	if at < 0 {
		return Loudness{}, false
	}
	i, p := integrated.FindStringSubmatch(log[at:]), truePeak.FindStringSubmatch(log[at:])
	if i == nil || p == nil {
		return Loudness{}, false
	}
	return Loudness{Integrated: decibels(i[1]), Peak: decibels(p[1])}, true
}

func decibels(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != v || v < -200 {
		return -200
	}
	return v
}

// lines yields the lines of a text.
func lines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(r); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}
