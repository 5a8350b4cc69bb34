package content_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
)

// answers has the model answer requests to choose scenes with some answers, one after another, and returns those
// requests.
func (w *world) answers(all ...string) *[]provider.Request {
	var asked []provider.Request
	w.provider.fill = func(req provider.Request, object json.RawMessage) json.RawMessage {
		if req.PromptVersion == prompt.Version(prompt.Excerpt) {
			if asked = append(asked, req); len(asked) <= len(all) {
				return json.RawMessage(all[len(asked)-1])
			}
		}
		return object
	}
	return &asked
}

// spoken returns the seconds of scenes of an item, by their numbers.
func spoken(it item.Item, numbers ...int) int {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, it.Scenes[n-1].Text)
	}
	return int(provider.SpokenLength(strings.Join(texts, " ")).Seconds()) + 1
}

// The service chooses the scenes of a short video of a long one. Each further one has other scenes, in each language
// anew.
func TestTheScenesOfAShortVideoAreChosen(t *testing.T) {
	w := newWorld(t)
	w.live(9000)
	from := w.generated("kind", "video", "format", "long", "duration_seconds", 120)
	asked := w.answers()
	var used []int
	for n := range 3 {
		w.composed = nil
		before := spent(w)
		got, kinds := w.retold(from, "kind", "video", "format", "short", "duration_seconds", 30, "reuse", true)
		if len(got.FromParts) == 0 || spoken(from, got.FromParts...) > 30 || got.PartsVersion != "excerpt.1" ||
			*got.DurationSeconds > 30 || got.CostCredits != spent(w)-before {
			t.Fatalf("%d: %v %q, %d seconds for %d", n, got.FromParts, got.PartsVersion, *got.DurationSeconds,
				got.CostCredits)
		}
		if !slices.Equal(kinds, []provider.Kind{provider.KindText, provider.KindText, provider.KindVoice}) {
			t.Errorf("%v were made", kinds)
		}
		short := w.composed[0].(generate.Video)
		for i, part := range got.FromParts {
			if got.Scenes[i] != from.Scenes[part-1] || slices.Contains(used, part) ||
				len(short.Scenes) != len(got.FromParts) || short.Scenes[i].Text != from.Scenes[part-1].Text {
				t.Errorf("%d: the scene %d is %+v, after %v", n, part, got.Scenes[i], used)
			}
		}
		asked := (*asked)[n]
		if strings.Count(asked.Prompt, `"used":true`) != len(used) ||
			!strings.Contains(asked.Form.System, "at most 30 and at least 5") ||
			strings.Contains(asked.Form.System, from.Scenes[0].Text) {
			t.Errorf("the model is told %s\n%s", asked.Form.System, asked.Prompt)
		}
		used = append(used, got.FromParts...)
	}
	got, _ := w.retold(from, "kind", "video", "format", "short", "duration_seconds", 30, "reuse", true, "language", "fr")
	if !slices.Contains(used, got.FromParts[0]) || len(got.Scenes) != len(got.FromParts) || got.Script == "" ||
		w.get(got.ID).FromParts == nil {
		t.Errorf("%v after %v, in %d scenes", got.FromParts, used, len(got.Scenes))
	}
}

// Without copies, the writer is told the chosen scenes alone.
func TestTheChosenScenesAreRetold(t *testing.T) {
	w := newWorld(t)
	w.live(9000)
	from := w.generated("kind", "video", "format", "long", "duration_seconds", 60)
	w.answers(`{"idea":"x","scenes":[3]}`)
	got, kinds := w.retold(from, "kind", "video", "visuals", "stills", "format", "short")
	asked := w.provider.requests[len(w.provider.requests)-len(kinds)+1]
	if !slices.Equal(got.FromParts, []int{3}) || got.PartsVersion != "excerpt.1" || *got.DurationSeconds != 20 ||
		strings.Count(asked.User, `"from":{"kind":"video"`) != 1 || strings.Count(asked.User, `"visual"`) != 1 ||
		!strings.Contains(asked.User, from.Scenes[2].Text) {
		t.Errorf("%v: the writer is told %s", got.FromParts, asked.User)
	}
	// All are named, and all are retold.
	asks := w.answers()
	all := make([]int, len(from.Scenes))
	for i := range all {
		all[i] = i + 1
	}
	got, _ = w.retold(from, "kind", "video", "visuals", "stills", "format", "short", "from_parts", all)
	if !slices.Equal(got.FromParts, all) || got.PartsVersion != "" || len(*asks) != 0 {
		t.Errorf("%v %q", got.FromParts, got.PartsVersion)
	}
}

