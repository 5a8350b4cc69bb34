// Command compositions composes every kind of media from generated parts. It prints the resources that each takes,
// beside one handwritten command of ffmpeg for the same result. It can also write contact sheets.
package main

import (
	"context"
	"flag"
	"fmt"
	"image/color"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
)

func main() {
	tools := flag.String("tools", filepath.Join(".tools", "media"), "the folder of ffmpeg and the fonts")
	sheet := flag.String("sheet", "", "write contact sheets into this folder instead of measuring")
	only := flag.String("only", "", "measure only the kinds, or write only the sheets, whose names contain this")
	threads := flag.Int("threads", 2, "threads of ffmpeg")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *tools, *sheet, *only, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tools, sheet, only string, threads int) error {
	dir, err := os.MkdirTemp("", "measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	settings := compose.Settings{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: filepath.Join(tools, "fonts"),
		Scratch: dir, Threads: threads}
	engine, err := compose.New(settings)
	if err != nil {
		return err
	}
	p, err := newParts(dir)
	if err != nil {
		return err
	}
	s := &bench{ctx, engine, settings, p, dir}
	if sheet != "" {
		return s.sheets(sheet, only)
	}
	return s.measure(only)
}

// bench has the tools of the compositions.
type bench struct {
	ctx      context.Context
	engine   *compose.Engine
	settings compose.Settings
	parts
	dir string
}

// parts are the paths of the parts.
type parts struct {
	tall, wide   []string // pictures
	cover        string
	voice, track string
	logo         string
}

// The lengths of the sounds.
const (
	spoken = 11 * time.Second
	song   = 15 * time.Second
)

func newParts(dir string) (parts, error) {
	var p parts
	var failed error
	put := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			failed = err
		}
		return path
	}
	for i := range 4 {
		p.tall = append(p.tall, put(fmt.Sprintf("tall%d.jpg", i), sample.Picture(1080, 1920, uint64(11+i))))
		p.wide = append(p.wide, put(fmt.Sprintf("wide%d.jpg", i), sample.Picture(1920, 1080, uint64(31+i))))
	}
	p.cover = put("cover.jpg", sample.Picture(1024, 1024, 53))
	p.voice, p.track = put("voice.wav", sample.Voice(spoken)), put("track.wav", sample.Track(song))
	p.logo = put("logo.png", sample.Logo(color.RGBA{255, 255, 255, 255}))
	return p, failed
}

func (p parts) brand(name string) *compose.Brand {
	return &compose.Brand{Name: name, Logo: p.logo,
		Colors: []canvas.Color{{R: 0x0b, G: 0x5f, B: 0xa8}, {R: 0xff, G: 0xc1, B: 0x2e}}}
}

// compose composes into a folder of its own.
func (s *bench) compose(name string, w compose.Work) (compose.Result, error) {
	out := filepath.Join(s.dir, name)
	if err := os.MkdirAll(out, 0o700); err != nil {
		return compose.Result{}, err
	}
	return s.engine.Compose(s.ctx, w, out, nil)
}
