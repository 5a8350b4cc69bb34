package area_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
)

func TestAllFaultsAreTold(t *testing.T) {
	w := newStudioWorld(t)
	for _, c := range []struct {
		path   string
		body   object
		params []string
	}{
		{"avatars", object{"text": "x", "audio_url": studioPublic, "sandbox": object{}}, []string{"/sandbox", "/audio_url"}},
		{"avatars", object{"voice": "../x"}, []string{"/voice", "/text"}},
		{"avatars", object{"text": 7, "voice": "../x"}, []string{"/text", "/voice"}},
		{"estimates", object{"kind": "image", "input": object{"duration_seconds": 3, "text": "x"}},
			[]string{"/input/duration_seconds", "/input/text", "/input/prompt"}},
	} {
		a := w.Live().Call(http.MethodPost, "/v1/studio/"+c.path, c.body)
		a.Refused(t, 422, errs.ValidationFailed, c.params[0])
		var got []string
		for _, d := range a.Error.Details {
			got = append(got, d.Param)
		}
		if !slices.Equal(got, c.params) {
			t.Errorf("%s %v: %s", c.path, c.body, a.Raw)
		}
	}
}
