package sandbox

import (
	"bytes"
	"image/color"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/Eyevinn/mp4ff/avc"
	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/content-automation/api/pkg/media/audio"
)

func TestClipsAreWhatTheirHeadersSay(t *testing.T) {
	for _, c := range []struct {
		scene  Scene
		length time.Duration
		sound  bool
	}{
		{Scene{Width: 1080, Height: 1920, Seed: 7}, 61 * time.Second, true},
		{Scene{Width: 854, Height: 480, Seed: 8}, 1400 * time.Millisecond, false},
		{Scene{Width: 2520, Height: 1080, Seed: 9}, 2 * time.Second, true},
		{Scene{Width: 16, Height: 16, Seed: 10}, time.Millisecond, false},
	} {
		content, err := MP4(c.scene, c.length, c.sound)
		if err != nil {
			t.Fatal(err)
		}
		f, err := mp4.DecodeFile(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		wantFrames := max(int(c.length.Seconds()*frameRate+0.5), 1)
		for _, trak := range f.Moov.Traks {
			table := trak.Mdia.Minf.Stbl
			if trak.Mdia.Hdlr.HandlerType == "soun" {
				checkSound(t, c.length, trak)
				continue
			}
			if int(table.Stsz.SampleNumber) != wantFrames || len(table.Stss.SampleNumber) != 1 {
				t.Errorf("%d frames, %d key frames; want %d frames", table.Stsz.SampleNumber,
					len(table.Stss.SampleNumber), wantFrames)
			}
			checkFrames(t, c.scene, content, trak)
		}
		if sound := len(f.Moov.Traks) == 2; sound != c.sound {
			t.Errorf("%d tracks, sound: %v", len(f.Moov.Traks), c.sound)
		}
	}
}

// checkFrames reads each frame where the tables say that it lies.
func checkFrames(t *testing.T, s Scene, content []byte, trak *mp4.TrakBox) {
	t.Helper()
	table := trak.Mdia.Minf.Stbl
	config := table.Stsd.AvcX.AvcC
	sps, err := avc.ParseSPSNALUnit(config.SPSnalus[0], true)
	if err != nil {
		t.Fatal(err)
	}
	pps, err := avc.ParsePPSNALUnit(config.PPSnalus[0], map[uint32]*avc.SPS{0: sps})
	if err != nil {
		t.Fatal(err)
	}
	if int(sps.Width) != s.Width || int(sps.Height) != s.Height {
		t.Errorf("the frames have %d x %d pixels, want %d x %d", sps.Width, sps.Height, s.Width, s.Height)
	}
	n := uint32(1)
	for chunk := range table.Stco.ChunkOffset {
		at := table.Stco.ChunkOffset[chunk]
		for range perChunk(table, chunk) {
			size := table.Stsz.GetSampleSize(int(n))
			nal := content[at+4 : at+size]
			header, err := avc.ParseSliceHeader(nal, map[uint32]*avc.SPS{0: sps}, map[uint32]*avc.PPS{0: pps})
			if err != nil {
				t.Fatalf("frame %d: %v", n, err)
			}
			key := n == 1
			if (avc.GetNaluType(nal[0]) == avc.NALU_IDR) != key || (header.SliceType%5 == avc.SLICE_I) != key ||
				header.FrameNum != (n-1)%16 {
				t.Errorf("frame %d: %+v", n, header)
			}
			at += size
			n++
		}
	}
	if n-1 != table.Stsz.SampleNumber {
		t.Errorf("%d frames lie in the chunks, %d in the table", n-1, table.Stsz.SampleNumber)
	}
}

// perChunk returns the number of samples in a chunk, from 0.
func perChunk(table *mp4.StblBox, chunk int) uint32 {
	var n uint32
	for _, e := range table.Stsc.Entries {
		if int(e.FirstChunk) <= chunk+1 {
			n = e.SamplesPerChunk
		}
	}
	return n
}

func checkSound(t *testing.T, length time.Duration, trak *mp4.TrakBox) {
	t.Helper()
	plays := time.Duration(float64(trak.Mdia.Mdhd.Duration) / float64(trak.Mdia.Mdhd.Timescale) * float64(time.Second))
	if plays > length || plays < length-25*time.Millisecond {
		t.Errorf("the sound plays %v of %v", plays, length)
	}
}

// ffmpeg decodes the frames of a clip in planes, as `make media-tools` installs it.
func frames(t *testing.T, s Scene, length time.Duration) (frames [][]byte) {
	t.Helper()
	content, err := MP4(s, length, false)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "..", "..", ".tools", "media", "ffmpeg"), "-v", "warning",
		"-i", name, "-f", "rawvideo", "-pix_fmt", "yuv420p", "pipe:1")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v: %s", err, said.String())
	}
	for frame := range slices.Chunk(out, s.Width*s.Height*3/2) {
		frames = append(frames, frame)
	}
	return frames
}

