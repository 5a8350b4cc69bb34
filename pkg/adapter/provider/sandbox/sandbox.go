// Package sandbox is the provider of test keys. It is free, makes no call, and is deterministic. Its media are real
// files of the requested length, shape and size, made by pkg/adapter/provider/sandbox.
//
// It keeps no state: the handle contains everything that later steps need. Start with Provider.
package sandbox

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image/color"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

// Name is the provider's name.
const Name = "sandbox"

const (
	maxSeconds = 600
	maxImages  = 10
)

// Provider is the sandbox.
type Provider struct {
	provider.Jobs
	now   func() time.Time
	alike bool
}

var _ provider.Provider = (*Provider)(nil)

// New makes a sandbox with the given clock.
func New(now func() time.Time) *Provider {
	p := &Provider{now: now}
	p.Jobs = p.look
	return p
}

// NewAlike makes a sandbox that shows the same in all pictures and clips, so that it draws each size once. It is for
// tests of many items, which would draw for most of their time.
func NewAlike(now func() time.Time) *Provider {
	p := New(now)
	p.alike = true
	return p
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider. It covers every model of the catalog, so that a test key can rehearse all
// of them.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		ClientToken: true,
		Kinds: map[provider.Kind]provider.Capability{
			provider.KindText:   {},
			provider.KindImage:  {AspectRatios: ratios[provider.KindImage], MaxCount: maxImages, FromImage: true},
			provider.KindVideo:  {AspectRatios: ratios[provider.KindVideo], MaxSeconds: maxSeconds, FromImage: true},
			provider.KindMusic:  {MaxSeconds: maxSeconds},
			provider.KindVoice:  {FromAudio: true},
			provider.KindAvatar: {AspectRatios: ratios[provider.KindAvatar], FromImage: true, FromAudio: true},
		},
	}
}

// work is a generation as encoded in its handle.
type work struct {
	Kind   provider.Kind `json:"k"`
	Width  int           `json:"w,omitempty"`
	Height int           `json:"y,omitempty"`
	Length int64         `json:"m,omitempty"` // milliseconds
	Count  int           `json:"n,omitempty"`
	Slides int           `json:"s,omitempty"`
	// Sources are those that a text may quote.
	Sources int `json:"r,omitempty"`
	// Pictures are those that a text describes.
	Pictures int                     `json:"p,omitempty"`
	Head     bool                    `json:"x,omitempty"` // of a text: whether it has a headline
	Plain    bool                    `json:"i,omitempty"` // of a text: whether it is to be written without samples
	Short    []provider.ShortVersion `json:"u,omitempty"` // of a text
	Tags     int                     `json:"g,omitempty"` // of a text: the most hashtags
	Script   int                     `json:"q,omitempty"` // of a text: the seconds of its script
	Scenes   int                     `json:"e,omitempty"` // of a script
	Lang     string                  `json:"l,omitempty"`
	Topic    string                  `json:"t,omitempty"` // the beginning of the prompt
	About    *provider.About         `json:"o,omitempty"` // of a text
	Seed     uint32                  `json:"h,omitempty"` // hash of the prompt
	Mood     uint32                  `json:"d,omitempty"` // of a picture or clip: what chooses its colors
	Colors   []color.RGBA            `json:"c,omitempty"` // of a picture or clip: those of the brand
	Fail     provider.FailureCode    `json:"f,omitempty"`
	Start    int64                   `json:"a,omitempty"` // Unix milliseconds
	End      int64                   `json:"z,omitempty"`
}

