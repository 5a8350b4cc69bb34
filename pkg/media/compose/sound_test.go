package compose

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// mixed returns a run whose sound was made, and the path of the sound.
func (b *bench) mixed(voice, music string, length time.Duration) string {
	b.t.Helper()
	ctx := b.t.Context()
	r := &run{Engine: b.Engine, dir: b.t.TempDir()}
	m := mix{frames: timeline.Frames(length)}
	for _, part := range []struct {
		path  string
		in    **input
		heard *measuredSound
	}{{voice, &m.voice, &m.heardVoice}, {music, &m.music, &m.heardMusic}} {
		if part.path == "" {
			continue
		}
		in, err := open(part.path, "/part", media.Audio)
		if err != nil {
			b.t.Fatal(err)
		}
		if *part.heard, err = r.listen(ctx, in); err != nil {
			b.t.Fatal(err)
		}
		*part.in = &in
	}
	if err := r.sound(ctx, m); err != nil {
		b.t.Fatal(err)
	}
	return filepath.Join(r.dir, soundFile)
}

// level returns how loud a sound is in a band of frequencies within a time, in dB.
func (b *bench) level(path string, from, length time.Duration, frequency int) float64 {
	b.t.Helper()
	to := filepath.Join(b.t.TempDir(), "level.raw")
	b.ffmpeg("-f", "aac", "-i", path, "-af", fmt.Sprintf("bandpass=f=%d:w=100,atrim=%.3f:%.3f", frequency,
		from.Seconds(), (from+length).Seconds()),
		"-ac", "1", "-f", "f32le", to)
	return decibels(b.t, to)
}

func decibels(t *testing.T, path string) float64 {
	t.Helper()
	sum, n := 0.0, 0
	for _, v := range samples(t, path) {
		sum += v * v
		n++
	}
	return 10 * math.Log10(sum/math.Max(float64(n), 1)+1e-12)
}

// samples reads raw samples of 32 bits.
func samples(t *testing.T, path string) []float64 {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float64, 0, len(raw)/4)
	for i := 0; i+4 <= len(raw); i += 4 {
		bits := uint32(raw[i]) | uint32(raw[i+1])<<8 | uint32(raw[i+2])<<16 | uint32(raw[i+3])<<24
		all = append(all, float64(math.Float32frombits(bits)))
	}
	return all
}

// bursts is a voice that speaks for a second, is silent for two, and speaks again.
func bursts(seconds int) []byte {
	all := make([]float64, seconds*24_000)
	for i := range all {
		if at := i / 24_000 % 3; at == 0 {
			all[i] = 0.5 * math.Sin(2*math.Pi*300*float64(i)/24_000)
		}
	}
	return sample.WAV(all)
}

func TestMusicIsDuckedUnderTheVoice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.mixed(b.part("voice.wav", bursts(7)), b.part("music.wav", sample.Tone(3*time.Second, 2000)),
		8*time.Second)
	under := b.level(path, lead+3400*time.Millisecond, 500*time.Millisecond, 2000)
	alone := b.level(path, lead+2300*time.Millisecond, 500*time.Millisecond, 2000)
	voice := b.level(path, lead+3400*time.Millisecond, 500*time.Millisecond, 300)
	if alone-under < 5 {
		t.Errorf("the music has %.1f dB under the voice, %.1f alone", under, alone)
	}
	if voice-under < 12 {
		t.Errorf("the voice has %.1f dB, the music under it %.1f", voice, under)
	}
	if alone < -50 {
		t.Errorf("the music has %.1f dB where nobody speaks", alone)
	}
}

func TestLoudnessIsReachedFromAnyLevel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	quiet, peaky := make([]float64, 4*24_000), make([]float64, 4*24_000)
	for i := range quiet {
		quiet[i] = 0.002 * math.Sin(2*math.Pi*400*float64(i)/24_000)
		peaky[i] = 0.03 * math.Sin(2*math.Pi*400*float64(i)/24_000)
		if i%6000 < 20 {
			peaky[i] = 0.98
		}
	}
	for name, content := range map[string][]byte{"quiet": sample.WAV(quiet), "peaks": sample.WAV(peaky),
		"a voice": sample.Voice(4 * time.Second)} {
		path := b.mixed(b.part(name+".wav", content), "", 5*time.Second)
		if l, peak := b.loudness(path); math.Abs(l+14) > 1 || peak > -1 {
			t.Errorf("%s: %.1f LUFS, %.1f dBTP", name, l, peak)
		}
	}
}

func TestPictureAndSoundStayTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	voice := make([]float64, 3*24_000)
	for i := 24_000; i < len(voice); i++ { // from 1 s on
		voice[i] = 0.5 * math.Sin(2*math.Pi*500*float64(i)/24_000)
	}
	f := b.find(b.compose(Video{
		Format: Portrait, Quality: Draft, scale: small, Narration: b.part("voice.wav", sample.WAV(voice)),
		Language: "en",
		Scenes:   []Scene{{Text: "One.", Picture: b.picture(0)}, {Text: "Two.", Picture: b.picture(2)}},
	}), media.Final)
	to := filepath.Join(b.dir, "sound.raw")
	b.ffmpeg("-i", f.Path, "-ac", "1", "-f", "f32le", to)
	all := samples(t, to)
	at := 0
	for at < len(all) && math.Abs(all[at]) < 0.05 {
		at++
	}
	want := lead + time.Second
	if got := time.Duration(at) * time.Second / sampleRate; got < want-5*time.Millisecond ||
		got > want+10*time.Millisecond {
		t.Errorf("the voice begins at %v, not %v", got, want)
	}
}

func TestWhatIsSilentIsNoNarration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	silence := b.part("silence.wav", sample.Tone(3*time.Second, 0))
	scenes := []Scene{{Text: "One.", Picture: b.picture(0)}}
	if e := b.fails(Video{Format: Portrait, Quality: Full, Narration: silence, Scenes: scenes}); e.Code != CodeSilent ||
		e.About != "/narration" || e.Stage != StageSound {
		t.Errorf("a narration of silence: %v", e)
	}
	if e := b.fails(MusicClip{Quality: Full, Length: 15 * time.Second, Cover: b.picture(2),
		Track: b.part("long.wav", sample.Tone(16*time.Second, 0))}); e.Code != CodeSilent || e.About != "/track" {
		t.Errorf("a track of silence: %v", e)
	}
	if e := b.fails(MusicClip{Quality: Full, Length: 15 * time.Second, Cover: b.picture(2),
		Track: b.part("short.wav", sample.Tone(9*time.Second, 500))}); e.Code != CodeTooShort || e.About != "/track" {
		t.Errorf("a track of 9 s: %v", e)
	}
	// A scene without any sound is a video with a silent track: platforms want one.
	f := b.find(b.compose(Video{Format: Portrait, Quality: Draft, scale: small,
		Scenes: []Scene{{Picture: b.picture(0), Length: time.Second}}}), media.Final)
	if p := b.probe(f.Path); len(p.Streams) != 2 || p.Streams[1].CodecName != "aac" {
		t.Errorf("it has %d streams", len(p.Streams))
	}
	if l, _ := b.loudness(f.Path); l > ffmpeg.Silent {
		t.Errorf("its loudness is %.1f LUFS", l)
	}
}
