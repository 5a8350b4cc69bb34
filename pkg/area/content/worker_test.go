package content_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
)

func TestEachKindIsGenerated(t *testing.T) {
	const jpeg, raw = "image image/jpeg ", "image image/"
	const tall, poster, vtt, spoken = "video video/mp4 9:16", jpeg + "9:16", "captions text/vtt", "audio audio/mpeg"
	four := func(files ...string) []string { return slices.Concat(files, files, files, files) }
	for name, c := range map[string]struct {
		members []any
		files   []string // the beginning of each file's shape
		end     string   // of its shape
	}{
		"post":  {[]any{"kind", "post"}, []string{jpeg, raw}, "4:5"},
		"short": {[]any{"kind", "video"}, append([]string{tall, poster, vtt, spoken}, four(tall)...), ""},
		"long": {[]any{"kind", "video", "format", "long", "duration_seconds", 30},
			append([]string{"video video/mp4 16:9", jpeg + "16:9", vtt, spoken}, four("video video/mp4 16:9")...), ""},
		"from stills": {[]any{"kind", "video", "model", "kling-2.6-pro"}, append([]string{tall, poster, vtt, spoken},
			four(raw, tall)...), ""},
		"of stills": {[]any{"kind", "video", "visuals", "stills", "music", "generated"},
			append([]string{tall, poster, vtt, spoken, spoken}, four(raw)...), ""},
		"clip":     {[]any{"kind", "story", "model", "veo-3.1"}, []string{tall, poster, tall}, "9:16"},
		"carousel": {[]any{"kind", "carousel"}, []string{jpeg, jpeg, jpeg, jpeg, jpeg, raw, raw, raw, raw, raw}, "4:5"},
		"two slides": {[]any{"kind", "carousel", "slides", []object{{"text": "Eins"}, {}}},
			[]string{jpeg, jpeg, raw, raw}, "4:5"},
		"story":      {[]any{"kind", "story"}, []string{jpeg, raw}, "9:16"},
		"music clip": {[]any{"kind", "music_clip"}, []string{tall, poster, raw, spoken}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			made := w.create(c.members...)
			at := w.Now()
			if wait := w.do(made.ID); wait != 0 {
				t.Fatalf("the worker asks for %v", wait)
			}
			got := w.get(made.ID)
			if got.State != item.Generated || got.Failure != nil || got.GeneratedAt == nil ||
				!got.GeneratedAt.Equal(at) || got.PublishedAt != nil || got.CostCredits != 0 || got.Attempt != 1 {
				t.Errorf("%+v", got)
			}
			if got.Title == "" || got.Caption == "" || len(got.Hashtags) == 0 ||
				!strings.Contains(string(got.Caption), "Laufschuh") {
				t.Errorf("texts: %q, %q, %v", got.Title, got.Caption, got.Hashtags)
			}
			if len(got.Media) != len(c.files) {
				t.Fatalf("there are %d files: %+v", len(got.Media), got.Media)
			}
			seen, small := map[string]bool{}, 0
			for i, v := range got.Media {
				if finished := v.Role == media.Final || v.Role == media.Poster; finished != (v.ThumbnailURL != nil) {
					t.Errorf("file %d, a %s, has the thumbnail %v", i, v.Role, v.ThumbnailURL)
				} else if finished {
					small++
				}
				if s := shape(v); !strings.HasPrefix(s, c.files[i]) || !strings.HasSuffix(s, c.end) {
					t.Errorf("file %d is %s", i, s)
				}
				if seen[v.ID] || v.Bytes == 0 || len(v.SHA256) != 64 ||
					(v.Type == media.Video || v.Type == media.Audio) && v.DurationSeconds < 1 {
					t.Errorf("file %d is %+v", i, v)
				}
				seen[v.ID] = true
			}
			if len(w.objects.Keys()) != len(c.files)+small {
				t.Errorf("%d objects were stored", len(w.objects.Keys()))
			}
			if got.Progress != 100 || got.Media[0].Role != media.Final {
				t.Errorf("the progress is %d, the first file %+v", got.Progress, got.Media[0])
			}
			for i, s := range got.Slides {
				if s.Text == "" || s.MediaID == nil || *s.MediaID != got.Media[i].ID {
					t.Errorf("slide %d: %+v", i, s)
				}
			}
			if name == "two slides" && got.Slides[0].Text != "Eins" {
				t.Errorf("slides %+v", got.Slides)
			}
			w.happened(made.ID, event.ContentGenerated)
		})
	}
}

func TestWhatTheCallerGaveStays(t *testing.T) {
	w := newWorld(t)
	got := w.generated("kind", "carousel", "title", "Titel", "caption", "Text", "hashtags", []string{"laufen"},
		"slides", []object{{"text": "Eins"}, {"text": "Zwei"}})
	if got.Title != "Titel" || got.Caption != "Text" || !slices.Equal(got.Hashtags, []string{"laufen"}) ||
		got.Slides[0].Text != "Eins" || got.Slides[1].Text != "Zwei" {
		t.Errorf("%+v", got)
	}
}

