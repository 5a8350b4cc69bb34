// Package sample has small real media of every generated kind, for the fakes of the
// providers. testdata/media/make.sh makes them; they are embedded here.
package sample

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
)

//go:embed media
var embedded embed.FS

// Files are the media, by name.
var Files = func() fs.FS {
	files, err := fs.Sub(embedded, "media")
	if err != nil {
		panic(err) // The name above would be wrong.
	}
	return files
}()

// ratios are the aspect ratios of the media. The first of each is the default.
var ratios = map[provider.Kind][]string{
	provider.KindImage:  {"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"},
	provider.KindVideo:  {"9:16", "16:9", "1:1", "3:4", "4:3", "21:9"},
	provider.KindAvatar: {"9:16", "16:9", "1:1"},
}

// squares are several pictures of 1:1, so that the slides of a carousel differ.
var squares = []string{"image-1x1.png", "slide-1.jpg", "slide-2.jpg", "slide-3.jpg", "slide-4.jpg", "slide-5.jpg"}

// VoiceMP3 is the name of the spoken sentence as an MP3, the usual format of providers of
// speech.
const VoiceMP3 = "voice.mp3"

// Ratios returns the aspect ratios of a kind, the default first, or none for a kind without
// pictures.
func Ratios(kind provider.Kind) []string { return ratios[kind] }

// Name returns the name of the n-th file of a kind, with the aspect ratio if the kind has one.
// If there is no such sample, no file has the name.
func Name(kind provider.Kind, ratio string, n uint) string {
	shape := strings.ReplaceAll(ratio, ":", "x")
	switch kind {
	case provider.KindImage:
		if ratio == "1:1" {
			return squares[n%uint(len(squares))]
		}
		return "image-" + shape + ".png"
	case provider.KindVideo:
		return "video-" + shape + ".mp4"
	case provider.KindAvatar:
		return "avatar-" + shape + ".mp4"
	case provider.KindMusic:
		return "music.mp3"
	case provider.KindVoice:
		return "voice.wav"
	default:
		return ""
	}
}

// File returns the n-th file of a kind, with its name. An empty ratio means the default ratio.
// The extension of the name is the file's format.
func File(kind provider.Kind, ratio string, n uint) (name string, content []byte, err error) {
	if all := ratios[kind]; ratio == "" && len(all) > 0 {
		ratio = all[0]
	}
	name = Name(kind, ratio, n)
	if content, err = fs.ReadFile(Files, name); err != nil {
		return "", nil, fmt.Errorf("sample: no %s of %q: %w", kind, ratio, err)
	}
	return name, content, nil
}

// edge is the shorter edge in pixels of a clip made with a length.
const edge = 540

// Lasting returns a clip, a track or speech with a length. If length is 0, it returns File.
func Lasting(kind provider.Kind, ratio string, n uint, length time.Duration) (name string, content []byte, err error) {
	name, content, err = File(kind, ratio, n)
	if err != nil || length <= 0 {
		return name, content, err
	}
	switch kind {
	case provider.KindVideo:
		across, down, ok := provider.ParseRatio(ratio)
		if !ok {
			across, down, _ = provider.ParseRatio(ratios[kind][0])
		}
		k := edge / min(across, down)
		scene := sandbox.Scene{Width: int(math.Round(across*k/2)) * 2, Height: int(math.Round(down*k/2)) * 2,
			Seed: uint32(n)}
		content, err = sandbox.MP4(scene, length, false)
	case provider.KindMusic:
		content, err = sandbox.MP3(uint32(n), length)
	case provider.KindVoice:
		name = VoiceMP3
		content, err = sandbox.MP3(uint32(n), length)
	}
	return name, content, err
}