// The model is told the problems of its choice once. If the next one is no better, the scenes are the best window.
func TestAnInvalidChoiceIsMendedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		problem string
		version string
		want    func(from item.Item) []int
	}{
		"an unknown scene": {[]string{`{"scenes":[99]}`, `{"scenes":[4,1,2]}`}, "there is no scene 99", "excerpt.1",
			func(item.Item) []int { return []int{4, 1, 2} }},
		"no order":   {[]string{`{"scenes":[4,2,1]}`, `{"scenes":[1,2]}`}, "keep their order", "excerpt.1", nil},
		"one twice":  {[]string{`{"scenes":[1,2,2]}`, `{"scenes":[1,2]}`}, "scene 2 is there twice", "excerpt.1", nil},
		"too long":   {[]string{`{"scenes":[1,2,3,4,5,6,7]}`, `{"scenes":[1,2]}`}, "and must take 5 to 20", "excerpt.1", nil},
		"no scenes":  {[]string{`{}`, `{"scenes":[1,2]}`}, "must have the numbers", "excerpt.1", nil},
		"never":      {[]string{`{"scenes":"all"}`, `{"scenes":[0]}`}, "must have the numbers", "", best},
		"no numbers": {[]string{`{"scenes":["1"]}`, `[]`}, "must have the numbers", "", best},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.live(5000)
			from := w.generated("kind", "video", "format", "long", "duration_seconds", 60)
			asked := w.answers(c.answers...)
			body := w.body("kind", "video", "format", "short", "reuse", true, "from_content_item_id", from.ID)
			var got item.Item
			w.Call(http.MethodPost, "/v1/content-items", body).Into(t, http.StatusAccepted, &got)
			reserved := got.ReservedCredits
			w.do(got.ID)
			got = w.get(got.ID)
			want := []int{1, 2}
			if c.want != nil {
				want = c.want(from)
			}
			// Several windows may be as long, but for the rounding of seconds.
			same := c.version == "" && spoken(from, got.FromParts...)+1 >= spoken(from, want...)
			if got.State != item.Generated || !slices.Equal(got.FromParts, want) && !same ||
				string(got.PartsVersion) != c.version ||
				got.CostCredits != reserved {
				t.Errorf("%v by %q for %d of %d: %+v", got.FromParts, got.PartsVersion, got.CostCredits, reserved, got.Failure)
			}
			if repair := (*asked)[1].Repair; len(*asked) != 2 || repair == nil ||
				!strings.Contains(fmt.Sprint(repair.Problems), c.problem) {
				t.Errorf("the model is told %+v", repair)
			}
		})
	}
}

// best returns the scenes one after another that come nearest to 20 seconds.
func best(from item.Item) (best []int) {
	for first := range from.Scenes {
		var run []int
		for n := first + 1; n <= len(from.Scenes) && spoken(from, append(run, n)...) <= 20; n++ {
			run = append(run, n)
			if len(best) == 0 || spoken(from, run...) > spoken(from, best...) {
				best = slices.Clone(run)
			}
		}
	}
	return best
}

// A choice that fails for good costs the item nothing but its name.
func TestScenesAreChosenWithoutAModel(t *testing.T) {
	w := newWorld(t)
	from := w.generated("kind", "video", "format", "long", "duration_seconds", 60)
	var got item.Item
	w.Call(http.MethodPost, "/v1/content-items", w.body("kind", "video", "format", "short", "reuse", true,
		"from_content_item_id", from.ID, "sandbox", object{"outcome": "failed"})).Into(t, http.StatusAccepted, &got)
	if len(got.Scenes) != 0 || got.Script != "" || len(got.FromParts) != 0 {
		t.Errorf("before they are chosen: %+v", got)
	}
	w.do(got.ID)
	if got = w.get(got.ID); got.State != item.Failed || got.Failure.Stage != "generate" {
		t.Fatalf("%+v", got)
	}
	// The next attempt makes pictures of its own, by another choice.
	w.Call(http.MethodPost, path(got.ID)+"/regenerate", object{}).Into(t, http.StatusAccepted, &got)
	w.doAttempt(got.ID, 2)
	if got = w.get(got.ID); got.State != item.Generated || len(got.FromParts) == 0 || got.PartsVersion != "excerpt.1" {
		t.Errorf("%+v %+v", got, got.Failure)
	}
}

func TestALengthWithReuseIsRefused(t *testing.T) {
	w := newWorld(t)
	long := w.generated("kind", "video", "format", "long", "duration_seconds", 60)
	post := w.generated("kind", "carousel")
	for name, c := range map[string]struct {
		body  object
		param string
	}{
		"no shorter": {object{"kind": "video", "from_content_item_id": long.ID, "duration_seconds": 60},
			"/duration_seconds"},
		"of named parts": {object{"kind": "video", "from_content_item_id": long.ID, "duration_seconds": 30,
			"from_parts": []int{1, 2}}, "/duration_seconds"},
		"of a carousel": {object{"kind": "carousel", "from_content_item_id": post.ID, "duration_seconds": 30},
			"/duration_seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			c.body["factory_id"], c.body["reuse"] = w.factory, true
			w.Call(http.MethodPost, "/v1/content-items", c.body).Refused(t, 422, errs.ValidationFailed, c.param)
		})
	}
}
