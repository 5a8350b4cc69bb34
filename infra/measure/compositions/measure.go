package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// kind is a kind of media that is measured.
type kind struct {
	name string
	work compose.Work
	// most is the greatest CPU time relative to that of the handwritten command.
	most float64
	// hand returns the handwritten command for the same result. It may be nil.
	hand func(s *bench) (ffmpeg.Job, error)
}

var texts = []string{"Our shoe is made of nets that were lost at sea.",
	"Divers pull them out, wash them and spin them into yarn.", "It lasts for a thousand miles.", "Try it today!"}

// video returns a description with the texts.
func (s *bench) video(f compose.Format, q compose.Quality, see func(i int) compose.Scene) compose.Video {
	v := compose.Video{
		Format: f, Quality: q, Fade: q == compose.Full, Captions: true, Language: "en",
		Narration: s.voice, Music: s.track, Brand: s.brand("Acme"),
	}
	for i, text := range texts {
		scene := see(i)
		scene.Text = text
		v.Scenes = append(v.Scenes, scene)
	}
	return v
}

// kinds returns the kinds to measure.
func (s *bench) kinds() ([]kind, error) {
	stills := func(pictures []string) func(int) compose.Scene {
		return func(i int) compose.Scene { return compose.Scene{Picture: pictures[i%len(pictures)]} }
	}
	clips, err := s.clips()
	if err != nil {
		return nil, err
	}
	clip := func(i int) compose.Scene { return compose.Scene{Clip: clips[i]} }
	short, filmed, long := s.video(compose.Portrait, compose.Full, stills(s.tall)),
		s.video(compose.Portrait, compose.Full, clip), s.video(compose.Landscape, compose.Full, stills(s.wide))
	draft := s.video(compose.Portrait, compose.Draft, stills(s.tall))
	music := compose.MusicClip{Track: s.track, Cover: s.cover, Length: song, Title: "Sea song", Language: "en",
		Quality: compose.Full, Brand: s.brand("Acme")}
	slides := []compose.Slide{{Path: s.tall[0], Heading: "Five things that nobody tells you about nets"},
		{Path: s.tall[1], Heading: "They are heavy"}, {Path: s.tall[2], Heading: "They drift for years"},
		{Path: s.tall[3], Heading: "They can be yarn"}, {Path: s.cover, Heading: "Follow us"}}
	carousel := compose.Carousel{Language: "en", Brand: s.brand("Acme"), Slides: slides}
	told := compose.Video{Format: compose.Portrait, Quality: compose.Full, Language: "en", Brand: s.brand("Acme"),
		Scenes: []compose.Scene{{Clip: clips[0], OnScreen: "New today", Length: 5 * time.Second}}}
	return []kind{
		{"short video of stills", short, 1, func(s *bench) (ffmpeg.Job, error) { return s.handVideo(short) }},
		{"short video of clips", filmed, 1, func(s *bench) (ffmpeg.Job, error) { return s.handVideo(filmed) }},
		{"long video of stills", long, 1, func(s *bench) (ffmpeg.Job, error) { return s.handVideo(long) }},
		{"music clip", music, 1, func(s *bench) (ffmpeg.Job, error) { return s.handMusic(music) }},
		{"short video, draft", draft, 0, nil},
		{"carousel of 5", carousel, maxCarousel, func(s *bench) (ffmpeg.Job, error) {
			return s.handPictures(slides, 1350)
		}},
		{"story", compose.Picture{Use: compose.Story, Path: s.tall[0], Text: "New today", Language: "en",
			Brand: s.brand("Acme")}, maxPicture, func(s *bench) (ffmpeg.Job, error) {
			return s.handPictures([]compose.Slide{{Path: s.tall[0], Heading: "New today"}}, 1920)
		}},
		{"story of a clip", told, maxStory, func(s *bench) (ffmpeg.Job, error) { return s.handStory(told) }},
	}, nil
}

