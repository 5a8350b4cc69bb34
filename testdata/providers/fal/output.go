package fal

import (
	"encoding/hex"
	"fmt"
	"math"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
)

// output is the output of a request.
type output struct {
	kind  string
	ratio string
	count int
	hex   bool // the sound itself instead of its address
	named string
	// length is the length of a clip, track or speech. 0 means the length of the sample.
	length time.Duration
}

// file returns the n-th file of an output.
func (f *Fake) file(o output, n uint) (name string, content []byte, err error) {
	if o.length > 0 {
		return sample.Lasting(o.kind, o.ratio, n, o.length)
	}
	return f.samples(o.kind, o.ratio, n)
}

// lengthOf returns the length that an input requests, or 0 if it requests none.
func lengthOf(kind string, input map[string]any, prompt string) time.Duration {
	if kind == sample.Voice {
		return sample.Spoken(prompt)
	}
	for name, unit := range map[string]time.Duration{"duration": time.Second, "seconds_total": time.Second,
		"music_length_ms": time.Millisecond} {
		if n, err := strconv.ParseFloat(strings.TrimSuffix(fmt.Sprint(input[name]), "s"), 64); err == nil {
			return time.Duration(n * float64(unit))
		}
	}
	return 0
}

// made returns the body of a result.
func (f *Fake) made(r *http.Request, job control.Job[request]) (map[string]any, error) {
	o := job.Work.output
	files := make([]map[string]any, o.count)
	for i := range files {
		name, content, err := f.file(o, uint(i))
		if err != nil {
			return nil, err
		}
		files[i] = map[string]any{
			"url":          fmt.Sprintf("%s/files/%s/%d/%s", control.Base(r), job.ID, i, name),
			"content_type": mime.TypeByExtension(path.Ext(name)), "file_name": name, "file_size": len(content),
		}
		if o.hex {
			return map[string]any{"audio": hex.EncodeToString(content)}, nil
		}
	}
	if o.kind == sample.Image {
		safe := make([]bool, o.count)
		return map[string]any{"images": files, "has_nsfw_concepts": safe, "seed": 42}, nil
	}
	return map[string]any{o.named: files[0], "seed": 42}, nil
}

// media serves a file of a request. Like fal's files, it needs no credential.
func (f *Fake) media(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	job, phase, _, found := f.jobs.Find(parts[1])
	n, err := strconv.ParseUint(parts[2], 10, 8)
	if !found || err != nil || phase != control.Succeeded || int(n) >= job.Work.output.count ||
		!f.now().Before(job.Work.gone) {
		http.NotFound(w, r)
		return
	}
	name, content, err := f.file(job.Work.output, uint(n))
	if err != nil || name != parts[3] {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(content) // the caller may have gone
}

// shapes are the aspect ratios of the outputs.
var shapes = []string{"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"}

// nearest returns the aspect ratio that is closest to a size.
func nearest(width, height float64) string {
	best, off := "", math.Inf(1)
	for _, s := range shapes {
		across, down, _ := strings.Cut(s, ":")
		w, _ := strconv.ParseFloat(across, 64)
		h, _ := strconv.ParseFloat(down, 64)
		if d := math.Abs(math.Log(width / height * h / w)); d < off {
			best, off = s, d
		}
	}
	return best
}

// shapeOf returns the aspect ratio that an input requests, or "" if it requests none.
func shapeOf(input map[string]any) string {
	if ratio, ok := input["aspect_ratio"].(string); ok && ratio != "auto" {
		return ratio
	}
	switch size := input["image_size"].(type) {
	case map[string]any:
		width, _ := size["width"].(float64)
		height, _ := size["height"].(float64)
		return nearest(width, height)
	case string:
		return map[string]string{"portrait_4_3": "3:4", "portrait_16_9": "9:16", "landscape_4_3": "4:3",
			"landscape_16_9": "16:9"}[size]
	}
	if resolution, ok := input["resolution"].(string); ok {
		if across, down, ok := strings.Cut(resolution, "x"); ok {
			w, _ := strconv.ParseFloat(across, 64)
			h, _ := strconv.ParseFloat(down, 64)
			return nearest(w, h)
		}
	}
	return ""
}
