package bedrock

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/providers/control"
)

// invoke serves POST /model/{model}/invoke.
func (f *fake) invoke(w http.ResponseWriter, r *http.Request) {
	model, ok := f.check(w, r.PathValue("model"), "image")
	if !ok {
		return
	}
	if accept := r.Header.Get("Accept"); accept != "" && accept != "application/json" && accept != "*/*" {
		invalid(w, "The accept type is not supported by the model.")
		return
	}
	f.stability(w, r, model)
}

// stabilitySizes are the sizes of pictures in pixels, by aspect ratio.
var stabilitySizes = map[string]image.Point{
	"1:1": {X: 1024, Y: 1024}, "4:5": {X: 896, Y: 1120}, "5:4": {X: 1120, Y: 896}, "9:16": {X: 756, Y: 1344},
	"16:9": {X: 1344, Y: 756},
	"2:3":  {X: 832, Y: 1248}, "3:2": {X: 1248, Y: 832}, "21:9": {X: 1512, Y: 648}, "9:21": {X: 648, Y: 1512},
}

const maxStabilityPrompt = 10_000

func (f *fake) stability(w http.ResponseWriter, r *http.Request, model string) {
	var body struct {
		Prompt         *string `json:"prompt"`
		Mode           *string `json:"mode"`
		AspectRatio    *string `json:"aspect_ratio"`
		OutputFormat   *string `json:"output_format"`
		Seed           *uint32 `json:"seed"`
		NegativePrompt *string `json:"negative_prompt"`
	}
	sent, ok := read(w, r, &body)
	if !ok {
		return
	}
	ratio := "1:1"
	if body.AspectRatio != nil {
		ratio = *body.AspectRatio
	}
	size, known := stabilitySizes[ratio]
	switch {
	case body.Prompt == nil || *body.Prompt == "" || utf8.RuneCountInString(*body.Prompt) > maxStabilityPrompt:
		invalid(w, "prompt: expected 1 to 10000 characters")
	case !known:
		invalid(w, "aspect_ratio: "+ratio+" is not a valid enum value")
	case body.Mode != nil && *body.Mode != "text-to-image":
		invalid(w, "mode: "+*body.Mode+" needs an image")
	case body.OutputFormat != nil && !slices.Contains([]string{"png", "jpeg"}, *body.OutputFormat):
		invalid(w, "output_format: "+*body.OutputFormat+" is not a valid enum value")
	case body.Seed != nil && *body.Seed > 1<<32-2:
		invalid(w, "seed: out of range")
	default:
		f.Control.Accept(control.Acceptance{Provider: Name, Operation: control.Submit, Model: model,
			Prompt: *body.Prompt, Input: sent})
		if control.JobFails(r.Context()) {
			write(w, http.StatusOK, map[string]any{"finish_reasons": []string{"Inference error"}})
			return
		}
		if strings.Contains(*body.Prompt, Filtered) {
			write(w, http.StatusOK, map[string]any{"finish_reasons": []string{"Filter reason: prompt"}})
			return
		}
		seed := uint32(1)
		if body.Seed != nil {
			seed = *body.Seed
		}
		write(w, http.StatusOK, map[string]any{
			"seeds": []uint32{seed}, "finish_reasons": []any{nil},
			"images": []string{picture(size, *body.Prompt, seed)},
		})
	}
}

// picture draws two fields with colours derived from the prompt and the seed, and returns a
// PNG in base64.
func picture(size image.Point, prompt string, seed uint32) string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, prompt) // A hash returns no errors.
	hue := h.Sum32() ^ seed
	shade := func(n uint32) color.Color { return color.RGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), 255} }
	m := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{shade(hue), shade(hue * 2654435761)})
	for y := size.Y / 2; y < size.Y; y++ {
		row := m.Pix[y*m.Stride : y*m.Stride+size.X]
		for x := range row {
			row[x] = 1
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m); err != nil {
		panic(err) // A buffer returns no errors.
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// same reports whether two requests are equal, except for the order of their members.
func same(a, b map[string]any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
