//go:build !deployed

package e2e

import (
	"crypto/sha256"
	"image"
	"image/draw"
	_ "image/jpeg" // for image.Decode
	"net/http"
	"testing"
)

// corrected has an item composed again with a correction. It returns it with what it has cost, which is the estimate.
func (c *customer) corrected(t *testing.T, itemID string, correction object) (got contentItem, cost int64) {
	t.Helper()
	key := c.live.Secret
	before := into[contentItem](call(t, key, http.MethodGet, contentPath+"/"+itemID, nil), http.StatusOK)
	correction["reuse"] = true
	estimate := into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
		object{"operation": "regenerateContentItem", "content_item_id": itemID, "body": correction}), http.StatusOK)
	into[contentItem](call(t, key, http.MethodPost, contentPath+"/"+itemID+"/regenerate", correction),
		http.StatusAccepted)
	got = ended(t, key, itemID)
	if cost = got.Cost - before.Cost; cost != estimate.Credits || got.Attempt != before.Attempt+1 {
		t.Errorf("%v has cost %d, estimated %d: %+v", correction, cost, estimate.Credits, got)
	}
	return got, cost
}

// drawn returns the hash of the pixels of a picture: its bytes have a signature, which is another one each time.
func drawn(t *testing.T, f file) [sha256.Size]byte {
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
	pixels := image.NewRGBA(img.Bounds())
	draw.Draw(pixels, pixels.Bounds(), img, img.Bounds().Min, draw.Src)
	return sha256.Sum256(pixels.Pix)
}

// Texts in finished media are corrected free of charge, and a corrected script is spoken again. The script is the
// caller's own.
func TestItemsAreCorrected(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	const credits = 500
	c.topUp(credits)
	key := c.live.Secret
	factory := c.factory(key)
	newItem := func(body object) contentItem {
		body["factory_id"], body["prompt"] = factory, "A shoe made of recycled nets"
		return into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	}
	video := newItem(object{"kind": "video", "visuals": "stills", "title": "Nets", "caption": "Nets",
		"hashtags": []string{"nets"}, "scenes": []object{
			{"text": "We pulled these nets out of the sea.", "visual": "A torn net"},
			{"text": "Now they carry you up the hill, step by step, through mud and snow."}}})
	story := newItem(object{"kind": "story", "title": "Wrnog"})
	carousel := newItem(object{"kind": "carousel", "slides": []object{{"text": "Nets"}, {"text": "Sheos"}}})
	spent := int64(0)

	first := ended(t, key, story.ID)
	checkFinal(t, first, 1080, 1920, 0, 0)
	if err := call(t, key, http.MethodPatch, contentPath+"/"+story.ID, object{"title": "Right"}).refused(
		http.StatusUnprocessableEntity, "validation_failed"); err != nil {
		t.Error(err)
	}
	second, cost := c.corrected(t, story.ID, object{"title": "Right"})
	checkFinal(t, second, 1080, 1920, 0, 0)
	if cost != 0 || second.Title != "Right" || drawn(t, second.Media[0]) == drawn(t, first.Media[0]) ||
		second.Media[1].ID != first.Media[1].ID {
		t.Errorf("for %d: %+v, was %+v", cost, second, first)
	}
	spent += second.Cost

	before := ended(t, key, carousel.ID)
	after, cost := c.corrected(t, carousel.ID, object{"slides": []object{{}, {"text": "Shoes"}}})
	if cost != 0 || after.Slides[1].Text != "Shoes" || drawn(t, after.Media[0]) != drawn(t, before.Media[0]) ||
		drawn(t, after.Media[1]) == drawn(t, before.Media[1]) {
		t.Errorf("for %d: %+v, was %+v", cost, after, before)
	}
	spent += after.Cost

	spoken := ended(t, key, video.ID)
	if spoken.State != "generated" {
		t.Fatalf("%+v %+v", spoken, spoken.Failure)
	}
	inspect(t, spoken.Media[0])
	again, cost := c.corrected(t, video.ID, object{"script": "We pulled these nets out of the sea. Now they carry you " +
		"up the mountain, step by step, through mud and snow."})
	inspect(t, again.Media[0])
	if again.State != "generated" || cost < 1 || cost >= spoken.Cost || again.Media[0].SHA256 == spoken.Media[0].SHA256 {
		t.Errorf("for %d: %+v, was %+v", cost, again, spoken)
	}
	spent += again.Cost
	if sum, states := c.entries(); states["held"] != 0 || sum != credits-spent || c.balance() != sum {
		t.Errorf("it has cost %d, the entries add up to %d, the balance is %d: %v", spent, sum, c.balance(), states)
	}
}
