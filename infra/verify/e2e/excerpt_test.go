//go:build !deployed

package e2e

import (
	"net/http"
	"slices"
	"testing"
)

// The service chooses the scenes of short videos of a long one. The second one has other scenes than the first.
func TestShortVideosOfALongOne(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	factory := c.factory(key)
	type excerpted struct {
		contentItem
		FromParts []int  `json:"from_parts"`
		Version   string `json:"from_parts_prompt_version"`
		Scenes    []struct{ Text string }
	}
	made := func(body object) excerpted {
		body["factory_id"], body["kind"] = factory, "video"
		it := into[excerpted](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
		if it := ended(t, key, it.ID); it.State != "generated" {
			t.Fatalf("%v: %+v %+v", body, it, it.Failure)
		}
		return into[excerpted](call(t, key, http.MethodGet, contentPath+"/"+it.ID, nil), http.StatusOK)
	}
	long := made(object{"format": "long", "visuals": "stills", "duration_seconds": 90, "prompt": "A shoe of nets"})
	var used []int
	for range 2 {
		short := made(object{"from_content_item_id": long.ID, "format": "short", "reuse": true})
		i := slices.IndexFunc(short.Media, func(f file) bool { return f.Role == "final" })
		if long := short.Media[i].DurationSeconds; long < 5 || long > 21 || short.Media[i].Width != 1080 {
			t.Errorf("%+v", short.Media[i])
		}
		if len(short.FromParts) == 0 || short.Version != "excerpt.1" || len(short.Scenes) != len(short.FromParts) {
			t.Fatalf("%+v", short)
		}
		for i, n := range short.FromParts {
			if slices.Contains(used, n) || short.Scenes[i] != long.Scenes[n-1] {
				t.Errorf("the scene %d after %v is %v", n, used, short.Scenes[i])
			}
		}
		used = append(used, short.FromParts...)
	}
}
