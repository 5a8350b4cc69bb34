package plan_test

import (
	"net/http"
	"slices"
	"testing"

	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
)

// A plan keeps the words of content types that were sent, also that of a short video, and makes music clips.
func TestAPlanKeepsTheWordsOfItsContentTypes(t *testing.T) {
	w := newWorld(t)
	for _, types := range [][]string{{"short_video", "post"}, {"video", "story"}, {"music_clip", "long_video"}} {
		made := w.create("content_types", types, "replace", true)
		if got := w.get(); !slices.Equal(made.ContentTypes, types) || !slices.Equal(got.ContentTypes, types) {
			t.Errorf("%v: made with %v, read with %v", types, made.ContentTypes, got.ContentTypes)
		}
	}
	made := w.create("content_types", []string{"music_clip"}, "replace", true)
	for _, topic := range w.until(planarea.Completed).Calendar {
		if topic.ContentType != "music_clip" || made.ID != topic.ContentPlanID {
			t.Errorf("%+v", topic)
		}
	}
}

// A video of a plan is short unless it says otherwise, so that a plan names one of the two.
func TestAPlanTakesOneWordForAShortVideo(t *testing.T) {
	w := newWorld(t)
	for _, types := range [][]string{{"video", "short_video"}, {"post", "short_video", "video"}} {
		w.Call(http.MethodPost, w.path(), body("content_types", types)).Refused(t, http.StatusUnprocessableEntity,
			errs.ValidationFailed, "/content_types")
	}
}
