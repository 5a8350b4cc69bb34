package item

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
)

// all is the offer of a stack with every provider.
var all = catalog.NewOffer("bedrock,polly,fal,replicate,elevenlabs,heygen", "us-west-2", nil)

// voiced is a factory with settings of every kind.
func voiced() Factory {
	return Factory{
		Type: "brand", Name: "Acme", Description: "Shoes of nets.", Audience: "Runners", Tone: "warm",
		Topics:   []string{"shoes", "sea"},
		Settings: []byte(`{"brand_name":"Acme","colors":["#ff6600","#003366"],"voice_rules":["say you"],"forbidden_words":["cheap"]}`),
		Models:   map[string]string{},
	}
}

// recordOf returns a record as it is when an item is planned.
func recordOf(t *testing.T, kind Kind, format, language string, f Factory) *Record {
	t.Helper()
	r := &Record{Item: Item{Kind: kind, Content: Content{Prompt: "A shoe for trails"}, Language: language, Attempt: 1}}
	r.Item.ID = "cnt_1"
	if format != "" {
		r.Item.Format = &format
	}
	if kind == Carousel {
		r.Item.Slides, r.CallerTexts.Slides = []Slide{{}, {Text: "Two"}, {}}, []int{1}
	}
	var err error
	if r.Brief, err = NewBrief(f); err != nil {
		t.Fatal(err)
	}
	return r
}

// plans are the parts of each shape of content. A part without a model has the catalog's default.
var plans = map[string]struct {
	kind    Kind
	format  string
	options Options
	parts   string // the kind of each part, its model unless it is the default, its ratio, its seconds; and how often
}{
	"a post":            {Post, "", Options{}, "text, image 4:5, compose"},
	"a post of a model": {Post, "", Options{Model: "nano-banana"}, "text, image nano-banana 4:5, compose"},
	"a short video":     {Video, FormatShort, Options{}, "text 19s of 4, voice 19s, 4 x video 9:16 5s, compose"},
	"the shortest one": {Video, FormatShort, Options{DurationSeconds: new(10)},
		"text 9s of 2, voice 9s, 2 x video 9:16 5s, compose"},
	"the longest short one": {Video, FormatShort, Options{DurationSeconds: new(60)},
		"text 59s of 12, voice 59s, 12 x video 9:16 5s, compose"},
	"an odd length": {Video, FormatShort, Options{DurationSeconds: new(17)},
		"text 16s of 4, voice 16s, 4 x video 9:16 5s, compose"},
	"a short video of veo": {Video, FormatShort, Options{Model: "veo-3.1"}, "text 19s of 4, voice 19s, 4 x video " +
		"veo-3.1 9:16 6s, compose"},
	"a long video": {Video, FormatLong, Options{}, "text 59s of 8, voice 59s, 8 x video 16:9 8s, compose"},
	"a long video of veo": {Video, FormatLong, Options{Model: "veo-3.1", DurationSeconds: new(180)},
		"text 179s of 23, voice 179s, 23 x video veo-3.1 16:9 8s, compose"},
	"one of stills": {Video, FormatShort, Options{Visuals: VisualsStills},
		"text 19s of 4, voice 19s, 4 x image 9:16, compose"},
	"a long one of stills": {Video, FormatLong, Options{Visuals: VisualsStills, Model: "nano-banana",
		DurationSeconds: new(30)}, "text 29s of 6, voice 29s, 6 x image nano-banana 16:9, compose"},
	"one with music": {Video, FormatShort, Options{Music: MusicGenerated},
		"text 19s of 4, voice 19s, music 20s, 4 x video 9:16 5s, compose"},
	"a video from stills": {Video, FormatShort, Options{Model: "kling-2.6-pro"},
		"text 19s of 4, voice 19s, 4 x image 9:16 + video kling-2.6-pro 5s, compose"},
	"shaped ones": {Video, FormatShort, Options{Model: "runway-gen-4-turbo"}, "text 19s of 4, voice 19s, 4 x image 9:16 " +
		"+ video runway-gen-4-turbo 9:16 5s, compose"},
	"a carousel": {Carousel, "", Options{}, "text, 3 x image 4:5, compose"},
	"one of a terse model": {Carousel, "", Options{Model: "flux-pro-1.1-ultra"},
		"text, 3 x image flux-pro-1.1-ultra 1:1, compose"},
	"a video of Wan": {Video, FormatShort, Options{Model: "wan-2.5"}, "text 19s of 4, voice 19s, 4 x video " +
		"wan-2.5 9:16 5s, compose"},
	"a story":           {Story, "", Options{}, "text, image 9:16, compose"},
	"a clip as a story": {Story, "", Options{Model: "kling-3-turbo-pro"}, "text, video 9:16 5s, compose"},
	"the longest clip": {Story, "", Options{Model: "kling-3-turbo-pro", DurationSeconds: new(15)},
		"text, video 9:16 15s, compose"},
	"a clip from a picture": {Story, "", Options{Model: "runway-gen-4-turbo", DurationSeconds: new(7)},
		"text, image 9:16 + video runway-gen-4-turbo 9:16 10s, compose"},
	"a music clip": {MusicClip, "", Options{}, "text, image 1:1, music 30s, compose"},
	"a track of ace-step": {MusicClip, "", Options{Model: "ace-step", DurationSeconds: new(60)},
		"text, image 1:1, music ace-step 60s, compose"},
}

