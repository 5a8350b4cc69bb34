package compose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// The loudness of composed sound: of the whole, as the platforms play it, and of its parts in the mix.
const (
	targetLoudness = -14.0 // LUFS
	loudnessSlack  = 0.5   // the tolerance that mastering aims at
	maxSlack       = 1.0   // the guaranteed tolerance
	maxPeak        = -1.0  // dBTP
	voiceLoudness  = -16.0
	bedLoudness    = -27.0 // of music under a voice, before it is ducked
)

const (
	sampleRate = 48_000
	// priming is the silence at the beginning of the AAC encoder's output, in samples. The mix is cut by as much, so
	// that picture and sound stay in sync without an edit list, which Instagram refuses.
	priming = 1024
	// lead is the time before the voice begins.
	lead = 300 * time.Millisecond
	// tail is the time after the end of the voice.
	tail = 700 * time.Millisecond
)

const (
	stereo = "aresample=48000,aformat=sample_fmts=fltp:channel_layouts=stereo"
	// heardAt is the sound of a clip, at the times at which it is heard: silent until it begins, and where it pauses.
	heardAt = "aresample=48000:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo"
	// measure measures the loudness. The peak, which takes twice as long, matters in what was encoded alone.
	measure = "ebur128=framelog=quiet"
)

// measuredSound is the measured sound of a part.
type measuredSound struct {
	ffmpeg.Loudness
	length time.Duration
}

// listen measures a part. It returns an error if the sound is shorter than its header claims, or silent.
func (r *run) listen(ctx context.Context, in input) (measuredSound, error) {
	report, err := r.play(ctx, in)
	if err != nil {
		return measuredSound{}, err
	}
	loudness, ok := ffmpeg.LoudnessOf(report.Log)
	codec := ffmpeg.SoundOf(report.Log)
	switch {
	case !slices.Contains(soundCodecs, codec):
		return measuredSound{}, unreadable(StageInputs, in.about, errors.New("its codec is "+codec))
	case !ok || report.Time < in.length*9/10:
		return measuredSound{}, unreadable(StageSound, in.about, fmt.Errorf("%v of %v could be "+
			"read", report.Time, in.length))
	case loudness.Integrated <= ffmpeg.Silent:
		return measuredSound{}, &Error{Code: CodeSilent, Stage: StageSound, About: in.about,
			Message: "Nothing is to be heard in the file. Replace it."}
	}
	return measuredSound{loudness, report.Time}, nil
}

// play decodes the sound of a part and measures its loudness.
func (r *run) play(ctx context.Context, in input) (ffmpeg.Report, error) {
	return r.ffmpeg(ctx, StageSound, in.about, ffmpeg.Job{
		Inputs: []ffmpeg.Input{in.Input}, Filter: "[0:a]" + stereo + "," + measure + "[a]",
		Output: []string{"-map", "[a]", "-f", "null", "-"},
	})
}

// mix describes the sound of a video.
type mix struct {
	voice, music *input // may be nil
	// clip is a clip whose own sound is used. It may be nil.
	clip *input
	// intro and outro are heard before and after the rest.
	intro, outro bumper
	// frames is the length without the bumpers, of which hook are before the intro.
	frames  int
	hook    int
	quality Quality
	// tempo is the tempo of the voice. 0 is 1.
	tempo float64
	// heardVoice and heardMusic are the measured parts.
	heardVoice, heardMusic measuredSound
	// heardClip is the loudness of the clip, if there is a bumper with sound.
	heardClip float64
}

const (
	mixFile   = "mix.wav"
	soundFile = "sound.aac"
)

