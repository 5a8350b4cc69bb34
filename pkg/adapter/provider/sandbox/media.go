package sandbox

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"image/color"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// ratios are the aspect ratios of each kind. The first of each is the default.
var ratios = map[provider.Kind][]string{
	provider.KindImage:  {"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"},
	provider.KindVideo:  {"9:16", "16:9", "1:1", "3:4", "4:3", "21:9"},
	provider.KindAvatar: {"9:16", "16:9", "1:1"},
}

// The defaults if neither the request nor the model determines them.
const (
	usualEdge  = 1080 // the shorter edge of a clip
	usualVideo = 5 * time.Second
	usualMusic = 30 * time.Second
)

const (
	maxEdge     = 4096
	maxColors   = 2
	maxMinutes  = 60
	minSpeaking = time.Second
)

// size returns the size of a picture or clip, like the models': pictures have a megapixel, and the shorter edge of
// clips is the resolution.
func size(req provider.Request) (width, height int) {
	all := ratios[req.Kind]
	if len(all) == 0 {
		return 0, 0
	}
	ratio := req.AspectRatio
	if ratio == "" {
		ratio = req.ImageRatio
	}
	across, down, ok := provider.ParseRatio(ratio)
	if !ok {
		ratio = all[0]
		across, down, _ = provider.ParseRatio(ratio)
	}
	if req.Kind == provider.KindImage {
		return provider.ImageSize(ratio, 1)
	}
	edge := usualEdge
	if _, err := fmt.Sscanf(req.Resolution, "%dp", &edge); err != nil || edge < 16 || edge > maxEdge/3 {
		edge = usualEdge
	}
	longer := int(math.Round(float64(edge)*max(across/down, down/across)/2)) * 2
	if across > down {
		return longer, edge
	}
	return edge, longer
}

// length returns the length of a clip or sound. Speech takes as long as its text, unless the request has a length.
func length(req provider.Request) time.Duration {
	asked := time.Duration(req.Seconds) * time.Second
	switch req.Kind {
	case provider.KindVideo:
		return cmp.Or(asked, usualVideo)
	case provider.KindMusic:
		return cmp.Or(asked, usualMusic)
	case provider.KindVoice, provider.KindAvatar:
		if given := max(req.Spoken, asked); given > 0 {
			return min(given, maxMinutes*time.Minute)
		}
		return min(max(provider.SpokenLength(req.Prompt), minSpeaking), maxMinutes*time.Minute)
	}
	return 0
}

// hash returns a number that follows from a text.
func hash(text string) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, text) // a hash does not fail
	return h.Sum32()
}

// mood returns the number that chooses the colors of a picture. The pictures of one content item have the same subject,
// and so the same colors.
func mood(prompt string) uint32 {
	if _, after, ok := strings.Cut(prompt, "Subject: "); ok {
		prompt, _, _ = strings.Cut(after, ". ")
	}
	return hash(prompt)
}

// hexColor finds the colors of a brand in a prompt.
var hexColor = regexp.MustCompile(`#[0-9a-fA-F]{6}\b`)

// colors returns the first colors that a prompt names.
func colors(prompt string) (all []color.RGBA) {
	for _, found := range hexColor.FindAllString(prompt, maxColors) {
		n, _ := strconv.ParseUint(found[1:], 16, 32) // the expression has found a number
		all = append(all, color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255})
	}
	return all
}

// check refuses work that Submit would not have made.
func (w work) check() error {
	switch w.Kind {
	case provider.KindText, provider.KindMusic, provider.KindVoice, provider.KindImage, provider.KindVideo,
		provider.KindAvatar:
	default:
		return fmt.Errorf("the kind %q is unknown", w.Kind)
	}
	if visible := len(ratios[w.Kind]) > 0; visible && (w.Width < 16 || w.Height < 16 || w.Width > maxEdge ||
		w.Height > maxEdge) {
		return fmt.Errorf("%d x %d pixels are out of bounds", w.Width, w.Height)
	}
	if lasting := w.Kind != provider.KindText && w.Kind != provider.KindImage; lasting &&
		(w.Length <= 0 || w.Length > (maxMinutes*time.Minute).Milliseconds()) {
		return fmt.Errorf("%d ms are out of bounds", w.Length)
	}
	return nil
}

// file makes the i-th file of the result.
func (w work) file(i uint32) ([]byte, error) {
	scene := Scene{Width: w.Width, Height: w.Height, Seed: w.Seed + i, Mood: w.Mood, Colors: w.Colors}
	plays := time.Duration(w.Length) * time.Millisecond
	switch w.Kind {
	case provider.KindImage:
		return JPEG(scene)
	case provider.KindVideo:
		return MP4(scene, plays, false)
	case provider.KindAvatar:
		return MP4(scene, plays, true)
	default:
		return MP3(w.Seed, plays)
	}
}
