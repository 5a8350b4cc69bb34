package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
)

// A video begins and ends with media of its caller, which count in its length, and a correction keeps them.
func TestAVideoHasTheIntroOfItsBrand(t *testing.T) {
	t.Parallel()
	key := newCustomer(t).test.Secret
	clip, err := sandbox.MP4(sandbox.Scene{Width: 640, Height: 360, Seed: 4}, 3*time.Second, true)
	if err != nil {
		t.Fatal(err)
	}
	intro := bring(t, key, "video/mp4", clip)
	settings := object{"brand_name": "Acme", "colors": []string{"#ff6600"}, "intro": intro,
		"outro": bring(t, key, "image/png", picture(t, 400, 400))}
	factory := into[struct{ ID string }](call(t, key, http.MethodPost, "/v1/factories",
		object{"type": "brand", "name": "Acme", "settings": settings}), http.StatusCreated).ID
	body := object{"factory_id": factory, "kind": "video", "prompt": "A shoe made of nets", "duration_seconds": 20}
	made := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	checkFinal(t, ended(t, key, made.ID), 1080, 1920, 20, 10)
	call(t, key, http.MethodDelete, "/v1/media/"+intro, nil)
	again := into[contentItem](call(t, key, http.MethodPost, contentPath+"/"+made.ID+"/regenerate",
		object{"reuse": true, "music": "none"}), http.StatusAccepted)
	checkFinal(t, ended(t, key, again.ID), 1080, 1920, 20, 10)
	// The file of a deleted media stays for a day, but nothing new can name it.
	refused := call(t, key, http.MethodPost, "/v1/factories", object{"type": "brand", "name": "Acme",
		"settings": settings})
	if refused.Status != http.StatusNotFound {
		t.Errorf("a deleted media is taken: %d", refused.Status)
	}
}
