package e2e

import (
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	parts "github.com/content-automation/api/infra/verify/harness/sample"
)

// probed is ffprobe's description of a file. ffprobe decodes every frame of it.
type probed struct {
	Streams []struct {
		Type   string `json:"codec_type"`
		Codec  string `json:"codec_name"`
		Pixels string `json:"pix_fmt"`
		Width  int
		Height int
		Frames string `json:"nb_read_frames"`
	}
	Format struct{ Duration string }
}

// inspect downloads a file and runs ffprobe.
func inspect(t *testing.T, f file) (p probed) {
	t.Helper()
	resp, err := http.Get(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || len(content) != f.Bytes {
		t.Fatalf("%s answers %s with %d of %d bytes, %v", f.ID, resp.Status, len(content), f.Bytes, err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "..", ".tools", "media", "ffprobe"),
		"-v", "error", "-err_detect", "explode", "-count_frames", "-show_streams", "-show_format", "-of", "json", path)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ffprobe of %s: %v", f.ID, err)
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// checkThumbnail checks the thumbnail of a file.
func checkThumbnail(t *testing.T, f file) {
	t.Helper()
	if f.ThumbnailURL == nil {
		t.Errorf("%s has no thumbnail", f.ID)
		return
	}
	resp, err := http.Get(*f.ThumbnailURL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	small, err := jpeg.DecodeConfig(resp.Body)
	if high := f.Height * 400 / f.Width; err != nil || resp.StatusCode != http.StatusOK ||
		resp.Header.Get("Content-Type") != "image/jpeg" || small.Width != 400 || small.Height != high {
		t.Errorf("the thumbnail of %s: %s %d x %d, %v", f.ID, resp.Status, small.Width, small.Height, err)
	}
}

// checkFinal checks the first file of an item. seconds is 0 for a picture. rate is the number of frames a second.
func checkFinal(t *testing.T, got contentItem, width, height, seconds, rate int) {
	t.Helper()
	if got.State != "generated" || got.Progress != 100 || len(got.Media) < 2 || got.Media[0].Role != "final" {
		t.Fatalf("%+v %+v", got, got.Failure)
	}
	final := got.Media[0]
	checkThumbnail(t, final)
	p := inspect(t, final)
	if s := p.Streams[0]; s.Width != width || s.Height != height || final.Width != width || final.Height != height {
		t.Errorf("it has %d x %d pixels: %+v", s.Width, s.Height, final)
	}
	if seconds == 0 {
		if s := p.Streams[0]; s.Codec != "mjpeg" || len(p.Streams) != 1 {
			t.Errorf("it is %+v", p)
		}
		return
	}
	roles := map[string]int{}
	for _, f := range got.Media {
		roles[f.Role]++
	}
	if roles["final"] != 1 || roles["poster"] != 1 {
		t.Errorf("it has %v", roles)
	}
	plays, err := strconv.ParseFloat(p.Format.Duration, 64)
	if err != nil || math.Abs(plays-float64(seconds)) > 1.5 || math.Abs(final.DurationSeconds-plays) > 0.1 {
		t.Errorf("it plays %v s, and says %v, not %d, %v", plays, final.DurationSeconds, seconds, err)
	}
	if len(p.Streams) != 2 || p.Streams[0].Codec != "h264" || p.Streams[0].Pixels != "yuv420p" ||
		p.Streams[1].Codec != "aac" {
		t.Errorf("it is %+v", p)
	}
	frames, err := strconv.Atoi(p.Streams[0].Frames)
	if err != nil || math.Abs(float64(frames)/float64(rate)-plays) > 0.1 {
		t.Errorf("%s frames were decoded in %v s", p.Streams[0].Frames, plays)
	}
}

// Every kind ends with media that can be posted. With a test key they are drafts.
func TestFinishedMedia(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	const credits = 2000
	c.topUp(credits)
	all := []struct {
		name                   string
		body                   object
		width, height, seconds int
	}{
		{"post", object{"kind": "post"}, 1080, 1350, 0},
		{"carousel", object{"kind": "carousel", "slides": []object{{"text": "Netze"}, {}}}, 1080, 1350, 0},
		{"story", object{"kind": "story"}, 1080, 1920, 0},
		{"short video of stills", object{"kind": "video", "duration_seconds": 10, "visuals": "stills"}, 1080, 1920, 10},
		{"music clip", object{"kind": "music_clip", "duration_seconds": 15}, 1080, 1920, 15},
	}
	for mode, key := range map[string]string{"test": c.test.Secret, "live": c.live.Secret} {
		t.Run(mode, func(t *testing.T) {
			factory, rate := c.factory(key), 30
			if mode == "test" {
				rate = 10
			}
			var made []contentItem
			for _, k := range all {
				body := object{"factory_id": factory, "prompt": "A shoe made of recycled nets"}
				for member, value := range k.body {
					body[member] = value
				}
				made = append(made, into[contentItem](call(t, key, http.MethodPost, contentPath, body),
					http.StatusAccepted))
			}
			for i, k := range all {
				t.Run(k.name, func(t *testing.T) {
					got := ended(t, key, made[i].ID)
					checkFinal(t, got, k.width, k.height, k.seconds, rate)
					for n, s := range got.Slides {
						if s.MediaID != got.Media[n].ID || got.Media[n].Role != "final" {
							t.Errorf("slide %d is %s of %+v", n, s.MediaID, got.Media)
						}
					}
				})
			}
		})
	}
	if sum, states := c.entries(); states["held"] != 0 || sum != c.balance() {
		t.Errorf("the entries add up to %d, the balance is %d: %v", sum, c.balance(), states)
	}
}

// Input that ffmpeg cannot use ends the item with a code and the stage. The finished parts are
// charged, since the caller supplied the music.
func TestACompositionThatFails(t *testing.T) {
	c := newCustomer(t)
	const credits = 500
	c.topUp(credits)
	key := c.live.Secret
	silence := bring(t, key, "audio/wav", parts.Tone(10e9, 0))
	body := object{"factory_id": c.factory(key), "kind": "video", "prompt": "A shoe", "duration_seconds": 10,
		"visuals": "stills", "music": silence}
	made := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	got := ended(t, key, made.ID)
	if f := got.Failure; got.State != "failed" || f == nil || f.Stage != "compose" || f.Code != "input_silent" ||
		got.Cost <= 0 || got.Cost >= credits || len(got.Media) != 3 || got.Media[0].Role != "narration" {
		t.Fatalf("%+v %+v", got, got.Failure)
	}
	if b := c.balance(); b != credits-got.Cost {
		t.Errorf("the balance is %d after a cost of %d", b, got.Cost)
	}
	rehearsed := object{"factory_id": c.factory(c.test.Secret), "kind": "post", "prompt": "A shoe",
		"sandbox": object{"outcome": "failed", "failure_code": "input_silent"}}
	again := ended(t, c.test.Secret, into[contentItem](call(t, c.test.Secret, http.MethodPost, contentPath, rehearsed),
		http.StatusAccepted).ID)
	if f := again.Failure; f == nil || *f != *got.Failure {
		t.Errorf("rehearsed: %+v, with a live key: %+v", f, got.Failure)
	}
}

// Canceling during the composition ends it, and charges the parts.
func TestACompositionIsCanceled(t *testing.T) {
	c := newCustomer(t)
	const credits = 500
	c.topUp(credits)
	key := c.live.Secret
	body := object{"factory_id": c.factory(key), "kind": "video", "format": "long", "prompt": "A shoe",
		"duration_seconds": 30, "visuals": "stills"}
	made := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	reserved := credits - c.balance()
	poll.Until(t, "the composition", func() bool { return composing(t) })
	foreseen := into[struct {
		Cost int64 `json:"cancel_cost_credits"`
	}](call(t, key, http.MethodGet, contentPath+"/"+made.ID, nil), http.StatusOK).Cost
	got := into[contentItem](call(t, key, http.MethodPost, contentPath+"/"+made.ID+"/cancel", nil), http.StatusOK)
	if got.State != "canceled" || got.Cost != reserved || got.Cost == 0 || foreseen != got.Cost {
		t.Errorf("reserved %d, foreseen %d: %+v", reserved, foreseen, got)
	}
	poll.Until(t, "the end of ffmpeg", func() bool { return !composing(t) })
	// The parts that were charged are delivered: the voice and the pictures.
	kept := into[contentItem](call(t, key, http.MethodGet, contentPath+"/"+made.ID, nil), http.StatusOK).Media
	if len(kept) != 1+6 || kept[0].Role != "narration" || kept[1].Role != "still" {
		t.Errorf("it has %+v", kept)
	}
	for _, f := range kept {
		inspect(t, f)
	}
	if b := c.balance(); b != credits-got.Cost {
		t.Errorf("the balance is %d after %d", b, got.Cost)
	}
}

// composing reports whether a function of the system has a process of ffmpeg.
func composing(t *testing.T) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range all {
		content, err := os.ReadFile(stat)
		if err != nil {
			continue // The process has ended.
		}
		var pid, parent int
		var name, state string
		if n, _ := fmt.Sscan(string(content), &pid, &name, &state, &parent); n < 4 || name != "(ffmpeg)" {
			continue
		}
		if ours(parent) {
			return true
		}
	}
	return false
}
