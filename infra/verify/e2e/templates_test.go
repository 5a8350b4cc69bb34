//go:build !deployed

package e2e

import (
	"image"
	"image/color"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// design has the members of a template that the test reads.
type design struct {
	ID      string
	Version int
	Preview *struct {
		State, Kind string
		Version     int
		Media       []file
		Failure     *struct{ Code, Message string }
	}
}

// decoded downloads a picture.
func decoded(t *testing.T, f file) image.Image {
	t.Helper()
	resp, err := http.Get(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	img, _, err := image.Decode(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// share returns the part of an area, in percent of a picture, that has about a color.
func share(img image.Image, x, y, width, height int, want color.RGBA) float64 {
	size, found, all := img.Bounds().Size(), 0, 0
	for py := y * size.Y / 100; py < (y+height)*size.Y/100; py += 4 {
		for px := x * size.X / 100; px < (x+width)*size.X/100; px += 4 {
			r, g, b, _ := img.At(px, py).RGBA()
			is := func(seen uint32, want uint8) bool {
				return max(int(seen>>8), int(want))-min(int(seen>>8), int(want)) < 24
			}
			if all++; is(r, want.R) && is(g, want.G) && is(b, want.B) {
				found++
			}
		}
	}
	return float64(found) / float64(all)
}

// violet and amber are the grounds of the design of the test, which no model and no theme has.
var violet, amber = color.RGBA{0x8a, 0x2b, 0xe2, 255}, color.RGBA{0xff, 0xb3, 0x00, 255}

// own is a design of its own: the picture of a post is the upper half, on violet.
var own = object{"post": object{"ground": "#8a2be2", "decor": nil, "plate": "none", "heading": 72,
	"picture": object{"x": 0, "y": 0, "width": 100, "height": 50},
	"text":    object{"x": 6, "y": 56, "width": 70, "height": 24}, "anchor": "top"}}

// A template is made, used, previewed, changed, released and deleted, with a key of each mode.
func TestATemplateOfACustomer(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	for _, key := range []string{c.test.Secret, c.live.Secret} {
		ask := func(method, path string, body any) answer { return call(t, key, method, path, body) }
		made := into[design](ask("POST", "/v1/templates", object{"name": "Violet", "theme": "minimal", "design": own}),
			http.StatusCreated)
		path := "/v1/templates/" + made.ID
		factory := into[struct{ ID string }](ask("POST", "/v1/factories", object{"type": "brand", "name": "Acme",
			"template_id": made.ID, "settings": object{"brand_name": "Acme", "theme": "bold", "post_headlines": true}}),
			http.StatusCreated).ID
		post := func() image.Image {
			item := into[contentItem](ask("POST", contentPath, object{"factory_id": factory, "kind": "post",
				"prompt": "A shoe made of recycled nets", "headline": "Nets"}), http.StatusAccepted)
			return decoded(t, ended(t, key, item.ID).Media[0])
		}
		// The lower part of the post is violet but for its headline, and the upper one is the picture.
		first := post()
		below, above := share(first, 4, 82, 92, 6, violet), share(first, 4, 4, 92, 40, violet)
		if below < 0.7 || above > 0.05 {
			t.Errorf("the post is violet to %.2f below, and to %.2f above", below, above)
		}

		preview := func(body any) design {
			if asked := into[struct{ State string }](ask("POST", path+"/preview", body),
				http.StatusAccepted); asked.State != "queued" {
				t.Errorf("the preview begins as %+v", asked)
			}
			var got design
			poll.Until(t, "the preview", func() bool {
				got = into[design](ask("GET", path, nil), http.StatusOK)
				return got.Preview.State == "generated" || got.Preview.State == "failed"
			})
			if got.Preview.State != "generated" {
				t.Fatalf("the preview has failed: %+v", got.Preview.Failure)
			}
			return got
		}
		seen := preview(object{"kind": "post", "factory_id": factory, "language": "ar"})
		if shown := decoded(t, seen.Preview.Media[0]); share(shown, 4, 82, 92, 6, violet) < 0.7 {
			t.Error("the preview is not violet")
		}

		changed := into[design](ask("PATCH", path, object{"design": object{"post": object{"ground": "#ffb300"}}}),
			http.StatusOK)
		if changed.Version != 2 || changed.Preview.Version != 1 {
			t.Errorf("the patch makes it %+v", changed)
		}
		if seen = preview(nil); share(decoded(t, seen.Preview.Media[0]), 4, 82, 92, 6, amber) < 0.7 {
			t.Error("the second preview is not amber")
		}
		if next := post(); share(next, 4, 82, 92, 6, amber) < 0.7 {
			t.Error("the next post is not amber")
		}

		refused := ask("DELETE", path, nil)
		if err := refused.refused(http.StatusConflict, "invalid_state"); err != nil ||
			!strings.Contains(refused.Raw, factory) {
			t.Errorf("the deletion of a template in use: %v, %s", err, refused.Raw)
		}
		into[object](ask("PATCH", "/v1/factories/"+factory, object{"template_id": nil}), http.StatusOK)
		into[object](ask("DELETE", path, nil), http.StatusOK)
		if err := ask("GET", path, nil).refused(http.StatusNotFound, "not_found"); err != nil {
			t.Error(err)
		}
	}
}