// clips makes a clip for each scene: a moving still.
func (s *bench) clips() (all []string, err error) {
	for i, picture := range s.tall {
		res, err := s.compose(fmt.Sprintf("clip%d", i), compose.Video{
			Format: compose.Portrait, Quality: compose.Full,
			Scenes: []compose.Scene{{Picture: picture, Length: 6 * time.Second}},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, res.Files[0].Path)
	}
	return all, nil
}

// usage is the resources that a composition has used.
type usage struct {
	cpu, wall time.Duration
	peak      int64
	runs      int // of ffmpeg
}

// runs is the number of times that each composition is measured. The least usage counts, since other processes can only
// add to it.
const runs = 3

// The bounds: of the CPU time relative to the handwritten command, where it may be more, and of the memory. The command
// neither looks for what a picture has to see nor lays out its text, and makes no poster.
const (
	maxStory    = 1.2
	maxCarousel = 2.5
	maxPicture  = 4.0
	maxPeak     = 1500 << 20
)

// timed measures the usage of a composition, by ffmpeg and by this process.
func timed(do func() (ffmpeg.Usage, error)) (least usage, err error) {
	for i := range runs {
		before, start := ownCPU(), time.Now()
		u, err := do()
		if err != nil {
			return usage{}, err
		}
		one := usage{u.CPU + ownCPU() - before, time.Since(start), u.Peak, u.Runs}
		if i == 0 {
			least = one
		}
		least = usage{min(least.cpu, one.cpu), min(least.wall, one.wall), max(least.peak, one.peak), u.Runs}
	}
	return least, nil
}

func ownCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// The price of AWS Lambda for arm64 in us-east-1, and the memory per processor.
const (
	dollarsPerGBSecond = 0.0000133334
	gbPerProcessor     = 1.769
)

// measure measures all kinds, or those whose names contain a word, and prints the table.
func (s *bench) measure(only string) error {
	kinds, err := s.kinds()
	if err != nil {
		return err
	}
	fmt.Printf("%d processors (%s/%s), %d threads of ffmpeg\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		s.settings.Threads)
	fmt.Print("| Kind | Plays, s | CPU, s | CPU per second | By hand | Ratio | Runs | Peak memory, MB | Takes, s | " +
		"Lambda, $ per minute |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for i, k := range kinds {
		if !strings.Contains(k.name, only) {
			continue
		}
		row, err := s.row(i, k)
		fmt.Print(row)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

func (s *bench) row(i int, k kind) (string, error) {
	var res compose.Result
	own, err := timed(func() (u ffmpeg.Usage, err error) {
		res, err = s.compose(fmt.Sprintf("kind%d", i), k.work)
		return res.Usage, err
	})
	if err != nil {
		return "", err
	}
	plays := 0.0
	for _, f := range res.Files {
		if f.Role == media.Final {
			plays += f.Duration.Seconds()
		}
	}
	hand, times := "", ""
	var broken error
	if own.peak > maxPeak {
		broken = fmt.Errorf("ffmpeg takes %d MB, more than %d", own.peak>>20, maxPeak>>20)
	}
	if k.hand != nil {
		other, err := s.byHand(k)
		if err != nil {
			return "", err
		}
		ratio := own.cpu.Seconds() / other.cpu.Seconds()
		if ratio > k.most {
			broken = fmt.Errorf("it takes %.2f times the CPU of the command written by hand, more than %.2f", ratio,
				k.most)
		}
		hand, times = fmt.Sprintf("%.2f", other.cpu.Seconds()/max(plays, 1)), fmt.Sprintf("%.2f", ratio)
	}
	if plays == 0 { // pictures
		return fmt.Sprintf("| %s | | %.2f | | %s | %s | %d | %d | %.1f | |\n", k.name, own.cpu.Seconds(), hand, times,
			own.runs, own.peak>>20, own.wall.Seconds()), broken
	}
	per := own.cpu.Seconds() / plays
	return fmt.Sprintf("| %s | %.1f | %.1f | %.2f | %s | %s | %d | %d | %.1f | %.4f |\n", k.name, plays,
		own.cpu.Seconds(), per, hand, times, own.runs, own.peak>>20, own.wall.Seconds(),
		per*60*gbPerProcessor*dollarsPerGBSecond), broken
}

// byHand measures the command for a kind.
func (s *bench) byHand(k kind) (usage, error) {
	job, err := k.hand(s)
	if err != nil {
		return usage{}, err
	}
	tool, err := filepath.Abs(s.settings.FFmpeg)
	if err != nil {
		return usage{}, err
	}
	return timed(func() (ffmpeg.Usage, error) {
		report, err := ffmpeg.Tool{Path: tool, Threads: s.settings.Threads}.Run(s.ctx, job)
		return report.Usage, err
	})
}

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
	return drawn(dir, "hand", script)
}

// drawn writes a script into a folder, and returns its filter.
func drawn(dir, name string, script *text.Script) (string, error) {
	if err := ffmpeg.LinkAll(filepath.Join(dir, "fonts"), script.Fonts()); err != nil {
		return "", err
	}
	name += ".ass"
	return "ass=filename=" + name + ":fontsdir=fonts", os.WriteFile(filepath.Join(dir, name), []byte(script.String()),
		0o600)
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

// handStory returns the command for a clip with a text and the logo, and silence.
func (s *bench) handStory(v compose.Video) (ffmpeg.Job, error) {
	scene := v.Scenes[0]
	job := ffmpeg.Job{Dir: filepath.Join(s.dir, "hand"), Inputs: []ffmpeg.Input{{Path: scene.Clip, Format: "mov"},
		{Path: s.logo, Format: "png_pipe"}}}
	captions, err := s.captions(job.Dir, 1080, 1920, 700, scene.Length)
	if err != nil {
		return job, err
	}
	seconds := fmt.Sprintf("%.3f", scene.Length.Seconds())
	job.Filter = "[1:v]scale=220:-1[logo];[0:v]scale=1080:1920:force_original_aspect_ratio=increase,crop=1080:1920,fps=30[v];" +
		"[v][logo]overlay=70:280," + captions + "[o];anullsrc=r=48000:cl=stereo,atrim=end=" + seconds + "[a]"
	job.Output = append(append([]string{"-map", "[o]", "-map", "[a]", "-t", seconds}, handEncoder...), "hand.mp4")
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

// handPictures returns the command for pictures with a text on a plate, and the logo.
func (s *bench) handPictures(slides []compose.Slide, height int) (ffmpeg.Job, error) {
	job := ffmpeg.Job{Dir: filepath.Join(s.dir, "pictures")}
	fonts, err := text.Open(s.settings.Fonts)
	if err != nil {
		return job, err
	}
	const width, edge = 1080, 64
	var g strings.Builder
	fmt.Fprintf(&g, "[%d:v]scale=220:-1,split=%d", len(slides), len(slides))
	for i := range slides {
		fmt.Fprintf(&g, "[logo%d]", i)
	}
	for i, slide := range slides {
		b, err := fonts.Fit(slide.Heading, "en", text.Box{Width: width - 4*edge, Height: 400, MaxEm: 104, MinEm: 48,
			MaxLines: 4})
		if err != nil {
			return job, err
		}
		script, bottom := text.NewScript(width, height), float64(height)-300
		script.Box(edge, bottom-b.Height-48, width-edge, bottom, 36, canvas.Black, 0.66, text.Always)
		script.Text(b, 2*edge, width-2*edge, bottom-b.Height-24, text.Start, canvas.White, text.Always)
		name := fmt.Sprintf("slide%d", i)
		draw, err := drawn(job.Dir, name, script)
		if err != nil {
			return job, err
		}
		job.Inputs = append(job.Inputs, ffmpeg.Input{Path: slide.Path, Format: "jpeg_pipe"})
		fmt.Fprintf(&g, ";[%d:v]scale=%d:%d:force_original_aspect_ratio=increase,crop=%d:%d[p%d];", i, width, height,
			width, height, i)
		fmt.Fprintf(&g, "[p%d][logo%d]overlay=%d:%d,%s,format=yuvj420p[o%d]", i, i, edge, edge, draw, i)
		job.Output = append(job.Output, "-map", fmt.Sprintf("[o%d]", i), "-frames:v", "1", "-q:v", "2", "-update", "1",
			"-f", "image2", name+".jpg")
	}
	job.Filter, job.Inputs = g.String(), append(job.Inputs, ffmpeg.Input{Path: s.logo, Format: "png_pipe"})
	return job, nil
}
