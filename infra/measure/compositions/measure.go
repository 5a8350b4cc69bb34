package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// kind is a kind of media that is measured.
type kind struct {
	name string
	work compose.Work
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
	return []kind{
		{"short video of stills", short, func(s *bench) (ffmpeg.Job, error) { return s.handVideo(short) }},
		{"short video of clips", filmed, func(s *bench) (ffmpeg.Job, error) { return s.handVideo(filmed) }},
		{"long video of stills", long, func(s *bench) (ffmpeg.Job, error) { return s.handVideo(long) }},
		{"music clip", music, func(s *bench) (ffmpeg.Job, error) { return s.handMusic(music) }},
		{"short video, draft", draft, nil},
		{"carousel of 5", compose.Carousel{Language: "en", Brand: s.brand("Acme"), Slides: []compose.Slide{
			{Path: s.tall[0], Heading: "Five things that nobody tells you about nets"},
			{Path: s.tall[1], Heading: "They are heavy"}, {Path: s.tall[2], Heading: "They drift for years"},
			{Path: s.tall[3], Heading: "They can be yarn"}, {Path: s.cover, Heading: "Follow us"},
		}}, nil},
		{"story", compose.Picture{Use: compose.Story, Path: s.tall[0], Text: "New today", Language: "en",
			Brand: s.brand("Acme")}, nil},
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
}

// runs is the number of times that each composition is measured. The least usage counts, since other processes can only
// add to it.
const runs = 3

// The bounds: of the CPU time relative to the handwritten command, and of the memory.
const (
	maxRatio = 1.0
	maxPeak  = 1500 << 20
)

// timed measures the usage of a composition, by ffmpeg and by this process.
func timed(do func() (ffmpeg.Usage, error)) (least usage, err error) {
	for i := range runs {
		before, start := ownCPU(), time.Now()
		u, err := do()
		if err != nil {
			return usage{}, err
		}
		one := usage{u.CPU + ownCPU() - before, time.Since(start), u.Peak}
		if i == 0 {
			least = one
		}
		least = usage{min(least.cpu, one.cpu), min(least.wall, one.wall), max(least.peak, one.peak)}
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
	fmt.Print("| Kind | Plays, s | CPU, s | CPU per second | By hand | Ratio | Peak memory, MB | Takes, s | Lambda, " +
		"$ per minute |\n|---|---|---|---|---|---|---|---|---|\n")
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
	if plays == 0 {
		return fmt.Sprintf("| %s | | %.2f | | | | %d | %.1f | |\n", k.name, own.cpu.Seconds(), own.peak>>20,
			own.wall.Seconds()), nil
	}
	per := own.cpu.Seconds() / plays
	hand, ratio := "", ""
	var broken error
	if own.peak > maxPeak {
		broken = fmt.Errorf("ffmpeg takes %d MB, more than %d", own.peak>>20, maxPeak>>20)
	}
	if k.hand != nil {
		job, err := k.hand(s)
		if err != nil {
			return "", err
		}
		other, err := timed(func() (ffmpeg.Usage, error) {
			tool, err := filepath.Abs(s.settings.FFmpeg)
			if err != nil {
				return ffmpeg.Usage{}, err
			}
			report, err := ffmpeg.Tool{Path: tool, Threads: s.settings.Threads}.Run(s.ctx, job)
			return report.Usage, err
		})
		if err != nil {
			return "", err
		}
		times := own.cpu.Seconds() / other.cpu.Seconds()
		if times > maxRatio {
			broken = fmt.Errorf("it takes %.2f times the CPU of the command written by hand, more than %.2f",
				times, maxRatio)
		}
		hand, ratio = fmt.Sprintf("%.2f", other.cpu.Seconds()/plays), fmt.Sprintf("%.2f", times)
	}
	return fmt.Sprintf("| %s | %.1f | %.1f | %.2f | %s | %s | %d | %.1f | %.4f |\n",
		k.name, plays, own.cpu.Seconds(), per, hand, ratio, own.peak>>20, own.wall.Seconds(),
		per*60*gbPerProcessor*dollarsPerGBSecond), broken
}
