// Package sample has small real media of every generated kind, for the fakes of the
// providers. testdata/media/make.sh makes them; they are embedded here.
package sample

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"
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

// The kinds of media.
const (
	Image  = "image"
	Video  = "video"
	Avatar = "avatar"
	Music  = "music"
	Voice  = "voice"
)

// ratios are the aspect ratios of the media. The first of each is the default.
var ratios = map[string][]string{
	Image:  {"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"},
	Video:  {"9:16", "16:9", "1:1", "3:4", "4:3", "21:9"},
	Avatar: {"9:16", "16:9", "1:1"},
}

// squares are several pictures of 1:1, so that the slides of a carousel differ.
var squares = []string{"image-1x1.png", "slide-1.jpg", "slide-2.jpg", "slide-3.jpg", "slide-4.jpg", "slide-5.jpg"}

// VoiceMP3 is the name of the spoken sentence as an MP3, the usual format of providers of
// speech.
const VoiceMP3 = "voice.mp3"

// Ratios returns the aspect ratios of a kind, the default first, or none for a kind without
// pictures.
func Ratios(kind string) []string { return ratios[kind] }

// Name returns the name of the n-th file of a kind, with the aspect ratio if the kind has one.
// If there is no such sample, no file has the name.
func Name(kind, ratio string, n uint) string {
	shape := strings.ReplaceAll(ratio, ":", "x")
	switch kind {
	case Image:
		if ratio == "1:1" {
			return squares[n%uint(len(squares))]
		}
		return "image-" + shape + ".png"
	case Video:
		return "video-" + shape + ".mp4"
	case Avatar:
		return "avatar-" + shape + ".mp4"
	case Music:
		return "music.mp3"
	case Voice:
		return "voice.wav"
	default:
		return ""
	}
}

// File returns the n-th file of a kind, with its name. An empty ratio means the default ratio.
// The extension of the name is the file's format.
func File(kind, ratio string, n uint) (name string, content []byte, err error) {
	if all := ratios[kind]; ratio == "" && len(all) > 0 {
		ratio = all[0]
	}
	name = Name(kind, ratio, n)
	if content, err = fs.ReadFile(Files, name); err != nil {
		return "", nil, fmt.Errorf("sample: no %s of %q: %w", kind, ratio, err)
	}
	return name, content, nil
}

// Lasting returns a clip, a track or speech with a length. If length is 0, it returns File.
func Lasting(kind, ratio string, n uint, length time.Duration) (name string, content []byte, err error) {
	if kind == Voice && length > 0 {
		name = VoiceMP3
		content, err = fs.ReadFile(Files, name)
	} else {
		name, content, err = File(kind, ratio, n)
	}
	switch {
	case err != nil || length <= 0:
	case kind == Video:
		content, err = mp4(content, length, n)
	case kind == Music || kind == Voice:
		content, err = mp3(content, length)
	}
	return name, content, err
}
