package probe

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// film reads a video of testdata/media/videos.
func film(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", "videos", name+".mp4"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A video is described as players show it: its size, its length, its colors, and when its tracks begin.
func TestTheDescriptionOfAVideo(t *testing.T) {
	hd := media.Colors{Primaries: media.ColorsBT709, Transfer: media.ColorsBT709, Matrix: media.ColorsBT709}
	sd := media.Colors{Primaries: media.ColorsBT601, Transfer: media.ColorsBT709, Matrix: media.ColorsBT601}
	full := hd
	full.Full = true
	wide := func(transfer int) media.Colors {
		return media.Colors{Primaries: media.ColorsBT2020, Transfer: transfer, Matrix: media.ColorsBT2020}
	}
	for name, want := range map[string]struct {
		width, height int
		length        time.Duration
		codec         media.Codec
		profile       string
		depth, turn   int
		colors        media.Colors
		edited        bool
	}{
		"rot_b":           {360, 640, 4 * time.Second, media.H264, "High", 8, 1, hd, false},
		"frag_full":       {360, 640, 4 * time.Second, media.H264, "High", 8, 0, hd, false},
		"frag_empty":      {360, 640, 4 * time.Second, media.H264, "High", 8, 0, hd, false},
		"sync":            {360, 640, 4 * time.Second, media.H264, "High", 8, 0, sd, false},
		"sync_late_audio": {360, 640, 4 * time.Second, media.H264, "High", 8, 0, sd, true},
		"hdr_hlg":         {1280, 720, 3 * time.Second, media.HEVC, "Main 10", 10, 0, wide(media.TransferHLG), false},
		"hdr_pq":          {1280, 720, 3 * time.Second, media.HEVC, "Main 10", 10, 0, wide(media.TransferPQ), false},
		"untagged709":     {1280, 720, 3 * time.Second, media.H264, "High", 8, 0, hd, false},
		"tagged709":       {1280, 720, 3 * time.Second, media.H264, "High", 8, 0, hd, false},
		"fullrange709":    {1280, 720, 3 * time.Second, media.H264, "High", 8, 0, full, false},
		"sar43":           {640, 360, 4 * time.Second, media.H264, "High", 8, 0, hd, false},
	} {
		got, err := Bytes(film(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := got.Movie.Picture
		if got.Width != want.width || got.Height != want.height ||
			(got.Duration-want.length).Abs() > 5*time.Millisecond {
			t.Errorf("%s: %d x %d, %v", name, got.Width, got.Height, got.Duration)
		}
		if p.Codec != want.codec || p.Profile != want.profile || p.Depth != want.depth || p.Chroma != "4:2:0" ||
			p.Turn != want.turn || p.Colors != want.colors || got.Movie.Edited != want.edited || p.Rate != 25 {
			t.Errorf("%s: %+v", name, got.Movie)
		}
	}
	late, err := Bytes(film(t, "sync_late_audio"))
	if at := late.Movie.Sound.Start; err != nil || at < 450*time.Millisecond || at > 510*time.Millisecond {
		t.Errorf("the late sound begins at %v, %v", at, err)
	}
}

// Matrices of all eight directions, of the track and of the movie.
func TestMatricesTurnAndMirror(t *testing.T) {
	const one = 0x10000
	for _, c := range []struct {
		track, movie [4]int32
		turn         int
		mirrored     bool
	}{
		{[4]int32{one, 0, 0, one}, [4]int32{one, 0, 0, one}, 0, false},
		{[4]int32{0, one, -one, 0}, [4]int32{one, 0, 0, one}, 1, false},
		{[4]int32{-one, 0, 0, -one}, [4]int32{one, 0, 0, one}, 2, false},
		{[4]int32{0, -one, one, 0}, [4]int32{one, 0, 0, one}, 3, false},
		{[4]int32{-one, 0, 0, one}, [4]int32{one, 0, 0, one}, 0, true},
		{[4]int32{0, -one, -one, 0}, [4]int32{one, 0, 0, one}, 1, true},
		{[4]int32{one, 0, 0, -one}, [4]int32{one, 0, 0, one}, 2, true},
		{[4]int32{0, one, one, 0}, [4]int32{one, 0, 0, one}, 3, true},
		{[4]int32{one, 0, 0, one}, [4]int32{0, one, -one, 0}, 1, false},
		{[4]int32{0, one, -one, 0}, [4]int32{0, one, -one, 0}, 2, false},
		{[4]int32{0, one, -one, 0}, [4]int32{0, -one, one, 0}, 0, false},
		{[4]int32{}, [4]int32{0, one, -one, 0}, 1, false},
		{[4]int32{0, one, -one, 0}, [4]int32{}, 1, false},
	} {
		if turn, mirrored := turned(c.track, c.movie); turn != c.turn || mirrored != c.mirrored {
			t.Errorf("%v in %v: %d quarters, mirrored: %t", c.track, c.movie, turn, mirrored)
		}
	}
}

// What the boxes do not say, the headers of the codec do, and boxes come first.
func TestTheCodecSaysWhatBoxesDoNot(t *testing.T) {
	content := film(t, "sar43")
	copy(content[bytes.Index(content, []byte("pasp")):], "free")
	binary.BigEndian.PutUint16(content[bytes.Index(content, []byte("tkhd"))+4+76:], 480)
	if got, err := Bytes(content); err != nil || got.Width != 640 || got.Height != 360 {
		t.Errorf("an aspect in the stream: %d x %d, %v", got.Width, got.Height, err)
	}
	content = film(t, "hdr_pq")
	if at := bytes.Index(content, []byte("colr")); at > 0 {
		copy(content[at:], "free")
	}
	if got, err := Bytes(content); err != nil || got.Movie.Picture.Colors.Transfer != media.TransferPQ {
		t.Errorf("a transfer in the stream: %+v, %v", got.Movie.Picture.Colors, err)
	}
}

// A parameter set that is cut off, or has wrong bits, ends soon.
func TestBrokenParameterSetsEnd(t *testing.T) {
	for _, name := range []string{"sar43", "hdr_pq"} {
		content := film(t, name)
		entries := bytes.Index(content, []byte("stsd"))
		for at := entries; at < entries+1200 && at < len(content); at++ {
			for _, b := range []byte{0, 0x55, 0xff} {
				was := content[at]
				content[at] = b
				if got, err := Bytes(content); err == nil && (got.Width < 1 || got.Height < 1 || got.Width > maxSide) {
					t.Errorf("%s with %x at %d: %d x %d", name, b, at, got.Width, got.Height)
				}
				content[at] = was
			}
		}
	}
}