// Submit implements provider.Provider. The handle depends only on the request. A form, and text without a delay, are
// returned at once, as by real models.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := ctx.Err(); err != nil {
		return provider.Submission{}, err
	}
	capabilities := p.Capabilities()
	if err := req.Validate(capabilities); err != nil {
		return provider.Submission{}, err
	}
	if req.Form != nil {
		if req.Rehearsal.Fail {
			return provider.Submission{}, provider.FailureOf(cmp.Or(req.Rehearsal.Code, provider.FailedGeneration))
		}
		return provider.Submission{Result: &provider.Result{Object: req.Form.Sample}}, nil
	}
	w := work{Kind: req.Kind, Seed: hash(req.Prompt)}
	if req.Rehearsal.Fail {
		w.Fail = cmp.Or(req.Rehearsal.Code, provider.FailedGeneration)
	}
	w.Width, w.Height = size(req)
	w.Length = length(req).Milliseconds()
	switch req.Kind {
	case provider.KindImage:
		w.Count = max(req.Count, 1)
		w.Mood, w.Colors = mood(req.Prompt), colors(req.Prompt)
	case provider.KindVideo, provider.KindAvatar:
		w.Mood, w.Colors = mood(req.Prompt), colors(req.Prompt)
	case provider.KindText:
		w.Sources = min(max(req.Sources, 0), maxImages)
		w.Pictures, w.Head = min(max(req.Pictures, 0), maxImages), req.Headline
		w.Plain = req.Repair != nil
		w.Slides, w.Script = min(req.Slides, maxImages), min(max(req.ScriptSeconds, 0), maxSeconds)
		if w.Script > 0 {
			w.Scenes = min(max(req.Scenes, 1), w.Script)
		}
		w.Short, w.Tags = req.Short[:min(len(req.Short), maxImages)], req.Hashtags
		w.Lang, w.Topic, w.About = samples.WrittenIn(req.Language), topic(req.Prompt), fit(req.About)
	}
	if p.alike && w.Kind != provider.KindText {
		w.Seed, w.Mood, w.Colors = 0, 0, nil
	}
	if r := req.Rehearsal; r.Delay > 0 {
		w.Start, w.End = r.Start.UnixMilli(), r.Start.Add(r.Delay).UnixMilli()
	}
	if w.Kind == provider.KindText && w.remaining(p.now()) <= 0 {
		result, err := w.result()
		if err != nil {
			return provider.Submission{}, err
		}
		return provider.Submission{Result: &result}, nil
	}
	h, err := w.handle()
	return provider.Submission{Handle: h}, err
}

// look finds out how far a work is.
func (p *Provider) look(ctx context.Context, h provider.Handle) (provider.Job, error) {
	w, err := parse(ctx, h)
	if err != nil {
		return provider.Job{}, err
	}
	now := p.now()
	if wait := w.remaining(now); wait > 0 {
		elapsed, whole := now.UnixMilli()-w.Start, w.End-w.Start
		progress := min(max(100*elapsed/whole, 0), 99)
		return provider.Job{State: provider.Running, Progress: int(progress), Wait: wait}, nil
	}
	if w.Fail != "" {
		return provider.Job{State: provider.Failed, Failure: provider.FailureOf(w.Fail)}, nil
	}
	return provider.Job{State: provider.Succeeded, Result: w.result}, nil
}

// Cancel implements provider.Provider. There is nothing to stop.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	_, err := parse(ctx, h)
	return err
}

// remaining returns the time until the generation ends.
func (w work) remaining(now time.Time) time.Duration {
	return time.UnixMilli(w.End).Sub(now)
}

func (w work) result() (provider.Result, error) {
	if w.Fail != "" {
		return provider.Result{}, provider.FailureOf(w.Fail)
	}
	if w.Kind == provider.KindText {
		t := w.text()
		return provider.Result{Text: &t}, nil
	}
	var result provider.Result
	for i := range max(w.Count, 1) {
		content, err := w.file(uint32(i))
		if err != nil {
			// A handle can be well formed and still be forged.
			return provider.Result{}, badHandle(err)
		}
		result.Media = append(result.Media, provider.FileOf(content))
	}
	return result, nil
}

func (w work) handle() (provider.Handle, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("sandbox: handle: %w", err)
	}
	return provider.Handle(base64.RawURLEncoding.EncodeToString(raw)), nil
}

func parse(ctx context.Context, h provider.Handle) (work, error) {
	if err := ctx.Err(); err != nil {
		return work{}, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(h))
	if err != nil {
		return work{}, badHandle(err)
	}
	var w work
	if err := json.Unmarshal(raw, &w); err != nil {
		return work{}, badHandle(err)
	}
	if w.Count < 0 || w.Count > maxImages || w.Slides < 0 || w.Slides > maxImages || w.Pictures < 0 ||
		w.Pictures > maxImages || w.Script < 0 ||
		w.Script > maxSeconds || w.Scenes < 0 || w.Scenes > w.Script || w.End < w.Start ||
		len(w.Colors) > maxColors {
		return work{}, badHandle(fmt.Errorf("%+v is out of bounds", w))
	}
	if err := w.check(); err != nil {
		return work{}, badHandle(err)
	}
	return w, nil
}

