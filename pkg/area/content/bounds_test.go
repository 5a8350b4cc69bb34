package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/content"
)

// The size of own media, and what the texts have, reach the checks of a validation.
func TestAValidationKnowsTheBoundsOfPlatforms(t *testing.T) {
	w := newWorld(t)
	tiktok, vk, instagram := w.connect("tiktok"), w.connect("vk"), w.connect("instagram")
	w.attach(tiktok, vk, instagram)
	names := ""
	for i := range 21 {
		names += fmt.Sprintf(" @acme%d", i)
	}
	for name, c := range map[string]struct {
		account       string
		width, height int
		caption       string
		want          string // the problem; none if it is empty
	}{
		"a photo of 1254 pixels": {tiktok, 1254, 1254, "A", "/media/0: TikTok takes up to 1080 pixels on " +
			"the shorter side; this has 1254."},
		"a photo of 1080p": {tiktok, 1080, 1920, "A", ""},
		"a large photo": {vk, 7001, 7000, "A", "/media/0: VK takes up to 14000 pixels of width and " +
			"height together; this has 14001."},
		"a photo of 14,000 pixels": {vk, 7000, 7000, "A", ""},
		"21 names": {instagram, 1080, 1080, names, "/caption: Instagram takes up to 20 " +
			"mentions of accounts in a text; there are 21."},
		"20 names": {instagram, 1080, 1080, names[:len(names)-len(" @acme20")], ""},
	} {
		mine := w.own(w.Caller, picture(c.width, c.height))
		var v content.Validation
		w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": object{"factory_id": w.factory, "kind": "post",
			"source": "provided", "caption": c.caption, "media": []string{mine}, "ai_generated": false},
			"social_account_ids": []string{c.account}}).Into(t, http.StatusOK, &v)
		var found []string
		for _, p := range v.Accounts[0].Problems {
			if p.Code == "post" && !strings.HasPrefix(string(p.Param), "/options/tiktok/") {
				found = append(found, string(p.Param)+": "+p.Message)
			}
		}
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0] != c.want) {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}
