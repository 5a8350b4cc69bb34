package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
)

// retold has an item generated that retells another one. It returns it with the kinds that were requested from
// providers.
func (w *world) retold(from item.Item, members ...any) (got item.Item, kinds []provider.Kind) {
	w.T.Helper()
	before := len(w.provider.requests)
	body := w.body(append([]any{"prompt", "", "from_content_item_id", from.ID}, members...)...)
	if body["prompt"] == "" {
		delete(body, "prompt")
	}
	w.Call(http.MethodPost, "/v1/content-items", body).Into(w.T, http.StatusAccepted, &got)
	if wait := w.do(got.ID); wait != 0 {
		w.T.Fatalf("the worker asks for %v", wait)
	}
	for _, req := range w.provider.requests[before:] {
		kinds = append(kinds, req.Kind)
	}
	if got = w.get(got.ID); got.State != item.Generated {
		w.T.Fatalf("%+v %+v", got, got.Failure)
	}
	return got, kinds
}

// The writer is told the texts of the item that it retells, whatever its kind is.
func TestAnItemIsRetoldInAnotherKind(t *testing.T) {
	w := newWorld(t)
	w.live(5000)
	from := w.generated("kind", "carousel", "slides", []object{{"text": "Das Netz aus dem Meer"}, {}, {}})
	for _, kind := range []item.Kind{item.Post, item.Story, item.Video, item.MusicClip, item.Carousel} {
		got, kinds := w.retold(from, "kind", kind)
		if got.FromContentItemID == nil || *got.FromContentItemID != from.ID || got.Prompt != from.Prompt ||
			got.Kind != kind || got.Language != from.Language {
			t.Errorf("%s: %+v", kind, got)
		}
		asked := w.provider.requests[len(w.provider.requests)-len(kinds)]
		if !strings.Contains(asked.User, `"from":{"kind":"carousel"`) ||
			!strings.Contains(asked.User, "Das Netz aus dem Meer") || !strings.Contains(asked.System, `"from" is an earlier`) ||
			strings.Contains(asked.System, "another language") {
			t.Errorf("%s: the writer is told %s", kind, asked.User)
		}
		if w.credits() != 5000-spent(w) {
			t.Errorf("%s: %d credits are left", kind, w.credits())
		}
	}
	// A part of it, in another language.
	w.retold(from, "from_parts", []int{1}, "language", "fr")
	asked := w.provider.requests[len(w.provider.requests)-2]
	if n := strings.Count(asked.User, `"heading"`); n != 1 || !strings.Contains(asked.System, "another language") {
		t.Errorf("%d slides are told in %s", n, asked.User)
	}
}

// spent returns what has been charged.
func spent(w *world) int64 { return w.entries()["charged"] }

// A video is translated and spoken again: its clips and its music stay, and cost nothing.
func TestAVideoIsTranslated(t *testing.T) {
	w := newWorld(t)
	w.live(5000)
	from := w.generated("kind", "video", "duration_seconds", 10, "music", "generated")
	got, kinds := w.retold(from, "kind", "video", "language", "fr", "reuse", true)
	slices.Sort(kinds)
	if !slices.Equal(slices.Compact(kinds), []provider.Kind{provider.KindText, provider.KindVoice}) {
		t.Errorf("%v were made", kinds)
	}
	if got.Language != "fr" || len(got.Scenes) != len(from.Scenes) || got.CostCredits*10 > from.CostCredits ||
		got.Script == from.Script || *got.Format != *from.Format {
		t.Errorf("%q in %s (%s), was %q (%s), for %d of %d credits", got.Script, got.Language, *got.Format, from.Script,
			*from.Format, got.CostCredits, from.CostCredits)
	}
	before, after := w.composed[0].(generate.Video), w.composed[1].(generate.Video)
	if len(after.Scenes) != len(before.Scenes) || after.Music == nil || after.Music.SHA256 != before.Music.SHA256 {
		t.Fatalf("composed of %+v", after)
	}
	for i, s := range after.Scenes {
		if s.Clip.SHA256 != before.Scenes[i].Clip.SHA256 || s.Clip.Key == before.Scenes[i].Clip.Key ||
			!strings.Contains(s.Clip.Key, got.ID) {
			t.Errorf("the clip %d is %+v", i, s.Clip)
		}
	}
	// The copies outlive the original.
	w.Call(http.MethodDelete, path(from.ID), nil)
	if again, kinds := w.corrected(got, object{"title": "Right"}); len(kinds) != 0 || again.Title != "Right" {
		t.Errorf("%v were made: %+v", kinds, again)
	}
}