func TestTheEventShowsTheItemAsItsGETDoes(t *testing.T) {
	for outcome, types := range map[string][]event.Type{
		"generated": {event.ContentGenerated}, "failed": {event.ContentFailed},
		"published": {event.ContentGenerated, event.ContentPublished},
	} {
		w := newWorld(t)
		made := w.create("sandbox", object{"outcome": outcome}, "metadata", object{"campaign": "spring"})
		tick := w.Now()
		// Time goes on while the worker works.
		w.kernel = w.kernelAt(func() time.Time { tick = tick.Add(7 * time.Millisecond); return tick })
		w.do(made.ID)
		w.happened(made.ID, types...)
		var got item.Item
		a := w.Call(http.MethodGet, "/v1/content-items/"+made.ID, nil)
		a.Into(t, http.StatusOK, &got)
		if string(got.State) != outcome {
			t.Errorf("%s: the state is %s", outcome, got.State)
		}
		last := types[len(types)-1]
		listed := apitest.All[event.Event](w.Caller, "/v1/events?type="+string(last), 10)
		if len(listed) != 1 || listed[0].Mode != "test" || listed[0].AccountID != w.Principal.Account ||
			listed[0].APIVersion != "v1" {
			t.Fatalf("%s: the events are %+v", outcome, listed)
		}
		var object, item any
		if json.Unmarshal(listed[0].Data.Object, &object) != nil || json.Unmarshal(a.Data, &item) != nil ||
			!reflect.DeepEqual(object, item) {
			t.Errorf("%s: the event shows\n%s\nthe GET\n%s", outcome, listed[0].Data.Object, a.Data)
		}
	}
}

func TestARehearsedFailure(t *testing.T) {
	for _, kind := range []string{"post", "video", "carousel", "story", "music_clip"} {
		w := newWorld(t)
		it := w.generated("kind", kind, "sandbox", object{"outcome": "failed"})
		want := &item.Failure{Stage: "generate", Code: provider.FailedGeneration, Message: it.Failure.Message,
			Retryable: true}
		if it.State != item.Failed || !reflect.DeepEqual(it.Failure, want) || it.Failure.Message == "" ||
			len(it.Media) != 0 || it.GeneratedAt != nil || !it.UpdatedAt.Equal(w.Now()) {
			t.Errorf("%s: %+v", kind, it)
		}
		w.happened(it.ID, event.ContentFailed)
	}
}

func TestARehearsedPublication(t *testing.T) {
	w := newWorld(t)
	it := w.generated("sandbox", object{"outcome": "published"})
	if it.State != item.Published || it.PublishedAt == nil || it.GeneratedAt == nil || len(it.Media) != 2 {
		t.Errorf("%+v", it)
	}
	w.happened(it.ID, event.ContentGenerated, event.ContentPublished)
	events := apitest.All[event.Event](w.Caller, "/v1/events?type=content.generated", 10)
	var then item.Item
	if err := json.Unmarshal(events[0].Data.Object, &then); err != nil || then.State != item.Generated ||
		then.PublishedAt != nil {
		t.Errorf("content.generated shows %+v, %v", then, err)
	}
}

func TestADelayIsWaitedForInTheQueue(t *testing.T) {
	for _, outcome := range []string{"generated", "failed", "published"} {
		w := newWorld(t)
		it := w.create("kind", "music_clip", "sandbox", object{"outcome": outcome, "delay_seconds": 30})
		// A second has passed since the item was accepted.
		if wait := w.do(it.ID); wait != 29*time.Second {
			t.Errorf("the worker asks for %v", wait)
		}
		if got := w.get(it.ID); got.State != item.Generating {
			t.Errorf("%+v", got)
		}
		w.happened(it.ID)
		w.Clock.Add(29 * time.Second)
		if wait := w.do(it.ID); wait != 0 {
			t.Errorf("the worker asks for %v", wait)
		}
		if got := w.get(it.ID); string(got.State) != outcome {
			t.Errorf("%+v", got)
		}
	}
}

func TestFilesHaveRolesAndVideosAScript(t *testing.T) {
	for name, c := range map[string]struct {
		members []any
		roles   []media.Role
	}{
		"post": {[]any{"kind", "post"}, []media.Role{media.Final, media.Still}},
		"carousel": {[]any{"kind", "carousel", "slides", []object{{}, {}}},
			[]media.Role{media.Final, media.Final, media.Slide, media.Slide}},
		"video": {[]any{"kind", "video", "duration_seconds", 10},
			[]media.Role{media.Final, media.Poster, media.Subtitles, media.Narration, media.Clip, media.Clip}},
		"from still": {[]any{"kind", "video", "duration_seconds", 10, "model", "kling-2.6-pro"},
			[]media.Role{media.Final, media.Poster, media.Subtitles, media.Narration, media.Still, media.Clip,
				media.Still, media.Clip}},
		"stills": {[]any{"kind", "video", "duration_seconds", 10, "visuals", "stills", "music", "generated"},
			[]media.Role{media.Final, media.Poster, media.Subtitles, media.Narration, media.Track, media.Still,
				media.Still}},
		"music clip": {[]any{"kind", "music_clip"}, []media.Role{media.Final, media.Poster, media.Cover, media.Track}},
	} {
		w := newWorld(t)
		got := w.generated(c.members...)
		var roles []media.Role
		for _, f := range got.Media {
			roles = append(roles, f.Role)
		}
		if !slices.Equal(roles, c.roles) {
			t.Errorf("%s: %v, want %v", name, roles, c.roles)
		}
		if spoken := got.Kind == item.Video; spoken != (got.Script != "") {
			t.Errorf("%s: the script is %q", name, got.Script)
		}
		for _, f := range got.Media {
			if got.Seconds != nil && (f.Role == media.Clip || f.Role == media.Track) &&
				int(f.DurationSeconds+0.5) != *got.Seconds {
				t.Errorf("%s: %v seconds, not %d", name, f.DurationSeconds, *got.Seconds)
			}
		}
	}
}