// shown describes a part.
func shown(p part) string {
	words := []string{string(p.Kind)}
	if p.Model != "" && p.Model != catalog.Default(p.Kind).ID {
		words = append(words, p.Model)
	}
	if p.Ratio != "" {
		words = append(words, p.Ratio)
	}
	if p.Seconds > 0 {
		words = append(words, fmt.Sprintf("%ds", p.Seconds))
	}
	if p.Scenes > 0 {
		words = append(words, fmt.Sprintf("of %d", p.Scenes))
	}
	return strings.Join(words, " ")
}

// shownAll describes parts: those of equal slides or scenes once.
func shownAll(parts []part) string {
	var all []string
	for n := 0; n < len(parts); {
		one, number := shown(parts[n]), parts[n].Number
		for n++; n < len(parts) && (parts[n].Number > 0 && parts[n].Number == number ||
			parts[n-1].Role == roleStill); n++ {
			one += " + " + shown(parts[n])
		}
		if last := len(all) - 1; number > 1 && last >= 0 {
			count, what, _ := strings.Cut(all[last], " x ")
			if times, err := strconv.Atoi(count); err == nil && what == one && times == number-1 {
				all[last] = fmt.Sprintf("%d x %s", number, one)
				continue
			}
		}
		if number > 0 {
			one = "1 x " + one
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

func TestWhatEachKindIsMadeOf(t *testing.T) {
	for name, c := range plans {
		r := recordOf(t, c.kind, c.format, "en", voiced())
		if err := PlannerOf(r).Plan(all, c.options, true); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var credits int64
		for _, p := range r.Attempt.Parts {
			if p.Kind == provider.KindCompose {
				continue
			}
			// Each part has its price, rounded by itself; and its model can make it.
			m, _ := catalog.Find(p.Model)
			req := writerOf(r).foreseen(p)
			price, err := m.PriceOf(req)
			if err != nil || p.Provider != m.Provider || m.Kind != p.Kind || m.Check(req, "") != nil {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
			credits += price
		}
		if got := shownAll(r.Attempt.Parts); got != c.parts {
			t.Errorf("%s is made of %q, want %q", name, got, c.parts)
		}
		if r.Attempt.Credits != credits || credits == 0 {
			t.Errorf("%s costs %d, its parts %d", name, r.Attempt.Credits, credits)
		}
		if m, _ := catalog.Find(string(r.Item.Model)); c.options.Model != "" &&
			string(r.Item.Model) != c.options.Model ||
			m.Kind == provider.KindText {
			t.Errorf("%s is made by %s", name, r.Item.Model)
		}
		before := shownAll(r.Attempt.Parts)
		if err := PlannerOf(r).Plan(all, Options{Model: string(r.Item.Model)}, false); err != nil ||
			r.Attempt.Credits != 0 ||
			shownAll(r.Attempt.Parts) != before {
			t.Errorf("%s again in the sandbox: %d, %v, %s", name, r.Attempt.Credits, err, shownAll(r.Attempt.Parts))
		}
	}
}

// tooLong reports whether a model would refuse its prompt.
func tooLong(p part, req provider.Request) bool {
	m, _ := catalog.Find(p.Model)
	bounds := m.Capabilities.PromptCharacters
	return len(bounds) == 2 && utf8.RuneCountInString(req.Prompt) > bounds[1]
}

// The final requests never cost more than the estimate.
func TestWhatIsAskedForCostsWhatWasForeseen(t *testing.T) {
	long := provider.Text{
		Title: strings.Repeat("t", 150), Caption: strings.Repeat("c", 2200),
		Slides: []provider.Slide{{Heading: strings.Repeat("1", 150)}, {Heading: "ignored"}, {Heading: "3"}},
	}
	for range 30 {
		long.Scenes = append(long.Scenes, provider.Scene{Text: strings.Repeat("Words. ", 100),
			Visual: strings.Repeat("seen ", 60)})
	}
	for name, c := range plans {
		r := recordOf(t, c.kind, c.format, "en", voiced())
		r.Item.Prompt = strings.Repeat("Длинный запрос ", 266)
		if err := PlannerOf(r).Plan(all, c.options, true); err != nil {
			t.Fatal(err)
		}
		var made []generate.PartResult
		var total int64
		for n, p := range r.Attempt.Parts[:len(r.Attempt.Parts)-1] {
			req, err := makerOf(r).request(n, made, func(f media.File) (string, error) {
				return "https://signed/" +
					f.ID, nil
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if strings.TrimSpace(req.Prompt) == "" || p.Kind != provider.KindText && p.Kind != provider.KindVoice &&
				utf8.RuneCountInString(req.Prompt) > maxPrompt || tooLong(p, req) {
				t.Errorf("%s: part %d has a prompt of %d characters", name, n, utf8.RuneCountInString(req.Prompt))
			}
			one := generate.PartResult{Files: []media.File{{ID: string(p.Role), DurationSeconds: 7.5}}}
			switch p.Kind {
			case provider.KindText:
				one = generate.PartResult{Text: &long}
			case provider.KindVideo:
				if want := map[bool]string{true: "https://signed/still"}[p.FromStill]; req.ImageURL != want {
					t.Errorf("%s starts from %q", name, req.ImageURL)
				}
			}
			made = append(made, one)
			if m, ok := catalog.Find(p.Model); ok {
				price, err := m.PriceOf(req)
				if err != nil || m.Check(req, "") != nil {
					t.Errorf("%s: part %d: %v, %v", name, n, err, m.Check(req, ""))
				}
				total += price
			}
		}
		if total > r.Attempt.Credits {
			t.Errorf("%s costs %d, and %d were reserved", name, total, r.Attempt.Credits)
		}
	}
}

func TestModelsThatCannotAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kind     Kind
		format   string
		model    string
		language string
		offer    catalog.Offer
		param    string
		says     string
	}{
		"another shape":              {Post, "", "flux-pro-1.1-ultra", "en", all, "/model", "aspect_ratio"},
		"what sings":                 {MusicClip, "", "minimax-music-2", "en", all, "/model", "lyrics"},
		"what starts from a picture": {Post, "", "flux-kontext-pro", "en", all, "/model", "image_url"},
		"an unknown model":           {Post, "", "nobody", "en", all, "/model", "nobody"},
		"a retired one":              {Post, "", "nano-banana-2", "en", all, "/model", "successor"},
		"another kind":               {Post, "", "veo-3.1", "en", all, "/model", "makes video"},
		"music as a story":           {Story, "", "ace-step", "en", all, "/model", "makes music"},
		"a provider that is not there": {Video, FormatShort, "runway-gen-4.5", "en",
			catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2", nil), "/model", "not set up"},
		"no voice at all": {Video, FormatShort, "", "en", catalog.NewOffer("bedrock", "us-west-2", nil), "",
			"No provider"},
		"nobody who speaks": {Video, FormatShort, "", "eo", all, "/language", "eo"},
		"nobody who speaks here": {Video, FormatShort, "", "af",
			catalog.NewOffer("bedrock,fal,polly", "us-west-2", nil), "", ""},
	} {
		r := recordOf(t, c.kind, c.format, c.language, voiced())
		err := PlannerOf(r).Plan(c.offer, Options{Model: c.model}, true)
		if name == "nobody who speaks here" {
			if err != nil || r.Attempt.Parts[1].Model != "minimax-speech-2.8-hd" {
				t.Errorf("%s: %+v, %v", name, r.Attempt.Parts, err)
			}
			continue
		}
		if e := errs.As(err); err == nil || e.Code != errs.UnsupportedModel || e.Param != c.param ||
			!strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever has named no model is told whose it is that cannot make the item.
func TestARefusalOfTheFactorysModelTellsThatItIsTheFactorys(t *testing.T) {
	f := voiced()
	f.Models = map[string]string{"image": "flux-pro-1.1-ultra", "music": "minimax-music-2"}
	for name, c := range map[string]struct {
		kind  Kind
		model string
		tells bool
	}{
		"of another shape":  {Post, "", true},
		"one that sings":    {MusicClip, "", true},
		"one of the caller": {Post, "flux-pro-1.1-ultra", false},
	} {
		err := PlannerOf(recordOf(t, c.kind, "", "en", f)).Plan(all, Options{Model: c.model}, true)
		if e := errs.As(err); err == nil || e.Code != errs.UnsupportedModel || e.Param != "/model" ||
			strings.Contains(e.Message, "It is the factory's") != c.tells {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheFactorysModelsMakeWhatGoesAlong(t *testing.T) {
	f := voiced()
	f.Models = map[string]string{"text": "claude-haiku-5.5", "voice": "polly-neural", "image": "flux-schnell",
		"video": "kling-2.6-pro"}
	r := recordOf(t, Video, FormatShort, "en", f)
	if err := PlannerOf(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	var models []string
	for _, p := range r.Attempt.Parts {
		models = append(models, p.Model)
	}
	if want := "claude-haiku-5.5 polly-neural" + strings.Repeat(" flux-schnell kling-2.6-pro", 4) +
		" "; strings.Join(models, " ") != want {
		t.Errorf("made by %q", models)
	}
	// Those that cannot be used, or cannot do it, are passed over.
	f.Models = map[string]string{"text": "nova-pro", "voice": "polly-long-form"}
	r = recordOf(t, Video, FormatShort, "de", f)
	if err := PlannerOf(r).Plan(catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2", nil), Options{},
		true); err != nil ||
		r.Attempt.Parts[0].Model != "nova-pro" || r.Attempt.Parts[1].Model != "eleven-multilingual-2" {
		t.Errorf("%+v, %v", r.Attempt.Parts, err)
	}
}

func TestPromptsAreMadeOfTheFactorysSettings(t *testing.T) {
	r := recordOf(t, Carousel, "", "en", voiced())
	if err := PlannerOf(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	text := writerOf(r).foreseen(r.Attempt.Parts[0])
	for _, want := range []string{`\"Acme\", a brand`, "Shoes of nets", "Runners", "warm", "shoes, sea",
		"It never uses these words: cheap.", "Rules of its voice: say you."} {
		if !strings.Contains(text.User, want) || strings.Contains(text.System, want) {
			t.Errorf("the writer is not told %q as data: %s", want, text.User)
		}
	}
	if text.Slides != 3 || text.Prompt != r.Item.Prompt || text.ScriptSeconds != 0 {
		t.Errorf("%+v", text)
	}
	made := []generate.PartResult{{Text: &provider.Text{Title: "Nets", Slides: []provider.Slide{{Heading: "One"},
		{Heading: "not this"}, {Heading: "Three"}}}}}
	for n, want := range []string{"One", "Two", "Three"} {
		picture, err := makerOf(r).request(n+1, made, nil)
		if err != nil || !strings.Contains(picture.Prompt, want) ||
			!strings.Contains(picture.Prompt, "A shoe for trails") ||
			!strings.Contains(picture.Prompt, "#ff6600, #003366") || strings.Contains(picture.Prompt, "not this") {
			t.Errorf("slide %d: %q, %v", n+1, picture.Prompt, err)
		}
	}
	f := Factory{Type: "musician", Name: "The Examples",
		Settings: []byte(`{"artist_name":"The Examples","genres":["indie pop","folk"],"mood":"calm"}`)}
	r = recordOf(t, MusicClip, "", "en", f)
	if err := PlannerOf(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	track, err := makerOf(r).request(2, made, nil)
	if err != nil || track.Prompt != "Instrumental music, no vocals. Subject: A shoe for trails. Genres: indie pop, "+
		"folk. Mood: calm." || track.Seconds != 30 {
		t.Errorf("%+v, %v", track, err)
	}
}

func TestAFactoryOfTheLongestSettingsIsToldInBounds(t *testing.T) {
	f := voiced()
	f.Description = strings.Repeat("д", 2000)
	f.Settings = []byte(`{"brand_name":"Acme","forbidden_words":["` + strings.Repeat("слово ", 3000) + `"]}`)
	b, err := NewBrief(f)
	if err != nil || utf8.RuneCountInString(b.Voice) > maxInstructions || !strings.Contains(b.Voice, "Acme") ||
		utf8.RuneCountInString(b.Look) > maxManner {
		t.Errorf("%d characters, %v", utf8.RuneCountInString(b.Voice), err)
	}
}