// A short video takes scenes of a long one, with their words.
func TestAShortVideoIsTakenFromALongOne(t *testing.T) {
	w := newWorld(t)
	w.live(5000)
	from := w.generated("kind", "video", "format", "long", "duration_seconds", 60)
	if len(from.Scenes) < 4 {
		t.Fatalf("%d scenes", len(from.Scenes))
	}
	got, kinds := w.retold(from, "kind", "video", "format", "short", "from_parts", []int{3, 1}, "reuse", true)
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); !slices.Equal(kinds, []provider.Kind{provider.KindText, provider.KindVoice}) {
		t.Errorf("%v were made", kinds)
	}
	long, short := w.composed[0].(generate.Video), w.composed[1].(generate.Video)
	if len(got.Scenes) != 2 || got.Scenes[0] != from.Scenes[2] || got.Scenes[1] != from.Scenes[0] ||
		*got.Format != item.FormatShort || short.Scenes[0].Clip.SHA256 != long.Scenes[2].Clip.SHA256 ||
		short.Scenes[1].Clip.SHA256 != long.Scenes[0].Clip.SHA256 {
		t.Errorf("%+v of %+v", got.Scenes, from.Scenes)
	}
}

func TestRetellingIsRefused(t *testing.T) {
	w := newWorld(t)
	video, post := w.generated("kind", "video", "duration_seconds", 10), w.generated()
	unmade := w.create()
	var own item.Item
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post", "source": "provided",
		"caption": "Mine"}).Into(t, http.StatusAccepted, &own)
	of := func(id string, members ...any) object {
		b := object{"factory_id": w.factory, "kind": "video", "from_content_item_id": id}
		for i := 0; i < len(members); i += 2 {
			b[members[i].(string)] = members[i+1]
		}
		return b
	}
	unknown, from := "cnt_01h455vb4pex5vsknk084sn02q", "/from_content_item_id"
	for name, c := range map[string]struct {
		body  object
		code  errs.Code
		param string
	}{
		"an unknown item":       {of(unknown), errs.NotFound, from},
		"no id":                 {of("x"), errs.NotFound, from},
		"one without texts":     {of(unmade.ID), errs.InvalidState, from},
		"parts of none":         {w.body("from_parts", []int{1}), errs.ValidationFailed, "/from_parts"},
		"reuse of none":         {w.body("reuse", true), errs.ValidationFailed, "/reuse"},
		"a part that is not":    {of(video.ID, "from_parts", []int{1, 9}), errs.ValidationFailed, "/from_parts/1"},
		"part 0":                {of(video.ID, "from_parts", []int{0}), errs.ValidationFailed, "/from_parts/0"},
		"parts of a post":       {of(post.ID, "from_parts", []int{1}), errs.ValidationFailed, "/from_parts/0"},
		"reuse in another kind": {of(video.ID, "kind", "post", "reuse", true), errs.ValidationFailed, "/reuse"},
		"reuse of own media":    {of(own.ID, "kind", "post", "reuse", true), errs.ValidationFailed, "/reuse"},
		"other visuals":         {of(video.ID, "reuse", true, "visuals", "stills"), errs.ValidationFailed, "/visuals"},
		"a length": {of(video.ID, "reuse", true, "duration_seconds", 10), errs.ValidationFailed,
			"/duration_seconds"},
		"scenes that are too few": {of(video.ID, "reuse", true, "language", "fr", "from_parts", []int{1}),
			errs.ValidationFailed, "/from_parts"},
		"own media": {of(video.ID, "source", "provided", "caption", "x"), errs.ValidationFailed, from},
	} {
		t.Run(name, func(t *testing.T) {
			status := map[errs.Code]int{errs.NotFound: 404, errs.InvalidState: 409, errs.ValidationFailed: 422}[c.code]
			w.Call(http.MethodPost, "/v1/content-items", c.body).Refused(t, status, c.code, c.param)
		})
	}
}

// If the other item is deleted before its files are copied, nothing is charged.
func TestTheFilesToUseAgainAreGone(t *testing.T) {
	w := newWorld(t)
	w.live(5000)
	from := w.generated("kind", "carousel")
	paid := spent(w)
	body := w.body("kind", "carousel", "from_content_item_id", from.ID, "language", "en", "reuse", true)
	var got item.Item
	w.Call(http.MethodPost, "/v1/content-items", body).Into(t, http.StatusAccepted, &got)
	w.objects.Objects.Clear()
	w.do(got.ID)
	if got = w.get(got.ID); got.State != item.Failed || got.Failure.Code != provider.FailedGeneration ||
		!strings.Contains(got.Failure.Message, "deleted") || spent(w) != paid || got.CostCredits != 0 {
		t.Errorf("%+v %+v", got, got.Failure)
	}
}

// What the other item says may be said again, and resembles it.
func TestARetoldTextMayStateWhatTheOtherStates(t *testing.T) {
	const said = "Our shoe of recycled nets costs 129 euros until 3 May, and it carries you up every hill there is."
	w := guarded(t, nil, said, said, said, "Our shoe of recycled nets costs 99 euros.", "And now for 89 euros.")
	from := w.generated("prompt", said)
	got, kinds := w.retold(from, "prompt", "Shorter")
	if got.Caption != said || !slices.Equal(kinds, []provider.Kind{provider.KindText, provider.KindImage}) {
		t.Errorf("%q after %v", got.Caption, kinds)
	}
	// What only the second one says is in none of its inputs.
	third := w.create("prompt", said)
	w.do(third.ID)
	if third = w.get(third.ID); len(third.Approval.Reasons) == 0 {
		t.Errorf("%+v", third)
	}
}
