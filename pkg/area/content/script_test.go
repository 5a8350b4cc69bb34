package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
)

const script = "Wir haben diese Netze aus dem Meer gezogen. Jetzt tragen sie dich den Berg hinauf, Schritt für Schritt. " +
	"Der neue Laufschuh ist da."

// kinds are the kinds of what providers were asked for.
func (w *world) kinds() (all []provider.Kind) {
	for _, req := range w.provider.requests {
		all = append(all, req.Kind)
	}
	return all
}

func TestAScriptOfTheCaller(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	texts := []any{"title", "Netze", "caption", "Neu", "hashtags", []string{"laufen"}, "visuals", "stills", "kind", "video"}
	it := w.create(append(texts, "script", "  "+strings.ReplaceAll(script, ". ", ".\n"))...)
	if it.Script != script || len(it.Scenes) != 3 || it.Scenes[2].Text != "Der neue Laufschuh ist da." ||
		*it.DurationSeconds < 11 || *it.DurationSeconds > 13 {
		t.Errorf("%d s: %+v", *it.DurationSeconds, it.Scenes)
	}
	w.do(it.ID)
	got := w.get(it.ID)
	if got.State != item.Generated || got.Script != script || got.Title != "Netze" || got.Caption != "Neu" ||
		got.CostCredits != it.ReservedCredits || w.credits() != 1000-got.CostCredits {
		t.Errorf("%+v %+v", got, got.Failure)
	}
	want := []provider.Kind{provider.KindVoice, provider.KindImage, provider.KindImage, provider.KindImage}
	if !slices.Equal(w.kinds(), want) || w.provider.requests[0].Prompt != script ||
		!strings.Contains(w.provider.requests[1].Prompt, "Wir haben diese Netze") {
		t.Errorf("%v: %+v", w.kinds(), w.provider.requests)
	}
	if v := w.composed[0].(generate.Video); v.Scenes[0].Text != it.Scenes[0].Text || !v.Captions {
		t.Errorf("%+v", v)
	}
	// Further attempts speak the same, and a model writes the texts that are absent.
	w.provider.requests = nil
	other := w.generated("kind", "video", "visuals", "stills", "script", script, "title", "Mein Titel")
	if req := w.provider.requests[0]; req.Kind != provider.KindText || req.Scenes != 0 ||
		!strings.Contains(req.User, script) || other.Title != "Mein Titel" || other.Caption == "" ||
		other.Script != script || other.CostCredits <= got.CostCredits {
		t.Errorf("%+v, %+v", req, other)
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"prompt": "Anders"}).Into(t, http.StatusAccepted, &got)
	w.doAttempt(it.ID, 2)
	if again := w.get(it.ID); again.Script != script || again.CostCredits != 2*it.ReservedCredits {
		t.Errorf("%+v", again)
	}
}

func TestScenesOfTheCaller(t *testing.T) {
	w := newWorld(t)
	scenes := []object{{"text": "Kurz."}, {"text": "Das hier dauert deutlich länger, etwa sieben Sekunden lang, weil es so viele Worte hat.",
		"visual": "A runner on a ridge"}}
	it := w.generated("kind", "video", "scenes", scenes)
	if it.State != item.Generated || len(it.Scenes) != 2 || it.Scenes[0].Text != "Kurz." ||
		string(it.Script) != "Kurz. "+scenes[1]["text"].(string) || it.Scenes[1].Visual != "A runner on a ridge" {
		t.Fatalf("%+v %+v", it, it.Failure)
	}
	var clips []provider.Request
	for _, req := range w.provider.requests {
		if req.Kind == provider.KindVideo {
			clips = append(clips, req)
		}
	}
	if len(clips) != 2 || clips[0].Seconds >= clips[1].Seconds || clips[1].Seconds < 7 ||
		!strings.Contains(clips[1].Prompt, "A runner on a ridge") || !strings.Contains(clips[0].Prompt, "Kurz") {
		t.Errorf("%+v", clips)
	}
}

func TestASongHasLyrics(t *testing.T) {
	w := newWorld(t)
	lyrics := "Netze im Meer\nTragen mich her"
	it := w.generated("kind", "music_clip", "model", "minimax-music-2", "script", lyrics)
	if it.State != item.Generated || string(it.Script) != lyrics || len(it.Scenes) != 0 {
		t.Errorf("%+v %+v", it, it.Failure)
	}
	for _, req := range w.provider.requests {
		if req.Kind == provider.KindMusic && (req.Lyrics != lyrics || strings.Contains(req.Prompt, "Instrumental")) {
			t.Errorf("%+v", req)
		}
	}
}

func TestAScriptIsRefused(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		members []any
		param   string
	}{
		"a post":           {[]any{"script", script}, "/script"},
		"scenes of a song": {[]any{"kind", "music_clip", "scenes", []object{{"text": "La."}}}, "/scenes"},
		"no singer":        {[]any{"kind", "music_clip", "script", script}, "/script"},
		"both":             {[]any{"kind", "video", "script", script, "scenes", []object{{"text": script}}}, "/scenes"},
		"a length":         {[]any{"kind", "video", "script", script, "duration_seconds", 20}, "/duration_seconds"},
		"too long":         {[]any{"kind", "video", "script", strings.Repeat(script, 9)}, "/script"},
		"too short":        {[]any{"kind", "video", "script", "Nein."}, "/script"},
		"a long scene":     {[]any{"kind", "video", "scenes", []object{{"text": "Ja."}, {"text": strings.Repeat("Lang ", 80)}}}, "/scenes/1/text"},
		"no font":          {[]any{"kind", "video", "script", strings.Repeat("ꦲꦏ꧀ꦱꦫꦗꦮ ", 8)}, "/script"},
		"an empty scene":   {[]any{"kind", "video", "scenes", []object{{"text": " "}}}, "/scenes/0/text"},
	} {
		t.Run(name, func(t *testing.T) {
			w.Call(http.MethodPost, "/v1/content-items", w.body(c.members...)).Refused(t, 422, errs.ValidationFailed, c.param)
		})
	}
}

// However short a script is, it is refused at creation, or makes a video that Pinterest takes, which needs 4 seconds.
func TestAShortScriptIsLongEnoughForPinterest(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	pins := w.connect("pinterest")
	w.attach(pins)
	words, accepted := strings.Fields(script), 0
	for n := 4; n <= len(words) && accepted < 4; n++ {
		body := w.body("kind", "video", "visuals", "stills", "script", strings.Join(words[:n], " "), "title", "Netze",
			"caption", "Neu", "hashtags", []string{"laufen"})
		got := w.Call(http.MethodPost, "/v1/content-items", body)
		if got.Status != http.StatusAccepted {
			got.Refused(t, 422, errs.ValidationFailed, "/script")
			continue
		}
		var it item.Item
		got.Into(t, http.StatusAccepted, &it)
		w.do(it.ID)
		if it = w.get(it.ID); it.State != item.Generated || it.Media[0].DurationSeconds < 4 {
			t.Errorf("%d words: %s, %+v", n, it.State, it.Media[0])
		}
		var v content.Validation
		w.Call(http.MethodPost, "/v1/publishing/validate", object{"content_item_id": it.ID,
			"social_account_ids": []string{pins}}).Into(t, http.StatusOK, &v)
		for _, p := range v.Accounts[0].Problems {
			if strings.Contains(string(p.Param), "media") {
				t.Errorf("%d words: %+v", n, p)
			}
		}
		accepted++
	}
	if accepted == 0 {
		t.Error("no script is accepted")
	}
}