// sound writes the sound of a video: mixed, and at the loudness of the platforms.
func (r *run) sound(ctx context.Context, m mix) error {
	seconds := timeline.Time(m.frames).Seconds()
	job := ffmpeg.Job{Output: []string{"-map", "[out]", "-c:a", "pcm_f32le", "-rf64", "auto", mixFile}}
	fadeOut := max(seconds-1.2, 0)
	end := fmt.Sprintf("apad,atrim=end=%.6f", seconds)
	about, delay := "", fmt.Sprintf("adelay=%d:all=1", lead.Milliseconds())
	if m.tempo > 0 && m.tempo != 1 {
		// The filter adelay loses the end of what atempo passes to it.
		delay = fmt.Sprintf("adelay=%d:all=1,atempo=%.5f", int(float64(lead.Milliseconds())*m.tempo), m.tempo)
	}
	switch {
	case m.voice != nil && m.music != nil:
		about = m.music.about
		job.Inputs = []ffmpeg.Input{m.voice.Input, looped(m.music.Input)}
		job.Filter = fmt.Sprintf("[0:a]%s,volume=%.2fdB,%s,%s,asplit[voice][key];"+
			"[1:a]%s,volume=%.2fdB,atrim=end=%.6f,afade=d=0.3,afade=t=out:st=%.3f:d=1.2[bed];"+
			"[bed][key]sidechaincompress=threshold=0.02:ratio=6:attack=40:release=600[ducked];"+
			"[voice][ducked]amix=inputs=2:normalize=0:duration=first[mixed]",
			stereo, voiceLoudness-m.heardVoice.Integrated, delay, end,
			stereo, bedLoudness-m.heardMusic.Integrated, seconds, fadeOut)
	case m.voice != nil:
		about = m.voice.about
		job.Inputs = []ffmpeg.Input{m.voice.Input}
		job.Filter = fmt.Sprintf("[0:a]%s%s,%s,%s[mixed]", stereo, m.leveled(m.heardVoice.Integrated), delay, end)
	case m.music != nil:
		about = m.music.about
		job.Inputs = []ffmpeg.Input{looped(m.music.Input)}
		job.Filter = fmt.Sprintf("[0:a]%s%s,%s,afade=d=0.03,afade=t=out:st=%.3f:d=1.2[mixed]", stereo,
			m.leveled(m.heardMusic.Integrated), end, fadeOut)
	case m.clip != nil:
		about = m.clip.about
		job.Inputs = []ffmpeg.Input{m.clip.Input}
		job.Filter = fmt.Sprintf("[0:a]%s%s,%s[mixed]", heardAt, m.leveled(m.heardClip), end)
	default:
		job.Filter = fmt.Sprintf("anullsrc=r=48000:cl=stereo,atrim=end=%.6f[mixed]", seconds)
	}
	job.Filter += ";" + m.surround(&job) + measure + "[out]"
	report, err := r.ffmpeg(ctx, StageSound, about, job)
	if err != nil {
		return err
	}
	loudness, ok := ffmpeg.LoudnessOf(report.Log)
	if !ok {
		return internal(StageSound, errors.New("the mix could not be measured"))
	}
	return r.master(ctx, loudness, m.quality)
}

func looped(in ffmpeg.Input) ffmpeg.Input {
	in.Options = []string{"-stream_loop", "-1"}
	return in
}

// master brings the mix to its loudness, and encodes it. A limiter that reduces the peaks also reduces the loudness,
// and encoding moves the peaks: both are measured on the encoded sound until they are right.
func (r *run) master(ctx context.Context, l ffmpeg.Loudness, q Quality) error {
	silent := l.Integrated <= ffmpeg.Silent
	gain, limit := targetLoudness-l.Integrated, maxPeak-0.7
	if silent {
		gain = 0
	}
	const tries = 6
	for n := range tries {
		err := r.encodeSound(ctx, gain, limit, q)
		if err != nil || silent {
			return err
		}
		got, err := r.encoded(ctx)
		if err != nil {
			return err
		}
		off, over := targetLoudness-got.Integrated, got.Peak-maxPeak
		slack := loudnessSlack
		if n == tries-1 {
			slack = maxSlack
		}
		if math.Abs(off) <= slack && over <= 0 {
			return nil
		}
		gain += off
		limit -= max(over, 0)
	}
	return internal(StageSound, errors.New("the loudness could not be reached"))
}

func (r *run) encodeSound(ctx context.Context, gain, limit float64, q Quality) error {
	coder := "twoloop"
	if q == Draft {
		coder = "fast"
	}
	// The limiter detects peaks between two samples only at a higher sample rate.
	filter := fmt.Sprintf("[0:a]atrim=start_sample=%d,asetpts=N/SR/TB,volume=%.3fdB,aresample=%d,"+
		"alimiter=level=0:attack=3:release=80:latency=1:limit=%.5f,aresample=%d,aformat=sample_fmts=fltp[out]",
		priming, gain, 2*sampleRate, math.Pow(10, limit/20), sampleRate)
	_, err := r.ffmpeg(ctx, StageSound, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{{Path: r.path(mixFile), Format: "wav"}}, Filter: filter,
		Output: []string{"-map", "[out]", "-c:a", "aac", "-aac_coder", coder, "-b:a", "160k", "-ar", "48000", "-ac",
			"2", "-f", "adts", soundFile},
	})
	return err
}

// encoded measures the encoded sound.
func (r *run) encoded(ctx context.Context) (ffmpeg.Loudness, error) {
	report, err := r.ffmpeg(ctx, StageSound, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{{Path: r.path(soundFile), Format: "aac"}},
		Filter: "[0:a]" + measure + ":peak=true[a]", Output: []string{"-map", "[a]", "-f", "null", "-"},
	})
	if err != nil {
		return ffmpeg.Loudness{}, err
	}
	loudness, ok := ffmpeg.LoudnessOf(report.Log)
	if !ok {
		return loudness, internal(StageSound, errors.New("what was encoded could not be measured"))
	}
	return loudness, nil
}
