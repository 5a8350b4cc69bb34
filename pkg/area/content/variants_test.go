package content_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// document reads the document of an item of the table.
func (w *world) document(id string, v any) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(id))
	if err == nil {
		err = it.Decode(v)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

func TestVariantsArePublishedWhereTheyBelong(t *testing.T) {
	w := newWorld(t)
	telegram, other, vk := w.connect("telegram"), w.connect("telegram"), w.connect("vk")
	w.attach(telegram, other, vk)
	mine, theirs := w.own(w.Caller, picture(1080, 1350)), picture(1000, 1000)
	theirs.ID = "med_9_1"
	it := w.provide("media", []string{mine}, "caption", "For all", "hashtags", []string{"all"}, "variants", object{
		"telegram": object{"caption": "For Telegram 👟", "media": []string{w.own(w.Caller, theirs)}},
		other:      object{"caption": "For the other", "hashtags": []string{}},
	})
	if len(it.Previews) != 2 {
		t.Fatalf("%+v", it.Previews)
	}
	w.publish(it.ID)
	w.work()
	got := w.get(it.ID)
	want := map[string]string{telegram: "For Telegram 👟\n\n#all", other: "For the other", vk: "For all\n\n#all"}
	for _, pub := range got.Publications {
		if pub.State != item.PublicationPublished || string(pub.Posted.Text) != want[pub.SocialAccountID] {
			t.Errorf("%s: %+v", pub.Platform, pub.Posted)
		}
		file := "med_1_1"
		if pub.Platform == "telegram" {
			file = "med_9_1"
		}
		if pub.Posted.MediaIDs[0] != file {
			t.Errorf("%s shows %v", pub.Platform, pub.Posted.MediaIDs)
		}
	}
	if len(got.Publications) != 3 || len(got.Previews) != 3 {
		t.Errorf("%+v", got.Publications)
	}
	for _, p := range got.Previews {
		if *p.SocialAccountID == telegram && (p.Counts[0].Of != "caption" || p.Counts[0].Count != 21 ||
			p.Counts[0].Unit != "utf16_units") {
			t.Errorf("%+v", p.Counts) // the shoe counts twice
		}
	}
}

func TestVariantsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	loose := w.connect("telegram")
	for name, c := range map[string]struct {
		variants object
		param    string
	}{
		"an account that is not attached": {object{loose: object{"caption": "x"}}, "/variants/" + loose},
		"a platform that is none":         {object{"myspace": object{"caption": "x"}}, "/variants/myspace"},
		"a text that is too long": {object{"instagram": object{"caption": strings.Repeat("x", 2201)}},
			"/variants/instagram/caption"},
		"a file that is none": {object{"telegram": object{"media": []string{"med_01h455vb4pex5vsknk084sn02q"}}},
			"/variants/telegram/media/0"},
		"a cover that is none": {object{"youtube": object{"cover": "med_01h455vb4pex5vsknk084sn02q"}},
			"/variants/youtube/cover"},
		"a cover where there is none": {object{"vk": object{"cover": w.own(w.Caller, picture(1080, 1350))}},
			"/variants/vk/cover"},
		"a member that is none": {object{"telegram": object{"text": "x"}}, "/variants/telegram/text"},
	} {
		if w.Call(http.MethodPost, "/v1/content-items", w.body("variants", c.variants)).Unusable(t, c.param); t.Failed() {
			t.Fatal(name)
		}
	}
	it := w.create("variants", object{"vk": object{"caption": "For VK"}})
	path := "/v1/content-items/" + it.ID
	w.Call(http.MethodPatch, path, object{"variants": object{loose: object{"caption": "x"}}}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/variants/"+loose)
	w.attach(loose)
	var patched item.Item
	w.Call(http.MethodPatch, path, object{"variants": object{loose: object{"caption": "x"}, "vk": nil}}).
		Into(t, 200, &patched)
	if len(patched.Variants) != 1 || *patched.Variants[loose].Caption != "x" || len(patched.Previews) != 1 ||
		*patched.Previews[0].SocialAccountID != loose {
		t.Errorf("%+v", patched)
	}
	a := w.Call(http.MethodPatch, path, object{"variants": nil})
	if a.Status != http.StatusOK || !strings.Contains(string(a.Data), `"variants":{}`) {
		t.Errorf("without variants: %d %s", a.Status, a.Raw)
	}
}

func TestAValidationNamesNoAccountThatIsNone(t *testing.T) {
	w := newWorld(t)
	body := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words"}
	for _, none := range []string{"a", " ", w.factory, "soc_" + strings.Repeat("x", 3000)} {
		w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": body, "social_account_ids": []string{
			"soc_01h455vb4pex5vsknk084sn02q", none}}).Refused(t, 404, errs.NotFound, "/social_account_ids/1")
	}
	a := w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": body, "social_account_ids": []string{
		"soc_01h455vb4pex5vsknk084sn02q"}})
	if a.Status != http.StatusOK || !strings.Contains(string(a.Data), `"platform":null`) {
		t.Errorf("%d %s", a.Status, a.Raw)
	}
}

func TestAValidationFindsEveryProblemAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	instagram, telegram, gone := w.connect("instagram"), w.connect("telegram"), w.connect("vk", broken)
	w.attach(instagram, telegram, gone)
	before := len(storetest.Rows(t, w.DB))
	var v content.Validation
	w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": object{"factory_id": w.factory, "kind": "post",
		"source": "provided", "caption": strings.Repeat("x", 2300)}, "social_account_ids": []string{instagram, telegram,
		gone, "soc_01h455vb4pex5vsknk084sn02q"}}).Into(t, 200, &v)
	found := map[string][]string{}
	for _, c := range v.Accounts {
		for _, p := range c.Problems {
			found[c.SocialAccountID] = append(found[c.SocialAccountID], p.Code+" "+string(p.Param))
		}
	}
	want := map[string][]string{instagram: {"post /caption", "post /media"}, gone: {"account /social_account_ids/2"},
		"soc_01h455vb4pex5vsknk084sn02q": {"attached /social_account_ids/3"}}
	if v.OK || jsonOf(t, found) != jsonOf(t, want) || !v.Accounts[1].OK || *v.Accounts[0].QuotaLeft != 100 {
		t.Errorf("%s", jsonOf(t, v))
	}
	w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": object{"factory_id": w.factory, "kind": "video",
		"source": "provided"}}).Into(t, 200, &v)
	if v.OK || len(v.Problems) != 1 || v.Problems[0].Param != "/media" || v.Problems[0].Code != "body" {
		t.Errorf("%s", jsonOf(t, v))
	}
	if after := len(storetest.Rows(t, w.DB)); after != before {
		t.Errorf("the check has changed %d rows", after-before)
	}
	it := w.provide("caption", "Words")
	w.publish(it.ID, "social_account_ids", []string{telegram})
	w.work()
	w.Call(http.MethodPost, "/v1/publishing/validate", object{"content_item_id": it.ID,
		"social_account_ids": []string{telegram}}).Into(t, 200, &v)
	if v.OK || v.Accounts[0].Problems[0].Code != "published" {
		t.Errorf("%s", jsonOf(t, v))
	}
}

// A hashtag that a platform shows in part is told, and stops nothing. The preview counts what readers see.
func TestAValidationTellsOfHashtagsAndCountsWhatIsSeen(t *testing.T) {
	w := newWorld(t)
	bluesky, telegram := w.connect("bluesky"), w.connect("telegram")
	w.attach(bluesky, telegram)
	var v content.Validation
	caption := `See <a href="https://example.com/` + strings.Repeat("a", 100) + `">us</a> &amp; come.`
	w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": object{"factory_id": w.factory, "kind": "post",
		"source": "provided", "caption": caption, "hashtags": []string{"shoes", "e-commerce", "2026"}},
		"social_account_ids": []string{bluesky, telegram},
		"options":            object{"telegram": object{"format": "html"}}}).Into(t, 200, &v)
	told := map[string][]string{}
	for _, c := range v.Accounts {
		for _, warning := range c.Warnings {
			told[*c.Platform] = append(told[*c.Platform], string(warning.Code)+" "+strings.Fields(warning.Message)[2])
		}
	}
	want := map[string][]string{"bluesky": {"hashtag_not_shown the"}, "telegram": {"hashtag_not_shown #e",
		"hashtag_not_shown the"}}
	if !v.OK || jsonOf(t, told) != jsonOf(t, want) {
		t.Errorf("%s", jsonOf(t, v))
	}
	seen := len("See us & come.\n\n#shoes #e-commerce #2026")
	if n := v.Accounts[1].Preview.Counts[0]; n.Of != "caption" || n.Count != seen {
		t.Errorf("%+v, want %d", n, seen)
	}
}

func TestTheWriterAdaptsTexts(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPost, "/v1/content-items", w.body("adapt", true)).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/adapt")
	w.attach(w.connect("telegram"), w.connect("vk"), w.connect("youtube"))
	for name, it := range map[string]item.Item{
		"generated": w.create("adapt", true, "variants", object{"vk": object{"caption": "My own"}}),
		"provided":  w.provide("adapt", true, "caption", "Words", "variants", object{"vk": object{"caption": "My own"}}),
	} {
		if it.State != item.Queued {
			t.Fatalf("%s: %+v", name, it)
		}
		w.do(it.ID)
		got := w.get(it.ID)
		v := got.Variants["telegram"]
		if got.State != item.Generated || len(got.Variants) != 2 || !v.Adapted || *v.Caption != "Telegram: "+string(got.Caption) ||
			*got.Variants["vk"].Caption != "My own" || got.Variants["vk"].Adapted ||
			v.PromptVersion != "adapt.2" || got.Variants["vk"].PromptVersion != "" {
			t.Errorf("%s: %s %s", name, got.State, jsonOf(t, got.Variants))
		}
		// A text that a person has changed is not that of the model any more.
		w.Call(http.MethodPatch, path(it.ID), object{"variants": object{"telegram": object{"caption": "Mine"},
			"vk": object{"title": "Mine, too"}}}).Into(t, 200, &got)
		if v := got.Variants["telegram"]; v.Adapted || v.PromptVersion != "" {
			t.Errorf("%s: %s", name, jsonOf(t, got.Variants))
		}
	}
	asked := 0
	for _, req := range w.provider.requests {
		if req.Form != nil {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("the writer was asked %d times", asked)
	}
}
