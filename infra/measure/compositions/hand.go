package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// A command as one would write it by hand, with filters that are known to work, for a result like that of the engine.
// It is not checked, and cannot be joined from parts.
var handEncoder = []string{
	"-c:v", "libx264", "-preset", "veryfast", "-crf", "21", "-profile:v", "high", "-pix_fmt", "yuv420p", "-maxrate",
	"6M", "-bufsize", "6M", "-g", "60", "-flags", "+cgop",
	"-c:a", "aac", "-b:a", "160k", "-ar", "48000", "-movflags", "+faststart", "-f", "mp4",
}

// captions writes captions that change every two seconds, and returns their filter.
func (s *bench) captions(dir string, width, height, bottom int, length time.Duration) (string, error) {
	fonts, err := text.Open(s.settings.Fonts)
	if err != nil {
		return "", err
	}
	script := text.NewScript(width, height)
	for at := time.Duration(0); at < length; at += 2 * time.Second {
		b, err := fonts.Fit("Divers pull them out and wash them.", "en", text.Box{Width: 820, Height: 200, MaxEm: 62,
			MinEm: 62, MaxLines: 2})
		if err != nil {
			return "", err
		}
		when, middle, top := text.Span{From: at, To: at + 2*time.Second}, float64(width)/2, float64(bottom)-b.Height
		script.Box(middle-b.Width/2-24, top-12, middle+b.Width/2+24, float64(bottom)+12, 18, canvas.Black, 0.66, when)
		script.Text(b, 0, float64(width), top, text.Center, canvas.White, when)
	}
	if err := ffmpeg.LinkAll(filepath.Join(dir, "fonts"), script.Fonts()); err != nil {
		return "", err
	}
	return "ass=filename=hand.ass:fontsdir=fonts", os.WriteFile(filepath.Join(dir, "hand.ass"),
		[]byte(script.String()), 0o600)
}

// handVideo returns the command for a video.
func (s *bench) handVideo(v compose.Video) (ffmpeg.Job, error) {
	width, height, bottom := 1080, 1920, 1490
	if v.Format == compose.Landscape {
		width, height, bottom = 1920, 1080, 1016
	}
	total, n := spoken+time.Second, len(v.Scenes)
	const fade = 12
	each := (timeline.Frames(total) + fade*(n-1)) / n
	job := ffmpeg.Job{Dir: filepath.Join(s.dir, "hand")}
	var g strings.Builder
	for i, scene := range v.Scenes {
		in := ffmpeg.Input{Path: scene.Picture, Format: "jpeg_pipe"}
		// Twice the size makes the motion shake less.
		prepare := fmt.Sprintf("scale=%d:%d:force_original_aspect_ratio=increase:out_color_matrix=bt709:out_range=tv,crop=%d:%d,format=yuv420p,zoompan=z='1+0.12*on/%d':x='(iw-iw/zoom)/2':y='(ih-ih/zoom)/2':d=%d:s=%dx%d:fps=30",
			2*width, 2*height, 2*width, 2*height, each, each, width, height)
		if scene.Clip != "" {
			in = ffmpeg.Input{Path: scene.Clip, Format: "mov"}
			prepare = fmt.Sprintf("scale=%d:%d:force_original_aspect_ratio=increase,crop=%d:%d,fps=30,trim=end_frame=%d", width, height, width, height, each)
		}
		job.Inputs = append(job.Inputs, in)
		fmt.Fprintf(&g, "[%d:v]%s,setsar=1,settb=1/30,fps=30[s%d];", i, prepare, i)
	}
	last := "s0"
	for i := 1; i < n; i++ {
		fmt.Fprintf(&g, "[%s][s%d]xfade=transition=fade:duration=%.6f:offset=%.6f[x%d];", last, i, float64(fade)/30,
			float64(i*(each-fade))/30, i)
		last = fmt.Sprintf("x%d", i)
	}
	job.Inputs = append(job.Inputs, ffmpeg.Input{Path: s.logo, Format: "png_pipe"},
		ffmpeg.Input{Path: v.Narration, Format: "wav"}, ffmpeg.Input{Path: v.Music, Format: "wav",
			Options: []string{"-stream_loop", "-1"}})
	if err := os.MkdirAll(job.Dir, 0o700); err != nil {
		return job, err
	}
	captions, err := s.captions(job.Dir, width, height, bottom, total)
	if err != nil {
		return job, err
	}
	const stereo = "aresample=48000,aformat=channel_layouts=stereo"
	fmt.Fprintf(&g, "[%d:v]scale=220:-1[logo];[%s][logo]overlay=70:250[o];[o]%s[v];", n, last, captions)
	fmt.Fprintf(&g, "[%d:a]%s,adelay=300:all=1,apad,atrim=end=%.3f,asplit[voice][key];[%d:a]%s,volume=0.2,atrim=end=%.3f[bed];[bed][key]sidechaincompress=threshold=0.02:ratio=6[ducked];"+
		"[voice][ducked]amix=inputs=2:normalize=0:duration=first,loudnorm=I=-14:TP=-1.5:LRA=11[a]", n+1, stereo,
		total.Seconds(), n+2, stereo, total.Seconds())
	job.Filter = g.String()
	job.Output = append(append([]string{"-map", "[v]", "-map", "[a]", "-t", fmt.Sprintf("%.3f", total.Seconds())},
		handEncoder...), "hand.mp4")
	return job, nil
}

// handMusic returns the command for a music clip.
func (s *bench) handMusic(m compose.MusicClip) (ffmpeg.Job, error) {
	job := ffmpeg.Job{Dir: filepath.Join(s.dir, "hand"),
		Inputs: []ffmpeg.Input{{Path: m.Cover, Format: "jpeg_pipe", Options: []string{"-framerate", "30"}},
			{Path: m.Track, Format: "wav"}}}
	captions, err := s.captions(job.Dir, 1080, 1920, 1470, m.Length)
	if err != nil {
		return job, err
	}
	job.Filter = "[0:v]split[a][b];[a]scale=1080:1920:force_original_aspect_ratio=increase,crop=1080:1920,gblur=sigma=40[back];[b]scale=780:780[front];" +
		"[back][front]overlay=150:300,format=yuv420p,loop=loop=-1:size=1:start=0,setpts=N/(30*TB),fps=30[still];" +
		"[1:a]asplit[w][s];[w]volume=9dB,showwaves=s=130x140:mode=cline:draw=full:scale=sqrt:rate=30:colors=white,scale=780:140:flags=neighbor,format=yuva420p[wave];[still][wave]overlay=150:1130," + captions + "[v];[s]loudnorm=I=-14:TP=-1.5:LRA=11[a2]"
	job.Output = append(append([]string{"-map", "[v]", "-map", "[a2]", "-t", fmt.Sprintf("%.3f", m.Length.Seconds())},
		handEncoder...), "hand.mp4")
	return job, nil
}
