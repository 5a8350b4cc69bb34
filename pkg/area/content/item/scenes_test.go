package item

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestWishesThatDoNotFitAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		kind    Kind
		format  string
		options Options
		param   string
	}{
		"too short a video":      {Video, FormatShort, Options{DurationSeconds: new(9)}, "/duration_seconds"},
		"too long a short video": {Video, FormatShort, Options{DurationSeconds: new(61)}, "/duration_seconds"},
		"too short a long video": {Video, FormatLong, Options{DurationSeconds: new(29)}, "/duration_seconds"},
		"too long a video":       {Video, FormatLong, Options{DurationSeconds: new(181)}, "/duration_seconds"},
		"too short a music clip": {MusicClip, "", Options{DurationSeconds: new(14)}, "/duration_seconds"},
		"too long a music clip":  {MusicClip, "", Options{DurationSeconds: new(61)}, "/duration_seconds"},
		"too long a story": {Story, "", Options{DurationSeconds: new(16), Model: "kling-3-turbo-pro"},
			"/duration_seconds"},
		"longer than the model": {Story, "", Options{DurationSeconds: new(11), Model: "kling-2.6-pro"},
			"/duration_seconds"},
		"a story that is no clip": {Story, "", Options{DurationSeconds: new(10)}, "/duration_seconds"},
		"a post of a length":      {Post, "", Options{DurationSeconds: new(10)}, "/duration_seconds"},
		"stills of a carousel":    {Carousel, "", Options{Visuals: VisualsStills}, "/visuals"},
		"music of a story":        {Story, "", Options{Music: MusicGenerated}, "/music"},
		"clips of an image model": {Video, FormatShort, Options{Model: "nano-banana"}, "/model"},
		"stills of a video model": {Video, FormatShort, Options{Model: "veo-3.1", Visuals: VisualsStills}, "/model"},
	} {
		err := PlannerOf(recordOf(t, c.kind, c.format, "en", voiced())).Plan(all, c.options, true)
		if e := errs.As(err); err == nil || e.Code != errs.ValidationFailed && e.Code != errs.UnsupportedModel ||
			e.Param != c.param {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Stills cost a fraction of clips, and compositions cost nothing.
func TestWhatAVideoCosts(t *testing.T) {
	cost := func(w Options) int64 {
		r := recordOf(t, Video, FormatShort, "en", voiced())
		if err := PlannerOf(r).Plan(all, w, true); err != nil {
			t.Fatal(err)
		}
		if last := r.Attempt.Parts[len(r.Attempt.Parts)-1]; last.Kind != provider.KindCompose || last.Credits != 0 {
			t.Errorf("the last part is %+v", last)
		}
		return r.Attempt.Credits
	}
	clips, stills, music := cost(Options{}), cost(Options{Visuals: VisualsStills}), cost(Options{Music: MusicGenerated})
	if stills*5 > clips || music <= clips || cost(Options{DurationSeconds: new(10)}) >= clips ||
		cost(Options{Music: "med_1", Track: &media.File{}}) != clips {
		t.Errorf("%d of clips, %d of stills, %d with music", clips, stills, music)
	}
}

func TestTextsWithoutAFontAreRefused(t *testing.T) {
	bengali := "পাহাড়ি পথে দৌড়"
	for name, c := range map[string]struct {
		kind     Kind
		format   string
		language string
		change   func(r *Record)
		param    string
	}{
		"the language of a video":    {Video, FormatShort, "bn", nil, "/language"},
		"the language of a carousel": {Carousel, "", "ta", nil, "/language"},
		"that of a post is shown":    {Post, "", "bn", nil, ""},
		"a heading": {Carousel, "", "en", func(r *Record) { r.Item.Slides[1].Text = bengali },
			"/slides/1/text"},
		"200 emoji": {Carousel, "", "en",
			func(r *Record) { r.Item.Slides[1].Text = strings.Repeat("😀", 200) }, ""},
		"the title of a story": {Story, "", "en", func(r *Record) {
			r.CallerTexts.Set(true, Title)
			r.Item.Title = resource.Text(bengali)
		}, "/title"},
		"that of a video is not shown": {Video, FormatShort, "en", func(r *Record) {
			r.CallerTexts.Set(true, Title)
			r.Item.Title = resource.Text(bengali)
		}, ""},
	} {
		r := recordOf(t, c.kind, c.format, c.language, voiced())
		if c.change != nil {
			c.change(r)
		}
		err := PlannerOf(r).Plan(all, Options{}, false)
		if e := errs.As(err); (err != nil) != (c.param != "") || err != nil &&
			(e.Code != errs.ValidationFailed || e.Param != c.param || !strings.Contains(e.Message, "Devanagari")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A model that has written one fails the item before anything is made of it.
	for name, c := range map[string]struct {
		kind   Kind
		format string
		text   provider.Text
	}{
		"a script":  {Video, FormatShort, provider.Text{Scenes: []provider.Scene{{Text: bengali, Visual: "x"}}}},
		"a heading": {Carousel, "", provider.Text{Slides: []provider.Slide{{Heading: "One"}, {Heading: "Two"}, {Heading: bengali}}}},
		"a title":   {MusicClip, "", provider.Text{Title: bengali}},
	} {
		r := recordOf(t, c.kind, c.format, "en", voiced())
		if err := PlannerOf(r).Plan(all, Options{}, false); err != nil {
			t.Fatal(err)
		}
		_, err := makerOf(r).request(1, []generate.PartResult{{Text: &c.text}}, nil)
		if provider.KindOf(err) != provider.BadInput || !strings.Contains(err.Error(), string(provider.FailedScript)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// made returns the results of a record's parts: each file is named by the role and the number of its part.
func made(r *Record, scenes int) (all []generate.PartResult) {
	text := provider.Text{Title: "Nets", Slides: []provider.Slide{{Heading: "One"}, {Heading: "ignored"},
		{Heading: "Three"}}}
	for i := range scenes {
		text.Scenes = append(text.Scenes, provider.Scene{Text: fmt.Sprintf("Scene %d is said.", i+1),
			Visual: fmt.Sprintf("view %d", i+1)})
	}
	for _, p := range r.Attempt.Parts[:len(r.Attempt.Parts)-1] {
		m := generate.PartResult{Files: []media.File{{ID: fmt.Sprint(p.Role, p.Number), Type: media.Image}}}
		switch p.Kind {
		case provider.KindText:
			m = generate.PartResult{Text: &text}
		case provider.KindVoice:
			m.Marks = []provider.Mark{{Offset: 0, At: 0}, {Offset: 6, At: time.Second}}
			m.Files[0].Type, m.Files[0].DurationSeconds = media.Audio, 19
		case provider.KindVideo:
			m.Files[0].Type, m.Files[0].DurationSeconds = media.Video, float64(p.Seconds)
		}
		all = append(all, m)
	}
	return all
}

func TestScenesAreAskedForAndComposed(t *testing.T) {
	for name, c := range map[string]struct {
		format  string
		options Options
		still   bool
	}{
		"clips":             {FormatShort, Options{}, false},
		"clips from stills": {FormatShort, Options{Model: "kling-2.6-pro", Music: MusicGenerated}, true},
		"stills": {FormatLong, Options{Visuals: VisualsStills, Music: "med_1",
			Track: &media.File{ID: "med_1"}, DurationSeconds: new(30)}, false},
	} {
		f := voiced()
		f.Logo = &media.File{ID: "logo"}
		r := recordOf(t, Video, c.format, "de", f)
		if err := PlannerOf(r).Plan(all, c.options, true); err != nil {
			t.Fatal(err)
		}
		scenes := r.Attempt.Parts[0].Scenes
		done := made(r, scenes)
		for n, p := range r.Attempt.Parts[:len(r.Attempt.Parts)-1] {
			req, err := makerOf(r).request(n, done[:n],
				func(f media.File) (string, error) { return "https://signed/" + f.ID, nil })
			if err != nil {
				t.Fatalf("%s: part %d: %v", name, n, err)
			}
			switch view := fmt.Sprintf("This one shows: view %d.", p.Number); {
			case p.Kind == provider.KindText && (req.Scenes != scenes ||
				req.ScriptSeconds != *r.Item.DurationSeconds-1),
				p.Kind == provider.KindVoice && (req.Prompt != done[0].Text.Script() || !req.Marks ||
					req.Seconds != *r.Item.DurationSeconds-1),
				p.Number > 0 && (!strings.Contains(req.Prompt, view) ||
					!strings.Contains(req.Prompt, fmt.Sprintf("Scene %d of %d", p.Number, scenes))),
				p.Kind == provider.KindVideo && c.still &&
					(req.ImageURL != fmt.Sprintf("https://signed/still%d", p.Number) || req.ImageRatio != "9:16"):
				t.Errorf("%s: part %d: %+v", name, n, req)
			}
		}
		got, err := makerOf(r).composition(done)
		v, ok := got.(generate.Video)
		if err != nil || !ok || len(v.Scenes) != scenes || v.Narration.ID != "voice0" || v.Language != "de" ||
			!v.Captions || !v.Fade {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		for i, s := range v.Scenes {
			seen := s.Clip
			if c.options.Visuals == VisualsStills {
				seen = s.Picture
			}
			if s.Text != fmt.Sprintf("Scene %d is said.", i+1) || seen == nil ||
				seen.ID != fmt.Sprintf("item%d", i+1) || s.Clip != nil && s.Picture != nil {
				t.Errorf("%s: scene %d: %+v", name, i, s)
			}
		}
		music := map[string]string{"": "", MusicGenerated: "music0", "med_1": "med_1"}[c.options.Music]
		if v.Music == nil && music != "" || v.Music != nil && v.Music.ID != music {
			t.Errorf("%s: the music is %+v", name, v.Music)
		}
		if want := []timeline.Mark{{}, {Offset: 6, At: time.Second}}; !reflect.DeepEqual(v.Marks, want) {
			t.Errorf("%s: marks %+v", name, v.Marks)
		}
		if v.Brand == nil || v.Brand.Name != "Acme" || v.Brand.Logo == nil || v.Brand.Logo.ID != "logo" ||
			v.Brand.Color != "#ff6600" || (v.Format == generate.Landscape) != (c.format == FormatLong) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestOtherKindsAreComposed(t *testing.T) {
	compose := func(kind Kind, w Options) generate.Composition {
		r := recordOf(t, kind, "", "en", voiced())
		if err := PlannerOf(r).Plan(all, w, true); err != nil {
			t.Fatal(err)
		}
		got, err := makerOf(r).composition(made(r, 0))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if p := compose(Post, Options{}).(generate.Picture); p.Use != generate.Post || p.File.ID != "item0" ||
		p.Text != "" {
		t.Errorf("a post: %+v", p)
	}
	if p := compose(Story, Options{}).(generate.Picture); p.Use != generate.Story || p.File.ID != "item0" ||
		p.Text != "Nets" || p.Brand == nil {
		t.Errorf("a story: %+v", p)
	}
	c := compose(Carousel, Options{}).(generate.Carousel)
	for i, heading := range []string{"One", "Two", "Three"} {
		if s := c.Slides[i]; s.Heading != heading || s.File.ID != fmt.Sprintf("item%d", i+1) {
			t.Errorf("slide %d: %+v", i, s)
		}
	}
	if v := compose(Story, Options{Model: "kling-2.6-pro", DurationSeconds: new(7)}).(generate.Video); len(
		v.Scenes) != 1 || v.Scenes[0].Clip.ID != "item0" || v.Scenes[0].Length != 7*time.Second ||
		v.Narration != nil || v.Captions {
		t.Errorf("a clip: %+v", v)
	}
	if m := compose(MusicClip, Options{DurationSeconds: new(20)}).(generate.MusicClip); m.Track.ID != "item0" ||
		m.Cover.ID != "cover0" || m.Length != 20*time.Second || m.Title != "Nets" {
		t.Errorf("a music clip: %+v", m)
	}
}

func TestWordsMoveToWhereClipsCoverThem(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	clip := coveredTime(5 * time.Second)
	// A clip plays 1.5 times slower and stays for a second; cross-fades take 0.4 s of it.
	const most = 8100 * time.Millisecond
	for name, c := range map[string]struct {
		texts  []string
		spoken time.Duration
		change bool
	}{
		"each fits":             {[]string{words(10), words(10), words(10)}, 15 * time.Second, false},
		"the first is too long": {[]string{words(24), words(3), words(3)}, 15 * time.Second, true},
		"the last is too long":  {[]string{words(3), words(3), words(24)}, 15 * time.Second, true},
		"one in the middle":     {[]string{words(2), words(26), words(2)}, 15 * time.Second, true},
		"hardly enough":         {[]string{words(10), words(20), words(10)}, 21 * time.Second, true},
		"not enough":            {[]string{words(10), words(20), words(10)}, 23 * time.Second, false},
		"without spaces":        {[]string{strings.Repeat("字", 50), "字字", "字字"}, 15 * time.Second, true},
	} {
		var scenes []generate.Scene
		for _, text := range c.texts {
			scenes = append(scenes, generate.Scene{Text: text})
		}
		fitToClips(scenes, nil, c.spoken, []time.Duration{clip, clip, clip})
		var texts []string
		changed := false
		for i, s := range scenes {
			texts = append(texts, s.Text)
			changed = changed || s.Text != c.texts[i]
		}
		script := strings.Join(texts, " ")
		if squeeze := strings.NewReplacer(" ", ""); squeeze.Replace(script) != squeeze.Replace(strings.Join(c.texts,
			"")) || changed != c.change {
			t.Errorf("%s: %q", name, texts)
		}
		if !changed {
			continue
		}
		// As the engine sees it.
		for i, frames := range timeline.Scenes(texts, timeline.NewClock(script, nil, c.spoken), lead, tail,
			timeline.FPS) {
			if length := timeline.Time(frames); length > most {
				t.Errorf("%s: scene %d takes %v, its clip covers %v: %q", name, i, length, most, texts)
			}
		}
	}
}

// A script of the caller that a fast voice says in less time fills the shortest video, which every platform takes.
func TestAShortScriptFillsTheShortestVideo(t *testing.T) {
	r := recordOf(t, Video, FormatShort, "en", voiced())
	if err := PlannerOf(r).Plan(all, Options{Script: "Our shoe is made of nets that were lost at sea, and it lasts.",
		Visuals: VisualsStills}, true); err != nil {
		t.Fatal(err)
	}
	for _, spoken := range []float64{2.4, 9} {
		done := made(r, 0)
		for n, p := range r.Attempt.Parts {
			if p.Kind == provider.KindVoice {
				done[n].Files[0].DurationSeconds = spoken
			}
		}
		got, err := makerOf(r).composition(done)
		if err != nil {
			t.Fatal(err)
		}
		plays, _ := timeline.Bounds(got.(generate.Video).Length)
		plays = max(plays, time.Duration(spoken*float64(time.Second))+lead+tail)
		for _, row := range registry.Rows() {
			if v := row.Capabilities.Kinds["video"].Video; v != nil && plays < v.MinTime {
				t.Errorf("%s takes videos from %v, and this one plays %v", row.Name, v.MinTime, plays)
			}
		}
	}
}