// A clip pans over the drawn scene: each frame has the colors that were drawn, further on by its steps.
func TestClipsPanOverTheScene(t *testing.T) {
	for seed := range uint32(6) {
		s := Scene{Width: 324, Height: 240, Seed: seed, Colors: brand}
		const length = 2 * time.Second
		got := frames(t, s, length)
		c := newClip264(s, len(got))
		if len(got) != 60 || c.steps != 19 {
			t.Fatalf("%d frames, %d steps", len(got), c.steps)
		}
		img := c.picture()
		for n, frame := range got {
			at := n / panEvery * panStep
			luma, chroma := frame[:s.Width*s.Height], frame[s.Width*s.Height:]
			for y := range s.Height {
				for x := range s.Width {
					wrong := far(luma[y*s.Width+x], img.Y[img.YOffset(at+x, y)])
					if x%2+y%2 == 0 {
						wrong = wrong || far(chroma[y/2*s.Width/2+x/2], img.Cb[img.COffset(at+x, y)]) ||
							far(chroma[s.Width*s.Height/4+y/2*s.Width/2+x/2], img.Cr[img.COffset(at+x, y)])
					}
					if wrong {
						t.Fatalf("seed %d, frame %d differs from what was drawn at %d, %d", seed, n, x, y)
					}
				}
			}
		}
	}
}

// far reports whether a decoded value differs from the drawn one by more than a flat macroblock may, and the filter of
// its edges.
func far(got, want uint8) bool {
	off := int(got) - int(want)
	return max(off, -off) > 3*flatness
}

// After its pan, a clip stands still.
func TestALongClipIsSmall(t *testing.T) {
	s := Scene{Width: 96, Height: 64, Seed: 1}
	short, err := MP4(s, 10*time.Second, false)
	if err != nil {
		t.Fatal(err)
	}
	long, err := MP4(s, 20*time.Minute, false)
	if err != nil {
		t.Fatal(err)
	}
	if each := float64(len(long)-len(short)) / (20*60 - 10) / frameRate; each > 30 {
		t.Errorf("each frame has %.0f bytes", each)
	}
}

func TestPicturesHaveTheirSize(t *testing.T) {
	for _, s := range []Scene{{Width: 896, Height: 1120, Seed: 5}, {Width: 2520, Height: 1080, Seed: 6},
		{Width: 16, Height: 4096, Seed: 7}} {
		content, err := JPEG(s)
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(content))
		if err != nil || img.Bounds().Dx() != s.Width || img.Bounds().Dy() != s.Height {
			t.Fatalf("%v, %v", img, err)
		}
	}
}

// A picture follows from its description alone, and each part of it matters.
func TestPicturesFollowFromTheirDescription(t *testing.T) {
	seen := map[string]Scene{}
	for _, s := range []Scene{{Seed: 1}, {Seed: 2}, {Seed: 1, Mood: 3}, {Seed: 1, Colors: brand[:1]},
		{Seed: 1, Colors: brand}} {
		s.Width, s.Height = 128, 160
		one, again := s.draw(1, 0.5).Pix, s.draw(1, 0.5).Pix
		if !bytes.Equal(one, again) {
			t.Errorf("%+v is drawn in two ways", s)
		}
		if other, ok := seen[string(one)]; ok {
			t.Errorf("%+v looks like %+v", s, other)
		}
		seen[string(one)] = s
	}
}

// brand are the colors of a brand: orange and blue.
var brand = []color.RGBA{{0xff, 0x66, 0, 255}, {0x10, 0x20, 0x80, 255}}

// In the colors of a brand, most of what has a color has the hue of one of them.
func TestPicturesAreInTheColorsOfTheBrand(t *testing.T) {
	for seed := range uint32(24) {
		img := Scene{Width: 96, Height: 120, Seed: seed, Colors: brand[:1]}.draw(1, 0.5)
		colored, off := 0, 0
		for i := 0; i < len(img.Pix); i += 4 {
			r, g, b := int(img.Pix[i]), int(img.Pix[i+1]), int(img.Pix[i+2])
			if max(r, g, b)-min(r, g, b) < 24 {
				continue
			}
			if colored++; r < g || g < b {
				off++
			}
		}
		if colored < 1000 || off > colored/50 {
			t.Errorf("seed %d: %d pixels of %d that have a color are not orange", seed, off, colored)
		}
	}
}

func TestMelodiesPlayAsLongAsAsked(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 30 * time.Second, 4370 * time.Millisecond} {
		content, err := MP3(1, length)
		if err != nil {
			t.Fatal(err)
		}
		sound, kept, err := audio.Speech(content)
		if off := (sound.Duration - length).Abs(); err != nil || off > 12*time.Millisecond ||
			len(kept) != len(content) {
			t.Errorf("%v, %v, want %v", sound, err, length)
		}
	}
}

func TestWhatCannotBeMade(t *testing.T) {
	if _, err := JPEG(Scene{Width: 1 << 20, Height: 16}); err == nil {
		t.Error("a picture too large was made")
	}
	if _, err := MP4(Scene{Width: 64, Height: 64}, 0, false); err == nil {
		t.Error("a clip without length was made")
	}
	if _, err := MP3(1, 48*time.Hour); err == nil {
		t.Error("a melody of two days was made")
	}
}

// An hour's budget of a worker must not go into one clip.
func BenchmarkMP4(b *testing.B) {
	for b.Loop() {
		if _, err := MP4(Scene{Width: 1080, Height: 1920, Seed: 7}, time.Minute, true); err != nil {
			b.Fatal(err)
		}
	}
}

// A worker draws the pictures of ten slides in one go.
func BenchmarkJPEG(b *testing.B) {
	for seed := uint32(0); b.Loop(); seed++ {
		if _, err := JPEG(Scene{Width: 1080, Height: 1350, Seed: seed}); err != nil {
			b.Fatal(err)
		}
	}
}