func badHandle(cause error) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: "unknown_generation",
		Message: "The provider does not know the generation.", Cause: cause}
}

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
		if given := max(req.SpeechLength, asked); given > 0 {
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
var hexColor = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`#[0-9a-fA-F]{6}\b`)
})

// colors returns the first colors that a prompt names.
func colors(prompt string) (all []color.RGBA) {
	for _, found := range hexColor().FindAllString(prompt, maxColors) {
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

const (
	maxTopic = 160 // characters of the prompt that a text is made from
	// Characters of what a text is about.
	maxProduct, maxAbout, maxName, maxWord = 60, 100, 40, 20
)

// topic returns the beginning of the prompt on one line, without the end of a sentence. It is never empty.
func topic(prompt string) string {
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(prompt, ""))
	line := strings.Join(strings.Fields(printable), " ")
	if line = strings.TrimRight(provider.Clip(line, maxTopic), ".!?…,;: "); line == "" {
		return Name
	}
	return line
}

// fit returns what a text is about, in lengths that fit into a handle.
func fit(a provider.About) *provider.About {
	for _, m := range []struct {
		text *string
		most int
	}{{&a.Kind, maxWord}, {&a.Type, maxWord}, {&a.Name, maxName}, {&a.Product, maxProduct}, {&a.Description, maxAbout},
		{&a.Channel, maxAbout},
		{&a.Price, maxName}, {&a.Was, maxName}, {&a.Until, maxWord}} {
		*m.text = provider.Clip(provider.OneLine(*m.text), m.most)
	}
	return &a
}

// text writes a text: about the topic, or the product, as the kind of content and the type of factory have it. A text
// that was refused is written with none of its words.
func (w work) text() provider.Text {
	t := w.sample()
	if !w.Plain {
		return t
	}
	const word = "Test"
	t.Title, t.Caption, t.Hashtags, t.Hooks = word, word+".", []string{Name}, []string{word, word, word}
	if w.Head {
		t.Headline = word
	}
	for i := range t.Short {
		t.Short[i].Caption = word + "."
	}
	for i := range t.Pictures {
		t.Pictures[i].Alt = word
	}
	for i := range t.Slides {
		t.Slides[i].Heading, t.Slides[i].Body, t.Slides[i].Alt = word, "", word
	}
	for i := range t.Scenes {
		t.Scenes[i].Text, t.Scenes[i].OnScreen = word+".", ""
	}
	return t
}

func (w work) sample() provider.Text {
	o := samples.Order{Language: w.Lang, Topic: w.Topic, Slides: w.Slides, Pictures: w.Pictures, Scenes: w.Scenes,
		Seconds: w.Script, Sources: w.Sources, Headline: w.Head, Short: w.Short, Hashtags: w.Tags, Seed: w.Seed}
	if w.About != nil {
		o.About = *w.About
	}
	return samples.Write(o)
}

// The bounds of the files that are kept.
const (
	keptFiles = 32
	keptBytes = 16 << 20
)

// files keeps the files that were made last. A fetch is repeated if its answer or the process is lost, and callers who
// try the service repeat their prompts: drawing takes most of the time of a sandbox item.
type files struct {
	mu     sync.Mutex
	byName map[string][]byte
	names  []string // in the order of their use, the last one at the end
	bytes  int
}

// recent has the files of the process.
var recent files

// get returns the file of a name, which make makes if it is not kept.
func (f *files) get(name string, make func() ([]byte, error)) ([]byte, error) {
	if file, ok := f.kept(name); ok {
		return file, nil
	}
	file, err := make() // two callers may make the same file at the same time
	if err != nil {
		return nil, err
	}
	f.keep(name, file)
	return file, nil
}

func (f *files) kept(name string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.byName[name]
	if ok {
		i := slices.Index(f.names, name)
		f.names = append(slices.Delete(f.names, i, i+1), name)
	}
	return file, ok
}

// keep keeps a file, and forgets those that were used least recently and exceed the bounds.
func (f *files) keep(name string, file []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.byName[name]; ok || len(file) > keptBytes {
		return
	}
	if f.byName == nil {
		f.byName = map[string][]byte{}
	}
	f.byName[name], f.names, f.bytes = file, append(f.names, name), f.bytes+len(file)
	for f.bytes > keptBytes || len(f.names) > keptFiles {
		f.bytes -= len(f.byName[f.names[0]])
		delete(f.byName, f.names[0])
		f.names = f.names[1:]
	}
}
