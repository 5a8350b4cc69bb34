//go:build !deployed

package e2e

import (
	"math"
	"net/http"
	"testing"
)

// A video is spoken again with music and copies of its pictures, and a carousel becomes a post. The estimates are what
// they cost.
func TestItemsAreRetold(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	const credits = 1000
	c.topUp(credits)
	key := c.live.Secret
	factory := c.factory(key)
	made := func(body object) contentItem {
		body["factory_id"] = factory
		estimate := into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
			object{"operation": "createContentItem", "body": body}), http.StatusOK)
		it := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
		if it = ended(t, key, it.ID); it.State != "generated" || it.Cost != estimate.Credits {
			t.Fatalf("%v, estimated %d: %+v %+v", body, estimate.Credits, it, it.Failure)
		}
		return it
	}
	video := made(object{"kind": "video", "visuals": "stills", "duration_seconds": 10, "prompt": "A shoe of nets"})
	checkFinal(t, video, 1080, 1920, 10, 30)
	spoken := made(object{"kind": "video", "from_content_item_id": video.ID, "reuse": true, "music": "generated"})
	// A video follows its narration, and the fake's new script is shorter.
	length := int(math.Round(spoken.Media[0].DurationSeconds))
	if length < 6 || length > 11 {
		t.Errorf("the new video has %d seconds", length)
	}
	checkFinal(t, spoken, 1080, 1920, length, 30)
	if spoken.Media[0].SHA256 == video.Media[0].SHA256 {
		t.Errorf("for %d of %d: %+v", spoken.Cost, video.Cost, spoken)
	}
	pictures := map[string]string{}
	for _, f := range video.Media {
		if f.Role == "still" {
			pictures[f.SHA256] = f.ID
		}
	}
	for _, f := range spoken.Media {
		if id, same := pictures[f.SHA256]; f.Role == "still" && (!same || id == f.ID) {
			t.Errorf("%+v is no copy of %v", f, pictures)
		}
	}
	carousel := made(object{"kind": "carousel", "prompt": "Five ways to mend a net"})
	post := made(object{"kind": "post", "from_content_item_id": carousel.ID})
	call(t, key, http.MethodDelete, contentPath+"/"+video.ID, nil)
	if left := c.balance(); left != credits-video.Cost-spoken.Cost-carousel.Cost-post.Cost {
		t.Errorf("%d credits are left", left)
	}
}
